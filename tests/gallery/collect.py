"""Filling the gallery from the reports of finished runs; nothing is computed."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from tests.gallery.contents import CONTENTS, FIGURE, PICTURE, Entry, Gallery, GalleryError
from wmlab.app.report_folder import read_report
from wmlab.report.data import PAGE, RESULTS, SETTINGS
from wmlab.report.text import plural

Results = Mapping[str, Any]
Shoot = Callable[[Path, Path], None]  # the page, and where its picture goes
WIDTH, HEIGHT, COLOURS = 1200, 1500, 48
MOST = 10_000_000  # bytes of the gallery


def finished(folder: Path) -> Results:
    """The results in a report's folder, where it is whole and of a finished run of this version; else an error."""
    report = read_report(folder)
    if not report.whole:
        raise GalleryError(f"{folder}: {report.damage or 'there is no report'}")
    results = report.results
    reasons = [f"{plural(len(results['failures']), 'stage')} failed or did not run"] if results.get("failures") else []
    reasons += ["not everything was run"] if results.get("missing") else []
    reasons += [f"claim '{claim['id']}' is open" for claim in results["claims"] if claim.get("open")]
    made, here = results["provenance"]["wmlab"], metadata.version("wmlab")
    reasons += [f"it was made by wmlab {made}, and this is {here}"] if made != here else []
    reasons += [] if results["provenance"].get("run") else ["it does not say which run it is of"]
    if reasons:
        raise GalleryError(f"{folder}: {'; '.join(reasons)}")
    return results


def collect(gallery: Gallery, sources: Sequence[Path], shoot: Shoot) -> list[str]:
    """Put every run of the contents that has a report into the gallery; the names of those that came in.

    All reports are looked at before anything is written.
    """
    found: dict[str, list[Path]] = {}
    for name, entry in gallery.entries.items():
        folder = report_of(name, entry.profile, sources)
        if folder is not None:
            found[name] = [folder, *_members(folder, finished(folder), gallery)]
            _require_figure(folder, entry)
    for name, folders in found.items():
        _put(folders, gallery.folder / name, gallery.entries[name], shoot)
    _note_pending(gallery.folder, [name for name in gallery.pending if name not in found])
    return list(found)


def report_of(name: str, profile: str, sources: Sequence[Path]) -> Path | None:
    """The folder of a spec's report: the last of the sources that has it, each a report or a folder of reports."""
    for source in reversed(sources):
        if (source / RESULTS).is_file():
            said = json.loads((source / RESULTS).read_text(encoding="utf-8"))
            if (said.get("spec"), said.get("profile")) == (name, profile):
                return source
        elif (source / name / profile / RESULTS).is_file():
            return source / name / profile
    return None


def _require_figure(folder: Path, entry: Entry) -> None:
    there = [path.stem for path in sorted((folder / "figures").glob("*.svg"))]
    if entry.figure and entry.figure not in there:
        raise GalleryError(f"{folder}: there is no figure '{entry.figure}'; there are {', '.join(there)}")


def _members(folder: Path, results: Results, gallery: Gallery) -> list[Path]:
    """The reports of a suite's members that have no entry of their own: they lie beside the suite's."""
    members = [member for member in results.get("suite", ()) if member not in gallery.entries]
    return [_member(folder.parent.parent / member, results["profile"]) for member in members]


def _member(reports: Path, profile: str) -> Path:
    there = [path.parent for path in sorted(reports.glob(f"*/{RESULTS}"))]
    fitting = [path for path in there if path.name == profile] or there
    if len(fitting) != 1:
        raise GalleryError(f"{reports}: one report is needed, and there are {len(fitting)}")
    finished(fitting[0])
    return fitting[0]


def _put(folders: Sequence[Path], place: Path, entry: Entry, shoot: Shoot) -> None:
    """One run: made aside, then put in the place of what was there."""
    with tempfile.TemporaryDirectory(dir=place.parent) as aside:
        new = Path(aside) / place.name
        _copy(folders[0], new)
        for member in folders[1:]:
            _copy(member, new / member.parent.name)
        if entry.figure:
            shutil.copyfile(folders[0] / "figures" / f"{entry.figure}.svg", new / FIGURE)
        shoot(folders[0] / PAGE, new / PICTURE)
        if place.exists():
            shutil.rmtree(place)
        new.rename(place)


def _copy(report: Path, place: Path) -> None:
    """Results and settings with every value, and without the white space that is for eyes."""
    place.mkdir()
    for name in (RESULTS, SETTINGS):
        if (report / name).is_file():  # a suite has no settings of its own
            content = json.loads((report / name).read_text(encoding="utf-8"))
            text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
            (place / name).write_text(text + "\n", encoding="utf-8")


def _note_pending(folder: Path, pending: Sequence[str]) -> None:
    path = folder / CONTENTS
    text = path.read_text(encoding="utf-8")
    path.write_text(re.sub(r"^pending: .*$", f"pending: [{', '.join(pending)}]", text, flags=re.MULTILINE), "utf-8")


def screenshot(page: Path, picture: Path) -> None:
    """The top of a page in Debian's Chromium without a window, in few colours."""
    from PIL import Image  # matplotlib brings it along

    browser = shutil.which("chromium")
    if browser is None:
        raise GalleryError("there is no chromium to take pictures of pages with: apt-get install chromium")
    with tempfile.TemporaryDirectory() as profile:
        shot = Path(profile) / "shot.png"
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-device-scale-factor=1"]
        size = [f"--window-size={WIDTH},{HEIGHT}", f"--user-data-dir={profile}", "--virtual-time-budget=5000"]
        said = subprocess.run(
            [browser, *flags, *size, f"--screenshot={shot}", page.resolve().as_uri()],
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )
        if not shot.is_file():
            raise GalleryError(f"{page}: chromium took no picture\n{said.stderr[-500:]}")
        with Image.open(shot) as image:
            image.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(picture, optimize=True)


def sizes(folder: Path) -> Iterator[tuple[str, int]]:
    """How many bytes each run of the gallery takes."""
    for place in sorted(path for path in folder.iterdir() if path.is_dir()):
        yield place.name, sum(path.stat().st_size for path in place.rglob("*") if path.is_file())
