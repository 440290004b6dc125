"""What the page of an experiment can be compared with: other results that are stored when it is drawn.

Earlier runs of the same spec come first, then its other profiles, then other specs in the same folder of reports. Each
is read from its `results.json`, and what differs is worked out here: the page computes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from wmlab.app.difference import Setting
from wmlab.app.output_folder import safe_name
from wmlab.app.report_folder import MARK
from wmlab.app.results_diff import Side, read_results, results_difference
from wmlab.errors import WmlabError
from wmlab.report.data import RESULTS
from wmlab.report.differences import Compared
from wmlab.report.text import moment
from wmlab.runtime import layout
from wmlab.runtime.run_id import pages_of, run_logs
from wmlab.runtime.store import Store

MOST = {"an earlier run": 4, "another profile": 3, "another spec": 3}  # so many of each sort, the latest first
OLDEST = 50  # runs that are looked through
UNREADABLE = (WmlabError, TypeError, ValueError, KeyError, AttributeError)  # what reading another's file may end with


def comparisons(
    results: Mapping[str, Any], settings: Mapping[str, Setting], folder: Path, store: Store
) -> list[Compared]:
    """What differs between results and others that are stored, one after the other.

    settings: path of a value: the value and its origin; folder: of the report, in that of reports
    """
    seen = {mark_of(results)}
    spec = str(results.get("spec"))
    here = Side("this page", "this page", {spec: results}, said=settings)
    found: dict[str, list[Compared]] = {sort: [] for sort in MOST}
    for sort, file in candidates(spec, folder, store):
        if len(found[sort]) >= MOST[sort]:
            continue
        try:
            other = read_results(str(file))
            if mark_of(other) not in seen:  # no other file shows the same
                found[sort].append(compared(here, sort, file, other))
                seen.add(mark_of(other))
        except UNREADABLE:
            continue  # half a report, or none of ours: there is nothing to compare with
    return [each for sort in MOST for each in found[sort]]


def candidates(spec: str, folder: Path, store: Store) -> Iterator[tuple[str, Path]]:
    """Stored results, each with what it is to this spec; the latest first."""
    for position, (id, _) in enumerate(run_logs(store.root)):
        if id and position < OLDEST:
            for kept in layout.children(pages_of(store.root, id) / safe_name(spec)):
                yield "an earlier run", kept / RESULTS
    reports = folder.parent.parent
    files = [file for file in reports.glob(f"*/*/{RESULTS}") if file.parent != folder]
    for file in sorted(files, key=lambda file: (-last_change(file), file)):
        yield "another profile" if file.parent.parent == folder.parent else "another spec", file


def last_change(file: Path) -> float:
    """When a file was written; long ago where it is gone again."""
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0


def mark_of(results: Mapping[str, Any]) -> str:
    """The mark of the page that shows these results."""
    return str((results.get("provenance") or {}).get(MARK))


def compared(here: Side, sort: str, file: Path, other: Mapping[str, Any]) -> Compared:
    """What differs, in the shape in which a page keeps it."""
    title = title_of(other)
    spec = str(other.get("spec"))
    found = results_difference([here, Side(title, title, {spec: other}, {spec: file.parent})])
    return Compared(title, sort, other, found.values, found.metrics, found.same_metrics, found.claims)


def title_of(results: Mapping[str, Any]) -> str:
    """Which results these are: spec, profile, what was changed, the run and when it was."""
    provenance = results.get("provenance") or {}
    changed = "".join(f", {change}" for change in results.get("sets") or ())
    run = f"run {provenance['run']}, " if provenance.get("run") else ""
    when = moment(provenance["started"]) if provenance.get("started") else "at an unknown time"
    return f"{results.get('spec')} ({results.get('profile')}{changed}), {run}{when}"
