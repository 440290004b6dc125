"""Running a study: execute what is not known, then write down what was found."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from wmlab.app.reporting import StudyReport, write_down
from wmlab.graph.study import Study, not_run
from wmlab.runtime.events import EntryDamaged, Listener, Notice, Outcome, fan_out
from wmlab.runtime.executor import execute
from wmlab.runtime.limits import Limits
from wmlab.runtime.runlog import RunLog
from wmlab.runtime.store import CorruptEntry, MissingEntry, Store
from wmlab.runtime.worker_env import usable_cores

ATTEMPTS = 3  # how often damaged results are computed again before we give up


@dataclass(frozen=True)
class StudyRun:
    """A study that was run, and its report."""

    study: Study
    report: StudyReport
    outcome: Outcome

    @property
    def ok(self) -> bool:
        return self.outcome.ok


def run_study(
    study: Study,
    store: Store,
    *,
    jobs: int | None = None,
    keep_going: bool = False,
    limits: Limits = Limits(),  # noqa: B008 - it is frozen
    listener: Listener | None = None,
    reports: Path | None = None,
) -> StudyRun:
    """Compute what is not known, and write down everything that is.

    By default there are as many `jobs` as usable cores, and `reports` lie beside the cache.
    """
    jobs = usable_cores() if jobs is None else jobs
    started, clock = datetime.now(UTC).isoformat(timespec="seconds"), time.monotonic()
    notice = (lambda text: listener(Notice(text))) if listener is not None else None
    with (
        store.holding(study.keys.values(), notice),  # no clean-up takes away what the report is going to show
        RunLog(store.root, spec=study.name, profile=study.profile, notice=notice) as log,
    ):
        tell = fan_out(listener, log)
        for attempt in range(ATTEMPTS):
            outcome = execute(
                study.stages,
                study.keys,
                store,
                jobs=jobs,
                keep_going=keep_going,
                limits=limits,
                events=tell,
                output=log.output,
            )
            for plan in study.plans:
                labels = {plan.stage(stage).label: study.keys[stage].hash for stage in plan.stages}
                store.remember(plan.resolved.name or "", plan.resolved.profile, labels)
            times = {"started": started, "seconds": round(time.monotonic() - clock, 3)}
            try:
                report = write_down(study, store, reports, {**outcome.failed, **outcome.skipped}, tell, times)
                check_all_there(study, store, outcome)
                return StudyRun(study, report, outcome)
            except (CorruptEntry, MissingEntry) as damage:
                if attempt == ATTEMPTS - 1:
                    raise
                tell(EntryDamaged(damage.key, damage.label, damage.reason))
    raise AssertionError("unreachable")


def check_all_there(study: Study, store: Store, outcome: Outcome) -> None:
    """MissingEntry where the store has lost a result of the run, so that its report does not show it."""
    for stage in (*outcome.ran, *outcome.cached):
        if not store.has(study.keys[stage]):
            raise MissingEntry(study.keys[stage].hash)


def report_study(
    study: Study, store: Store, reports: Path | None = None, listener: Listener | None = None
) -> StudyReport:
    """The report of what was run before; nothing is computed."""
    with store.holding(study.keys.values()):
        if not any(store.has(study.keys[stage]) for stage in study.stages):
            raise not_run(study, store, "report")
        return write_down(study, store, reports, {}, fan_out(listener))
