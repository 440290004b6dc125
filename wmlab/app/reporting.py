"""Writing down what a study found: results and pages from the store, drawn where they say something new."""

from __future__ import annotations

import hashlib
import json
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from wmlab.app.output_folder import lock_folder, profile_folder, safe_name
from wmlab.app.report_folder import StoredReport, read_report, write_report
from wmlab.graph.experiment import ExperimentPlan
from wmlab.graph.study import Study
from wmlab.report.content.page import report_data
from wmlab.report.data import PAGE, ReportData, SuiteRow
from wmlab.results.assemble import Failures, Results, assemble, suite_results
from wmlab.runtime.events import Failure, Listener, Notice
from wmlab.runtime.store import Store
from wmlab.spec.compose.resolve import Resolved

TIMES = ("run", "started", "seconds")  # what the last run says of itself, and no result depends on
MARK = "page_sha256"
Times = Mapping[str, Any]


@dataclass(frozen=True)
class StudyReport:
    """The results of a study, and where its page is."""

    results: Results
    members: tuple[Results, ...]  # of a suite
    page: Path
    folders: Mapping[Path, Results]  # of each page, below the folder of reports, and what it shows
    reports: Path

    @property
    def claims_hold(self) -> bool:
        claims = [claim for one in (self.results, *self.members) for claim in one["claims"]]
        return all(claim["holds"] is not False for claim in claims)


def write_down(
    study: Study, store: Store, reports: Path | None, failures: Failures, tell: Listener, times: Times | None = None
) -> StudyReport:
    """Results and pages from what the store holds.

    With `times`, those of a run, a page that shows the same already is left as it is: drawing takes a while. Without,
    every page is drawn anew, and tells the times and the failures of the last run.
    """
    reports = reports or store.beside("reports", Path(study.resolved.document.path))
    writer = ReportWriter(study, store, reports, failures, tell, times)
    page = reports / report_folder(study.resolved) / PAGE
    with deaf_to_hang_ups():
        members = [writer.write_member(plan) for plan in study.plans]
        folders = dict(zip((report_folder(plan.resolved) for plan in study.plans), members, strict=True))
        if not study.is_suite:
            return StudyReport(members[0], (), page, folders, reports)
        results = writer.write_suite(members)
        return StudyReport(results, tuple(members), page, folders | {report_folder(study.resolved): results}, reports)


def report_folder(resolved: Resolved) -> Path:
    """Where the report of a spec lies, below the folder of reports: a run with other values has a place of its own."""
    return Path(safe_name(resolved.name or ""), profile_folder(resolved.profile, resolved.sets))


