"""The page of what differs between sides, and nothing else."""

from __future__ import annotations

import base64
from dataclasses import dataclass

from wmlab.report.compare import verdict
from wmlab.report.differences import ClaimDifference, MetricDifference, ValueDifference, letter
from wmlab.report.template import draw_template
from wmlab.report.text import plural


@dataclass(frozen=True)
class FigureRow:
    """A figure of the same name on all sides, as SVG; None where a side has none."""

    name: str
    sides: tuple[bytes | None, ...]
    differing: tuple[str, ...] = ()  # what is not on one scale
    alone: tuple[str, ...] = ()  # sides of which the picture alone was kept, with a scale of its own

    @property
    def note(self) -> str:
        """What of it cannot be compared by eye."""
        told = [f"Not on one scale, for the sides differ in it: {', '.join(self.differing)}."] if self.differing else []
        if self.alone:
            told.append(f"On a scale of its own: {', '.join(self.alone)}, of which the picture alone was kept.")
        return " ".join(told)

    @property
    def pictures(self) -> list[str]:
        """Each as the address of a picture: what is drawn there can neither run nor ask for anything."""
        return [
            "" if svg is None else f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}" for svg in self.sides
        ]


@dataclass(frozen=True)
class DiffPage:
    """All that the page shows; the first side is what the others are held against."""

    sides: tuple[str, ...]
    values: tuple[ValueDifference, ...] = ()
    metrics: tuple[MetricDifference, ...] = ()
    same_metrics: int = 0
    claims: tuple[ClaimDifference, ...] = ()
    figures: tuple[FigureRow, ...] = ()
    same_figures: int = 0

    @property
    def letters(self) -> list[str]:
        """What each side is called."""
        return [letter(place) for place, _ in enumerate(self.sides)]

    @property
    def sentence(self) -> str:
        """What differs, in a line."""
        parts = [
            plural(len(rows), noun)
            for rows, noun in ((self.values, "value"), (self.metrics, "metric"), (self.claims, "claim"))
            if rows
        ]
        return f"Different: {', '.join(parts)}." if parts else "No difference."


def render_difference(page: DiffPage) -> bytes:
    """One self-contained file."""
    beyond = sum(False in row.within for row in page.metrics)
    claims = [(row.id, list(map(verdict, row.verdicts))) for row in page.claims]
    return draw_template("diff.html.j2", page=page, claims=claims, beyond=beyond)
