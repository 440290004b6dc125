"""Writing down what a study found: results and pages from the store, drawn where they say something new."""

from __future__ import annotations

import hashlib
import json
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from wmlab.app.comparisons import comparisons
from wmlab.app.output_folder import lock_folder, profile_folder, safe_name
from wmlab.app.page_makers import PageMakers
from wmlab.app.report_folder import LAST_RUN, MARK, TIMES, StoredReport, read_report, write_report
from wmlab.core.container import usable_cores
from wmlab.graph.experiment import ExperimentPlan
from wmlab.graph.study import Study
from wmlab.report.content.page import report_data
from wmlab.report.data import PAGE, ReportData, SuiteRow
from wmlab.report.drawings import drawing_code
from wmlab.results.assemble import Failures, Results, assemble, suite_results
from wmlab.runtime.events import Failure, Listener, Notice
from wmlab.runtime.store import Store
from wmlab.spec.compose.resolve import Resolved

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
    study: Study,
    store: Store,
    reports: Path | None,
    failures: Failures,
    tell: Listener,
    times: Times | None = None,
    processes: int | None = None,
) -> StudyReport:
    """Results and pages from what the store holds.

    With `times`, those of a run, a page that shows the same already is left as it is: drawing takes a while. Without,
    every page is written anew, and tells the times and the failures of the last run. Figures that are there and show
    the same are not painted again. By default there are as many `processes` as usable cores.
    """
    reports = reports or store.beside("reports", Path(study.resolved.document.path))
    page = reports / report_folder(study.resolved) / PAGE
    with deaf_to_hang_ups(), PageMakers(len(study.plans), usable_cores() if processes is None else processes) as makers:
        writer = ReportWriter(study, store, reports, failures, tell, times, makers)
        # Pages are made while later ones are still read, and written when all are: what stood there before, each page
        # can be compared with.
        members = [writer.write(page) for page in [writer.member(plan) for plan in study.plans]]
        folders = dict(zip((report_folder(plan.resolved) for plan in study.plans), members, strict=True))
        if not study.is_suite:
            return StudyReport(members[0], (), page, folders, reports)
        results = writer.write(writer.suite(members))
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
class Page:
    """A page that is to be written."""

    folder: Path
    results: Results
    draw: Callable[[], dict[str, bytes]] = dict
    kept: Results | None = None  # of the page that is there, where it shows the same and stays


@dataclass(frozen=True)
class ReportWriter:
    """Writes the pages of one study."""

    study: Study
    store: Store
    reports: Path
    failures: Failures
    tell: Listener
    times: Times | None  # of the run; None where there was none
    makers: PageMakers

    def member(self, plan: ExperimentPlan) -> Page:
        """The page of one experiment, which is begun unless the one there stays."""
        folder = self.reports / report_folder(plan.resolved)
        times, failures = self.times, self.failures
        if times is None:
            last = self.last_report(folder)
            times, failures = times_of(last), last_failures(plan, self.study, self.store, last)
        keys, store = self.study.keys, self.store
        data = report_data(plan, keys, store, assemble(plan, keys, store, failures, times), failures)
        spent = {"stage_seconds": round(sum(row.seconds or 0.0 for row in data.plan.stages), 3)}
        data = replace(data, results=with_times(marked(data.results, shown_by(data)), spent))
        results = dict(data.results)
        if (kept := self.kept(folder, results)) is not None:
            return Page(folder, results, kept=kept)
        return Page(folder, results, self.makers.begin(self.beside_others(data, folder), folder))

    def beside_others(self, data: ReportData, folder: Path) -> ReportData:
        """What it can be compared with is no part of what a page shows: one that shows the same stays as it is when
        others come."""
        settings = {row.path: (row.value, row.source) for row in data.resolved}
        return replace(data, others=tuple(comparisons(data.results, settings, folder, self.store)))

    def suite(self, members: Sequence[Results]) -> Page:
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
        draw = partial(draw_suite, rows, title or self.study.name, results)
        return Page(folder, results, draw, self.kept(folder, results))

    def last_report(self, folder: Path) -> StoredReport:
        if not folder.parent.is_dir():
            return StoredReport()
        with lock_folder(folder, self.tell):
            return read_report(folder)

    def kept(self, folder: Path, results: Results) -> Results | None:
        """The results of the page that is there, where it shows the same; its times are those of the run that drew it.

        Read without the lock: who only reads needs no right to write.
        """
        if self.times is not None and is_same(stored := read_report(folder), results):
            return with_times(results, times_of(stored))
        return None

    def write(self, page: Page) -> Results:
        """Draw a page and put it in its place, unless the one there stays."""
        if page.kept is not None:
            return page.kept
        files = page.draw()
        with lock_folder(page.folder, self.tell):
            stored = read_report(page.folder)
            if self.times is not None and is_same(stored, page.results):
                return with_times(page.results, times_of(stored))
            if stored.damage:
                self.tell(Notice(f"the report in {page.folder} is damaged ({stored.damage}); writing it again"))
            write_report(page.folder, files)
        return page.results


def draw_suite(rows: Sequence[SuiteRow], title: str, results: Results) -> dict[str, bytes]:
    from wmlab.report.render import render_suite  # the templates take a while to import

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


# --- the last run -----------------------------------------------------------------------------------------------


def times_of(stored: StoredReport) -> Times:
    """When the results were made, as the last run wrote it down."""
    return {name: stored.provenance.get(name) for name in LAST_RUN}


def last_failures(plan: ExperimentPlan, study: Study, store: Store, stored: StoredReport) -> Failures:
    """Why stages gave nothing in the last run, as it wrote it down, where they still have given nothing."""
    known = {row.get("key"): row for row in stored.results.get("failures", ())}
    if not known:
        return {}
    failures: dict[str, Failure | str] = {}
    for stage in plan.stages:
        key = study.keys[stage]
        row = known.get(key.hash, {}) if not store.has(key) else {}
        if row.get("state") == "failed":
            failures[stage] = Failure(row["error"], "", row["traceback"])
        elif row.get("state") == "skipped":
            failures[stage] = row["error"]
    return failures
