"""How the figures of a page look, all of them alike."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from wmlab.registry import option

UNITS = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4, "pt": 1 / 72}  # in inches
USUAL_WIDTH = 4.3  # inches: two stand side by side on a page
NARROWEST, WIDEST = 2.0, 12.0  # inches: letters keep their size, and need room
_WIDTH = re.compile(rf"(\d+(?:\.\d*)?|\.\d+) ?({'|'.join(UNITS)})")


@dataclass(frozen=True)
class FigureStyle:
    """How the figures of a page look, as SVG and as PDF."""

    font: Literal["DejaVu Sans", "DejaVu Serif", "DejaVu Sans Mono", "STIXGeneral"] = option(
        "DejaVu Sans", doc="The family of all letters; STIXGeneral is of the sort of Times."
    )
    width: str | float = option(
        "4.3in",
        doc="How wide a figure is, with its unit (in, cm, mm, pt): 3.25in, 84mm. Those that take a whole page keep"
        " their ratio to it, and letters their size.",
        schema={"type": ["string", "number"]},  # a bare number is refused in words
    )
    palette: Literal["okabe_ito", "tol_bright", "greyscale"] = option(
        "okabe_ito",
        doc="Colours of lines and maps: okabe_ito and tol_bright are told apart in every common form of colour"
        " blindness, greyscale on paper without colours.",
    )

    @property
    def scale(self) -> float:
        """How much wider figures are than usual."""
        return (inches(self.width) or USUAL_WIDTH) / USUAL_WIDTH


def inches(width: str | float) -> float | None:
    """A width in inches; None where the text is none."""
    match = _WIDTH.fullmatch(str(width).strip())
    return None if match is None else float(match[1]) * UNITS[match[2]]
