"""The page of what differs between two sides, and nothing else."""

from __future__ import annotations

import base64
from dataclasses import dataclass

from wmlab.report.claims import MARKS
from wmlab.report.pairs import MetricPair, ValuePair
from wmlab.report.template import draw_template
from wmlab.report.text import plural


@dataclass(frozen=True)
class FigurePair:
    """A figure of the same name on both sides, as SVG; None where a side has none."""

    name: str
    one: bytes | None
    other: bytes | None

    @property
    def pictures(self) -> tuple[str, str]:
        """Each as the address of a picture: what is drawn there can neither run nor ask for anything."""
        first, second = (
            "" if svg is None else f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"
            for svg in (self.one, self.other)
        )
        return first, second


@dataclass(frozen=True)
class DiffPage:
    """All that the page shows."""

    one: str
    other: str
    values: tuple[ValuePair, ...] = ()
    metrics: tuple[MetricPair, ...] = ()
    same_metrics: int = 0
    claims: tuple[tuple[str, str | None, str | None], ...] = ()  # id, and what became of it on both sides
    figures: tuple[FigurePair, ...] = ()
    same_figures: int = 0

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
    beyond = sum(row.within is False for row in page.metrics)
    flips = [(id, _verdict(one), _verdict(other)) for id, one, other in page.claims]
    return draw_template("diff.html.j2", page=page, flips=flips, beyond=beyond)


def _verdict(word: str | None) -> tuple[str, str]:
    """How a claim came out, and its sign."""
    return ("not made", "") if word is None else (word, MARKS[word])
