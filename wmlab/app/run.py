"""Running a study: execute what is not known, assemble the results, write the report where it says something new."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from wmlab.graph.experiment import ExperimentPlan
from wmlab.graph.study import Study, not_run
from wmlab.report.content.page import report_data
from wmlab.report.data import ReportData, SuiteRow
from wmlab.results.assemble import Failures, Results, assemble, suite_results
from wmlab.runtime.events import EntryDamaged, Failure, Listener, Outcome, fan_out
from wmlab.runtime.executor import execute
from wmlab.runtime.limits import Limits
from wmlab.runtime.runlog import RunLog
from wmlab.runtime.store import CorruptEntry, Store
from wmlab.runtime.worker_env import usable_cores

ATTEMPTS = 3  # how often damaged results are computed again before we give up
TIMES = ("started", "seconds")
PAGE = "page_sha256"


@dataclass(frozen=True)
class StudyReport:
    """The results of a study, and where its page is."""

    results: Results
    members: tuple[Results, ...]  # of a suite
    page: Path

    @property
    def claims_hold(self) -> bool:
        claims = [claim for one in (self.results, *self.members) for claim in one["claims"]]
        return all(claim["holds"] is not False for claim in claims)


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
    with RunLog(store.root, spec=study.name, profile=study.profile) as log:
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
                report = write_down(study, store, reports, {**outcome.failed, **outcome.skipped}, times)
                return StudyRun(study, report, outcome)
            except CorruptEntry as damage:
                if attempt == ATTEMPTS - 1:
                    raise
                tell(EntryDamaged(damage.key, damage.label, damage.reason))
    raise AssertionError("unreachable")


def report_study(study: Study, store: Store, reports: Path | None = None) -> StudyReport:
    """The report of what was run before; nothing is computed."""
    if not any(store.has(study.keys[stage]) for stage in study.stages):
        raise not_run(study, store, "report")
    return write_down(study, store, reports, {})


def write_down(
    study: Study, store: Store, reports: Path | None, failures: Failures, times: Mapping[str, Any] | None = None
) -> StudyReport:
    """Results and pages from what the store holds.

    With `times`, those of a run, a page that shows the same already is left as it is: drawing takes a while. Without,
    every page is drawn anew, and tells the times and the failures of the last run.
    """
    reports = reports or store.beside("reports")
    members, rows = [], []
    for plan in study.plans:
        name, profile = plan.resolved.name or "", plan.resolved.profile
        folder = reports / name / profile
        data = gather(plan, study, store, failures, folder, times)
        page, results = (update if times else draw)(data, folder)
        members.append(results)
        rows.append(SuiteRow(name, profile, f"../../{name}/{profile}/index.html", results))
    if not study.is_suite:
        return StudyReport(members[0], (), page)
    from wmlab.report.render import render_suite

    folder = reports / study.name / study.profile
    results = suite_results(study, members, times or last_times(folder))
    page = render_suite(rows, folder, title=study.resolved.title or study.name, results=results)
    return StudyReport(results, tuple(members), page)


def gather(
    plan: ExperimentPlan, study: Study, store: Store, failures: Failures, folder: Path, times: Mapping[str, Any] | None
) -> ReportData:
    """All that the page of one experiment shows, with a digest of it among the provenance."""
    if times is None:
        times, failures = last_times(folder), last_failures(plan, study, store, folder)
    results = assemble(plan, study.keys, store, failures, times)
    data = report_data(plan, study.keys, store, results, failures)
    return replace(data, results={**results, "provenance": {**results["provenance"], PAGE: fingerprint(data)}})


def update(data: ReportData, folder: Path) -> tuple[Path, Results]:
    """Draw a page unless the one there shows the same; its times then stay those of the run that drew it."""
    known = stored_results(folder)
    page = folder / "index.html"
    mark = data.results["provenance"][PAGE]
    if known.get("provenance", {}).get(PAGE) == mark and is_whole(page, mark):
        times = {name: known["provenance"].get(name) for name in TIMES}
        return page, {**data.results, "provenance": {**data.results["provenance"], **times}}
    return draw(data, folder)


def draw(data: ReportData, folder: Path) -> tuple[Path, Results]:
    from wmlab.report.render import render  # the libraries for drawing take a second to import

    return render(data, folder), dict(data.results)


def is_whole(page: Path, mark: str) -> bool:
    """Whether a page has the mark and its own end, and its figures are beside it."""
    try:
        text = page.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return False
    figures = (page.parent / name for name in re.findall(r'href="(figures/[^"]+)"', text))
    return mark in text and text.rstrip().endswith("</html>") and all(figure.is_file() for figure in figures)


def fingerprint(data: ReportData) -> str:
    """A digest of all that a page shows but times, and of the code that draws it. Keys stand for what maps show."""
    results = dict(data.results)
    provenance = {name: value for name, value in results["provenance"].items() if name not in TIMES}
    stages = [(row.label, row.kind, row.state, row.key) for row in data.plan.stages]
    shown = [results | {"provenance": provenance}, [vars(row) for row in data.resolved], stages]
    text = json.dumps([drawing_code(), *shown], ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


@cache
def drawing_code() -> str:
    """A digest of the code and templates that draw pages."""
    import wmlab.report as report

    code = hashlib.sha256()
    for path in sorted(Path(report.__file__).parent.rglob("*")):
        if path.suffix in (".py", ".j2"):
            code.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return code.hexdigest()


def stored_results(folder: Path) -> dict[str, Any]:
    """results.json as the last run wrote it; empty where there is none that can be read."""
    try:
        known = json.loads((folder / "results.json").read_text(encoding="utf-8"))
        return known if isinstance(known, dict) and isinstance(known.get("provenance"), dict) else {}
    except (OSError, ValueError):
        return {}


def last_times(folder: Path) -> dict[str, Any]:
    """When the results were made, as the last run wrote it down."""
    known = stored_results(folder).get("provenance", {})
    return {name: known.get(name) for name in TIMES}


def last_failures(plan: ExperimentPlan, study: Study, store: Store, folder: Path) -> Failures:
    """Why stages gave nothing in the last run, as it wrote it down, where they still have given nothing."""
    known = {row.get("key"): row for row in stored_results(folder).get("failures", ())}
    failures: dict[str, Failure | str] = {}
    for stage in plan.stages:
        key = study.keys[stage]
        row = known.get(key.hash, {}) if not store.has(key) else {}
        if row.get("state") == "failed":
            failures[stage] = Failure(row["error"], "", row["traceback"])
        elif row.get("state") == "skipped":
            failures[stage] = row["error"]
    return failures
