"""Running a study: execute what is not known, assemble the results, write the report."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from wmlab.errors import WmlabError
from wmlab.lab.pages import report_data
from wmlab.lab.results import Failures, Results, assemble, suite_results
from wmlab.lab.study import Study
from wmlab.runtime.events import EntryDamaged, Listener, fan_out
from wmlab.runtime.executor import Outcome, execute
from wmlab.runtime.runlog import RunLog
from wmlab.runtime.store import CorruptEntry, Store

ATTEMPTS = 3  # how often damaged results are computed again before we give up


@dataclass(frozen=True)
class Finished:
    """A study that was run, and where its report is."""

    study: Study
    results: Results
    members: tuple[Results, ...]  # of a suite
    report: Path
    outcome: Outcome | None

    @property
    def claims_hold(self) -> bool:
        claims = [claim for one in (self.results, *self.members) for claim in one["claims"]]
        return all(claim["holds"] is not False for claim in claims)

    @property
    def ok(self) -> bool:
        return self.outcome is None or self.outcome.ok


def report_root(store: Store) -> Path:
    """Where reports go: beside the cache folder of a project, or here when the cache is elsewhere."""
    return (store.root.parent if store.root.name == ".wmlab" else Path.cwd()) / "reports"


def run_study(
    study: Study, store: Store, *, jobs: int, keep_going: bool, listener: Listener, reports: Path
) -> Finished:
    """Compute what is not known, and write down everything that is."""
    started, clock = datetime.now(UTC).isoformat(timespec="seconds"), time.monotonic()
    with ExitStack() as stack:
        log = stack.enter_context(RunLog(store.root, spec=study.name, profile=study.profile))
        tell = fan_out(listener, log)
        for attempt in range(ATTEMPTS):
            outcome = execute(
                study.graph, study.keys, store, jobs=jobs, keep_going=keep_going, events=tell, output=log.output
            )
            for plan in study.plans:
                labels = {plan.stage(stage).label: study.keys[stage].hash for stage in plan.graph}
                store.remember(plan.resolved.name or "", plan.resolved.profile, labels)
            times = {"started": started, "seconds": round(time.monotonic() - clock, 3)}
            try:
                return write_down(study, store, reports, outcome, times)
            except CorruptEntry as damage:
                if attempt == ATTEMPTS - 1:
                    raise
                tell(EntryDamaged(damage.key, damage.label, damage.reason))
    raise AssertionError("unreachable")


def write_down(
    study: Study, store: Store, reports: Path, outcome: Outcome | None, times: Mapping[str, Any]
) -> Finished:
    """Results and reports from what the store holds."""
    from wmlab.report.data import SuiteRow
    from wmlab.report.render import render, render_suite

    failures: Failures = {**outcome.failed, **outcome.skipped} if outcome else {}
    states = outcome_states(outcome)
    members, rows = [], []
    page = reports / study.name / study.profile
    for plan in study.plans:
        results = assemble(plan, study.keys, store, failures, times)
        folder = reports / (plan.resolved.name or "") / plan.resolved.profile
        path = render(report_data(plan, study.keys, store, results, states), folder)
        members.append(results)
        link = f"../../{plan.resolved.name}/{plan.resolved.profile}/index.html"
        rows.append(SuiteRow(plan.resolved.name or "", plan.resolved.profile, link, results))
    if not study.is_suite:
        return Finished(study, members[0], (), path, outcome)
    results = suite_results(study, members, times)
    page.mkdir(parents=True, exist_ok=True)
    (page / "results.json").write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    path = render_suite(rows, page, title=study.resolved.title or study.name, results=results)
    return Finished(study, results, tuple(members), path, outcome)


def outcome_states(outcome: Outcome | None) -> dict[str, str]:
    if outcome is None:
        return {}
    return {
        **dict.fromkeys(outcome.ran, "ran"),
        **dict.fromkeys(outcome.cached, "cached"),
        **dict.fromkeys(outcome.failed, "failed"),
        **dict.fromkeys(outcome.skipped, "skipped"),
    }


def report_study(study: Study, store: Store, reports: Path) -> Finished:
    """The report of what was run before; nothing is computed."""
    missing = [stage for stage in study.graph if not store.has(study.keys[stage])]
    if len(missing) == len(study.graph):
        raise WmlabError(f"{study.name} ({study.profile}) has not been run: there is nothing to report yet")
    return write_down(study, store, reports, None, last_times(reports / study.name / study.profile))


def last_times(folder: Path) -> dict[str, Any]:
    """When the results were made, as the last run wrote it down."""
    try:
        known = json.loads((folder / "results.json").read_text(encoding="utf-8"))["provenance"]
    except (OSError, ValueError, KeyError):
        return {"started": None, "seconds": None}
    return {name: known.get(name) for name in ("started", "seconds")}


def default_jobs() -> int:
    """As many workers as this process may use cores."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