@contextmanager
def deaf_to_hang_ups() -> Iterator[None]:
    """Let a terminal close: what was computed is written down all the same."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before or signal.SIG_DFL)


@dataclass(frozen=True)
class ReportWriter:
    """Writes the pages of one study."""

    study: Study
    store: Store
    reports: Path
    failures: Failures
    tell: Listener
    times: Times | None  # of the run; None where there was none

    def write_member(self, plan: ExperimentPlan) -> Results:
        """The page of one experiment."""
        folder = self.reports / report_folder(plan.resolved)
        times, failures = self.times, self.failures
        if times is None:
            last = self.last_report(folder)
            times, failures = times_of(last), last_failures(plan, self.study, self.store, last)
        keys, store = self.study.keys, self.store
        data = report_data(plan, keys, store, assemble(plan, keys, store, failures, times), failures)
        results = marked(data.results, shown_by(data))
        return self.write(folder, results, partial(self.draw_member, replace(data, results=results), folder))

    def draw_member(self, data: ReportData, folder: Path) -> dict[str, bytes]:
        """The files of one report. What it can be compared with is no part of what it shows: a page that shows the
        same stays as it is when others come."""
        from wmlab.app.comparisons import comparisons

        settings = {row.path: (row.value, row.source) for row in data.resolved}
        return draw_page(replace(data, others=tuple(comparisons(data.results, settings, folder, self.store))))

    def write_suite(self, members: Sequence[Results]) -> Results:
        """The page that leads to the reports of a suite."""
        folder, title = self.reports / report_folder(self.study.resolved), self.study.resolved.title
        times = times_of(self.last_report(folder)) if self.times is None else self.times
        rows = []
        for plan, results in zip(self.study.plans, members, strict=True):
            name, profile = plan.resolved.name or "", plan.resolved.profile
            link = f"../../{quote(report_folder(plan.resolved).as_posix())}/{PAGE}"
            rows.append(SuiteRow(name, profile, link, results))
        results = suite_results(self.study, list(members), times)
        results = marked(results, [without_times(results), [without_times(member) for member in members]])
        return self.write(folder, results, partial(draw_suite, rows, title or self.study.name, results))

    def last_report(self, folder: Path) -> StoredReport:
        if not folder.parent.is_dir():
            return StoredReport()
        with lock_folder(folder, self.tell):
            return read_report(folder)

    def write(self, folder: Path, results: Results, draw: Callable[[], dict[str, bytes]]) -> Results:
        """Draw a page unless the one there shows the same; its times then stay those of the run that drew it."""
        if self.times is not None and is_same(stored := read_report(folder), results):
            return with_times(results, times_of(stored))  # without the lock: who only reads needs no right to write
        files = draw()
        with lock_folder(folder, self.tell):
            stored = read_report(folder)
            if self.times is not None and is_same(stored, results):
                return with_times(results, times_of(stored))
            if stored.damage:
                self.tell(Notice(f"the report in {folder} is damaged ({stored.damage}); writing it again"))
            write_report(folder, files)
        return results


def draw_page(data: ReportData) -> dict[str, bytes]:
    from wmlab.report.render import render  # the libraries for drawing take a second to import

    return render(data)


def draw_suite(rows: Sequence[SuiteRow], title: str, results: Results) -> dict[str, bytes]:
    from wmlab.report.render import render_suite

    return render_suite(rows, title=title, results=results)


def is_same(stored: StoredReport, results: Results) -> bool:
    """Whether a stored report is whole and shows these results."""
    return stored.whole and stored.provenance.get(MARK) == results["provenance"][MARK]


# --- what a page shows ------------------------------------------------------------------------------------------


def marked(results: Mapping[str, Any], shown: Any) -> Results:
    """Results with a digest of what their page shows among the provenance."""
    text = json.dumps([drawing_code(), shown], ensure_ascii=False, default=str)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return {**results, "provenance": {**results["provenance"], MARK: digest}}


def shown_by(data: ReportData) -> list[Any]:
    """All that a page shows but times. Keys stand for what maps show."""
    stages = [(row.label, row.kind, row.state, row.key) for row in data.plan.stages]
    return [without_times(data.results), [vars(row) for row in data.resolved], stages]


def with_times(results: Results, times: Times) -> Results:
    return {**results, "provenance": {**results["provenance"], **times}}


def without_times(results: Mapping[str, Any]) -> Results:
    kept = {name: value for name, value in results["provenance"].items() if name not in TIMES}
    return {**results, "provenance": kept}


@cache
def drawing_code() -> str:
    """A digest of the code, templates and scripts that draw pages."""
    import wmlab.report as report

    code = hashlib.sha256()
    for path in sorted(Path(report.__file__).parent.rglob("*")):
        if path.suffix in (".py", ".j2", ".js"):
            code.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return code.hexdigest()


# --- the last run -----------------------------------------------------------------------------------------------


def times_of(stored: StoredReport) -> Times:
    """When the results were made, as the last run wrote it down."""
    return {name: stored.provenance.get(name) for name in TIMES}


def last_failures(plan: ExperimentPlan, study: Study, store: Store, stored: StoredReport) -> Failures:
    """Why stages gave nothing in the last run, as it wrote it down, where they still have given nothing."""
    known = {row.get("key"): row for row in stored.results.get("failures", ())}
    failures: dict[str, Failure | str] = {}
    for stage in plan.stages:
        key = study.keys[stage]
        row = known.get(key.hash, {}) if not store.has(key) else {}
        if row.get("state") == "failed":
            failures[stage] = Failure(row["error"], "", row["traceback"])
        elif row.get("state") == "skipped":
            failures[stage] = row["error"]
    return failures
