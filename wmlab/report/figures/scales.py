"""One scale for figures that stand beside each other: the same ends of axes and of colours, and the same powers of ten.

Each is painted three times: first the numbers of all of them are collected, which decide on colours and on powers of
ten; then the ends of axes, which follow from these; then each is drawn. A figure that stands alone is painted once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator

from wmlab.report.drawings import Drawing, Picture

COLOUR_BAR = "<colorbar>"  # what matplotlib calls the axes of one


@dataclass(frozen=True)
class Axis:
    """One axis of a panel: what it shows, and from where to where."""

    name: tuple[str, ...]  # its label, that of the whole figure, and its sort of scale
    ends: tuple[float, float]
    places: dict[float, str]  # words that stand along it

    def goes_with(self, other: Axis) -> bool:
        """Whether the same place on both means the same."""
        both = self.places.keys() & other.places.keys()
        return self.name == other.name and all(self.places[place] == other.places[place] for place in both)


@dataclass
class CommonScale:
    """What figures that stand beside each other have in common."""

    step: str = "numbers"  # which are collected first; then axes are; then all is drawn
    numbers: list[dict[str, np.ndarray]] = field(default_factory=list)  # of each figure, by what they are of
    axes: list[dict[str, list[Axis]]] = field(default_factory=list)  # of each figure, by direction: of its panels

    def take(self, what: str, values: np.ndarray) -> np.ndarray:
        if self.step == "numbers":
            self.numbers[-1][what] = values
            return values
        return np.concatenate([known[what] for known in self.numbers if what in known])

    def settle(self, figure: Figure) -> bool:
        """Look at a figure that is painted, or give it its axes; whether it is to be finished."""
        panels = [axes for axes in figure.axes if axes.get_visible() and axes.get_label() != COLOUR_BAR]
        if self.step == "axes":
            self.axes.append({way: [_axis(figure, axes, way) for axes in panels] for way in ("x", "y")})
        elif not self.step:
            for way in ("x", "y"):
                for axes, ends in zip(panels, self.ends(way), strict=False):
                    _stretch(axes, way, ends)
        return not self.step

    def ends(self, way: str) -> list[tuple[float, float]]:
        """From where to where each panel goes on all sides; nothing where they do not go with each other."""
        figures = [known[way] for known in self.axes]
        if len(set(map(len, figures))) != 1:
            return []
        sides = list(zip(*figures, strict=True))
        if not all(axis.goes_with(side[0]) for side in sides for axis in side):
            return []
        return [(min(min(axis.ends) for axis in side), max(max(axis.ends) for axis in side)) for side in sides]

    @property
    def differing(self) -> list[str]:
        """What is not on one scale, in words."""
        colours = len({frozenset(known) for known in self.numbers}) > 1
        ways = [words for way, words in (("x", "the axis across"), ("y", "the axis up")) if not self.ends(way)]
        if len({len(known["x"]) for known in self.axes}) > 1:
            ways = ["how many panels there are"]
        return [*ways, *(["what colours or heights show"] if colours else [])]


_common: ContextVar[CommonScale | None] = ContextVar("common scale", default=None)


def together(what: str, values: np.ndarray) -> np.ndarray:
    """The numbers that a scale is made for: those of a figure and, where it stands beside others, theirs."""
    common = _common.get()
    return values if common is None else common.take(what, np.ravel(values))


def common_scale() -> CommonScale | None:
    """What the figure that is being painted has in common with others, where it stands beside some."""
    return _common.get()


def paint_on_one_scale(
    paint: Callable[[Drawing], Picture], drawings: Sequence[Drawing]
) -> tuple[list[Picture], list[str]]:
    """Pictures that can be compared by eye, and in words what of them cannot."""
    common = CommonScale()
    token = _common.set(common)
    try:
        for drawing in drawings:
            common.numbers.append({})
            paint(drawing)
        common.step = "axes"
        for drawing in drawings:
            paint(drawing)
        common.step = ""
        return [paint(drawing) for drawing in drawings], common.differing
    finally:
        _common.reset(token)


def _axis(figure: Figure, axes: Axes, way: str) -> Axis:
    axis: Any = axes.xaxis if way == "x" else axes.yaxis
    whole = figure.get_supxlabel() if way == "x" else figure.get_supylabel()
    locator, sort = axis.get_major_locator(), axis.get_scale()
    ticks = axis.get_majorticklocs() if isinstance(locator, FixedLocator) and sort == "linear" else ()
    names = axis.get_major_formatter().format_ticks(ticks) if len(ticks) else ()
    places = {float(tick): str(name) for tick, name in zip(ticks, names, strict=True)}
    low, high = axes.get_xlim() if way == "x" else axes.get_ylim()
    return Axis((axis.get_label_text(), whole, sort), (float(low), float(high)), places)


def _stretch(axes: Axes, way: str, ends: tuple[float, float]) -> None:
    """Have an axis go from end to end, in its own direction."""
    inverted = axes.xaxis_inverted() if way == "x" else axes.yaxis_inverted()
    low, high = reversed(ends) if inverted else ends
    if way == "x":
        axes.set_xlim(low, high)
    else:
        axes.set_ylim(low, high)
