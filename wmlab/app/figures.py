"""The figures of a report as objects that a notebook draws."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from markupsafe import Markup

from wmlab.app.report_folder import ReportDamage, read_report, read_verified
from wmlab.report.data import DRAWINGS, FIGURES
from wmlab.report.drawings import Drawing, Picture, drawing_of
from wmlab.report.gallery import KEYS


@dataclass(frozen=True)
class ReportFigure:
    """A figure as it stands in the folder of a report, beside a PDF of the same name."""

    name: str
    path: Path  # of the SVG

    @property
    def svg(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @property
    def pdf(self) -> Path:
        return self.path.with_suffix(".pdf")

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        # As a picture, and not in the page itself: ids of two figures would clash there.
        data = b64encode(self.svg.encode()).decode()
        picture = Markup('<img alt="{}" src="data:image/svg+xml;base64,{}" style="max-width: 100%">')
        return str(picture.format(self.name, data))


def report_figures(folder: Path) -> Mapping[str, ReportFigure]:
    """The figures in the folder of a report, by name; none where there is no report."""
    paths = [PurePosixPath(name) for name in read_report(folder).files or ()]
    names = sorted(path.stem for path in paths if str(path.parent) == FIGURES and path.suffix == ".svg")
    return {name: ReportFigure(name, folder / FIGURES / f"{name}.svg") for name in names}


def kept_drawings(folder: Path) -> dict[str, Drawing]:
    """What the figures in the folder of a report show, by name; none where it was not kept or is not as written."""
    try:
        kept = json.loads(read_verified(folder, DRAWINGS))
        return {name: drawing_of(*parts) for name, parts in kept.items()}
    except (ReportDamage, ValueError, TypeError, KeyError, AttributeError):
        return {}  # of an earlier version, whose figures held something else


def known_pictures(folder: Path) -> Callable[[str], Picture | None]:
    """The figures in the folder of a report, by the key of what they show; those that are not as written are none."""
    try:
        keys = json.loads(read_verified(folder, f"{FIGURES}/{KEYS}"))
    except ReportDamage:
        keys = {}
    names = {key: name for name, key in keys.items()}

    def known(key: str) -> Picture | None:
        if key not in names:
            return None
        try:
            svg, pdf = (read_verified(folder, f"{FIGURES}/{names[key]}.{sort}") for sort in ("svg", "pdf"))
        except ReportDamage:
            return None
        return Picture(svg.decode(), pdf)

    return known
