"""Running a study: execute what is not known, assemble the results, write the report."""

from __future__ import annotations

import os
import time
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from wmlab.app.writing import StudyReport, write_down
from wmlab.graph.study import Study, not_run
from wmlab.results.assemble import Failures
from wmlab.runtime.events import EntryDamaged, Listener, Outcome, fan_out
from wmlab.runtime.executor import execute
from wmlab.runtime.runlog import RunLog
from wmlab.runtime.store import CorruptEntry, Store

ATTEMPTS = 3  # how often damaged results are computed again before we give up


@dataclass(frozen=True)
class StudyRun:
    """A study that was run, and its report."""

    study: Study
    report: StudyReport
    outcome: Outcome | None

    @property
    def claims_hold(self) -> bool:
        claims = [claim for one in (self.report.results, *self.report.members) for claim in one["claims"]]
        return all(claim["holds"] is not False for claim in claims)

    @property
    def ok(self) -> bool:
        return self.outcome is None or self.outcome.ok


def report_root(store: Store) -> Path:
    """Where reports go: beside the cache folder of a project, or here when the cache is elsewhere."""
    return (store.root.parent if store.root.name == ".wmlab" else Path.cwd()) / "reports"


def run_study(
    study: Study, store: Store, *, jobs: int, keep_going: bool, listener: Listener, reports: Path
) -> StudyRun:
    """Compute what is not known, and write down everything that is."""
    started, clock = datetime.now(UTC).isoformat(timespec="seconds"), time.monotonic()
    with ExitStack() as stack:
        log = stack.enter_context(RunLog(store.root, spec=study.name, profile=study.profile))
        tell = fan_out(listener, log)
        for attempt in range(ATTEMPTS):
            outcome = execute(
                study.stages, study.keys, store, jobs=jobs, keep_going=keep_going, events=tell, output=log.output
            )
            for plan in study.plans:
                labels = {plan.stage(stage).label: study.keys[stage].hash for stage in plan.stages}
                store.remember(plan.resolved.name or "", plan.resolved.profile, labels)
            times = {"started": started, "seconds": round(time.monotonic() - clock, 3)}
            try:
                failures: Failures = {**outcome.failed, **outcome.skipped}
                return StudyRun(study, write_down(study, store, reports, failures, times), outcome)
            except CorruptEntry as damage:
                if attempt == ATTEMPTS - 1:
                    raise
                tell(EntryDamaged(damage.key, damage.label, damage.reason))
    raise AssertionError("unreachable")


def report_study(study: Study, store: Store, reports: Path) -> StudyRun:
    """The report of what was run before; nothing is computed."""
    if not any(store.has(study.keys[stage]) for stage in study.stages):
        raise not_run(study, store, "report")
    return StudyRun(study, write_down(study, store, reports, {}), None)


def default_jobs() -> int:
    """As many workers as this process may use cores."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
