"""The pages of each run, kept in the cache: a later run writes over a report, and not over these.

A page that an earlier run drew and that shows the same is the same files under a second name, and takes no room.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from wmlab.app.output_folder import lock_folder, replace_output
from wmlab.app.report_folder import MANIFEST, MARK, StoredReport, read_report
from wmlab.app.reporting import StudyReport
from wmlab.errors import WmlabError
from wmlab.report.data import PAGE, RESULTS
from wmlab.runtime import layout
from wmlab.runtime.durable import discard, make_folders, share
from wmlab.runtime.events import fan_out
from wmlab.runtime.run_id import pages_of
from wmlab.runtime.run_list import RunSummary
from wmlab.runtime.store import Store

Notify = Callable[[str], None]


def keep_pages(store: Store, run: str, report: StudyReport, notice: Notify) -> None:
    """Keep the pages of a run; where they cannot be kept, `notice` gets a sentence and the run goes on."""
    new = None
    try:
        new = layout.aside(store.root, f"pages-{run}")
        for place, results in report.folders.items():
            stored = read_report(report.reports / place)
            if not is_of(stored, results):
                notice(f"the report in {report.reports / place} was replaced by another run; it is not kept")
                continue
            drawn_by = pages_of(store.root, str(stored.provenance.get("run")))
            _fill(new / place, report.reports / place, drawn_by / place, stored)
        if new.is_dir():
            os.rename(new, pages_of(store.root, run))
    except OSError as error:
        if new is not None:
            discard(new)
        if not layout.is_read_only(error):
            notice(f"the page of this run cannot be kept in the cache ({layout.reason(error)}); the report is written")


def is_of(stored: StoredReport, results: dict[str, Any]) -> bool:
    """Whether a report is whole and the one that shows these results."""
    return stored.whole and stored.provenance.get(MARK) == results["provenance"][MARK]


def _fill(new: Path, source: Path, earlier: Path, stored: StoredReport) -> None:
    """Copy the files of a report, or give those a second name that an earlier run kept, where they are the same."""
    kept = read_report(earlier)
    same = kept.whole and (earlier / MANIFEST).read_bytes() == (source / MANIFEST).read_bytes()
    for name in stored.files or ():
        make_folders((new / name).parent)
        try:
            if not same:
                raise OSError
            os.link(earlier / name, new / name)
        except OSError:  # another page, or a file system without second names
            shutil.copyfile(source / name, new / name)
            share(new / name)


# --- looking at them -------------------------------------------------------------------------------------------


def kept_page(store: Store, run: RunSummary) -> Path:
    """The page of a run as it was written then; WmlabError where there is none, or it was changed since."""
    page = pages_of(store.root, run.id) / run.page / PAGE
    stored = read_report(page.parent) if run.page else StoredReport()
    if not stored.whole:
        again = f"`wmlab run {run.file or run.spec}` makes it again"
        raise WmlabError(f"there is no page of run {run.id}: {_why(run, stored)}; {again}")
    with suppress(OSError):
        os.utime(pages_of(store.root, run.id))  # clean-ups take those first that nobody looks at
    return page


def _why(run: RunSummary, stored: StoredReport) -> str:
    if not run.page:
        return f"it wrote none ({run.state})"
    return f"it is damaged ({stored.damage})" if stored.damage else "it was removed, perhaps by `wmlab cache gc`"


def copy_pages(store: Store, run: RunSummary, output: Path) -> Path:
    """The pages of a run below another folder, each in a folder that names the run; the page to open is returned."""
    page = kept_page(store, run)
    kept = pages_of(store.root, run.id)
    for folder in _folders(kept):
        stored = read_report(folder)

        def fill(new: Path, folder: Path = folder, stored: StoredReport = stored) -> None:
            for name in stored.files or ():
                (new / name).parent.mkdir(exist_ok=True)
                shutil.copyfile(folder / name, new / name)

        target = output / run.id / folder.relative_to(kept)
        with lock_folder(target, fan_out()):
            replace_output(target, fill, read_report(target).is_ours)
    return output / run.id / page.relative_to(kept)


def kept_results(store: Store, run: RunSummary) -> dict[str, dict[str, Any]]:
    """What each experiment of a run found, by its name; a suite has several."""
    kept_page(store, run)
    results = (dict(read_report(folder).results) for folder in _folders(pages_of(store.root, run.id)))
    return {str(one.get("spec")): one for one in results if isinstance(one.get("metrics"), dict)}


def kept_folders(store: Store, run: RunSummary) -> dict[str, Path]:
    """The folder of each experiment of a run, by its name."""
    folders = {folder: read_report(folder).results for folder in _folders(pages_of(store.root, run.id))}
    return {str(one.get("spec")): folder for folder, one in folders.items() if isinstance(one.get("metrics"), dict)}


def _folders(kept: Path) -> Iterator[Path]:
    return (path.parent for path in sorted(kept.glob(f"*/*/{RESULTS}")))
