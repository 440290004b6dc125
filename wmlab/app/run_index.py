"""The page of all runs in the folder of reports: written anew after each run, from what is remembered of runs."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from wmlab.app.report_folder import MANIFEST
from wmlab.errors import WmlabError
from wmlab.report.data import PAGE
from wmlab.runtime import layout
from wmlab.runtime.durable import make_folders, write_file
from wmlab.runtime.lock import KeyLock
from wmlab.runtime.run_id import pages_of
from wmlab.runtime.run_list import RunSummary, list_runs
from wmlab.runtime.store import Store

if TYPE_CHECKING:
    from wmlab.report.runs import RunRow

COMMIT = 7  # letters of a commit
HEAD = 4096  # bytes of a file in which its mark would be
# Which figure stands for a run: what is drawn of its own world first, and of a continuous one values, not small arrows.
BEST = ("sheet-values-and-ways", "sheet", "map", "plane", "certain", "bars", "heat", "curve", "")


def refresh_index(store: Store, reports: Path, notice: Callable[[str], None]) -> None:
    """Write the page of all runs; where that cannot be done, `notice` gets a sentence and a run has lost nothing."""
    try:
        write_index(store, reports)
    except WmlabError as error:
        notice(str(error))
    except OSError as error:
        if not layout.is_read_only(error):
            notice(f"the page of all runs cannot be written to {reports / PAGE}: {layout.reason(error)}")


def write_index(store: Store, reports: Path) -> Path:
    """The page of all runs that the cache remembers; a file of the same name that is not ours stays."""
    from wmlab.report.runs import render_runs  # the library for templates is not needed by a run before

    page = reports / PAGE
    make_folders(reports)
    with KeyLock(reports / f".{PAGE}.lock", PAGE):  # whoever writes last has seen all runs that ended before
        if os.path.lexists(page) and not _is_ours(page):
            raise WmlabError(f"{page} is not wmlab's: the page of all runs is not written; move it elsewhere")
        newest: dict[str, str] = {}  # the page of a report, and the last run that wrote it
        rows = [_row(store, run, reports, newest) for run in list_runs(store.root)]
        write_file(page, render_runs(rows))
    return page


def _is_ours(page: Path) -> bool:
    from wmlab.report.runs import MARK

    if not page.is_file():
        return False
    with open(page, "rb") as file:
        return MARK.encode() in file.read(HEAD)


def _row(store: Store, run: RunSummary, reports: Path, newest: dict[str, str]) -> RunRow:
    from wmlab.report.runs import RunRow

    folder = _folder(store, run, reports, newest)
    claims = run.claims
    return RunRow(
        id=run.id,
        spec=run.spec,
        profile=run.profile,
        started=run.started,
        state=run.state,
        changed=" ".join(run.sets),
        seeds=run.seeds,
        held=None if claims is None else claims.held,
        failed=0 if claims is None else claims.failed,
        shown=0 if claims is None else claims.shown,
        seconds=run.seconds,
        machine=run.host,
        commit=f"{run.commit[:COMMIT]}{' dirty' if run.dirty else ''}",
        link="" if folder is None else _address(folder / PAGE, reports),
        picture="" if folder is None else picture_of(folder, reports),
    )


def _folder(store: Store, run: RunSummary, reports: Path, newest: dict[str, str]) -> Path | None:
    """Where the page of a run lies: among the reports where that is the one, so that links stay with a copy of them."""
    if not run.page or not run.id:
        return None
    kept = pages_of(store.root, run.id) / run.page
    if not (kept / PAGE).is_file():
        return None
    is_newest = newest.setdefault(run.page, run.id) == run.id
    if is_newest and _bytes(kept / MANIFEST) == _bytes(reports / run.page / MANIFEST):
        return reports / run.page
    return kept


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return os.fsencode(path)  # like no other


def picture_of(folder: Path, reports: Path) -> str:
    """The figure that stands for a run, as the page in the folder of reports links to it."""
    names = sorted(path.name for path in layout.children(folder / "figures") if path.suffix == ".svg")
    best = min(names, key=lambda name: next(at for at, sort in enumerate(BEST) if name.startswith(sort)), default="")
    return _address(folder / "figures" / best, reports) if best else ""


def _address(path: Path, reports: Path) -> str:
    """A file as a page in the folder of reports links to it."""
    return quote(os.path.relpath(os.path.realpath(path), os.path.realpath(reports)))
