"""One look for all figures, and files whose bytes depend on nothing but the data."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.colors import LogNorm, get_named_colors_mapping
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatter

from wmlab.report.drawings import INK, Picture
from wmlab.report.figures.fonts import RareLetters, lean_fonts
from wmlab.report.figures.palettes import PALETTES
from wmlab.report.figures.scales import common_scale
from wmlab.report.text import printable
from wmlab.sections.figure_style import USUAL_WIDTH, FigureStyle

# Colours and maps by name: which they are is said by the palette that is chosen.
BLUE, ORANGE, GREEN, VERMILLION = "wmlab:blue", "wmlab:orange", "wmlab:green", "wmlab:vermillion"
PURPLE, SKY, YELLOW = "wmlab:purple", "wmlab:sky", "wmlab:yellow"
VALUES, SIGNED, HEAT, LABELS = "wmlab.values", "wmlab.signed", "wmlab.heat", "wmlab.labels"
LINES = (BLUE, ORANGE, GREEN, VERMILLION, PURPLE, SKY, INK)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
HALF = (USUAL_WIDTH, 2.9)  # inches: two stand side by side on a page
DECADES = 4  # a scale of powers of ten shows this many below its greatest value

STYLE: dict[str, Any] = {
    "svg.hashsalt": "wmlab",
    "svg.fonttype": "none",
    "pdf.fonttype": 42,  # TrueType: journals refuse the other sort
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.labelsize": 9,
    **dict.fromkeys(("xtick.labelsize", "ytick.labelsize", "legend.fontsize"), 8.5),
    "legend.frameon": False,
    **dict.fromkeys(("axes.spines.top", "axes.spines.right"), False),
    **dict.fromkeys(("axes.linewidth", "xtick.major.width", "ytick.major.width"), 0.7),
    "lines.linewidth": 1.6,
    **dict.fromkeys(("axes.edgecolor", "axes.labelcolor", "text.color", "xtick.color", "ytick.color"), INK),
    "axes.axisbelow": True,
    "hatch.linewidth": 0.9,
    "axes.unicode_minus": True,
    "text.parse_math": False,
}


_style: ContextVar[FigureStyle] = ContextVar("style", default=FigureStyle())  # noqa: B039 - it is frozen


@contextmanager
def chosen(style: FigureStyle) -> Iterator[None]:
    """Have figures look like this."""
    before = _style.set(style)
    take_palette(style.palette)
    try:
        yield
    finally:
        _style.reset(before)
        take_palette(_style.get().palette)


def take_palette(name: str) -> None:
    """Have the names of colours and maps stand for those of a palette."""
    palette = PALETTES[name]
    named = get_named_colors_mapping()
    for colour, value in palette.colours.items():
        named[f"wmlab:{colour}"] = value  # one by one: only this forgets what the name stood for
    for sort, colour_map in palette.maps.items():
        if f"wmlab.{sort}" in matplotlib.colormaps:
            matplotlib.colormaps.unregister(f"wmlab.{sort}")
        matplotlib.colormaps.register(colour_map, name=f"wmlab.{sort}")


take_palette(FigureStyle().palette)


def letters_of(font: str) -> dict[str, Any]:
    """The settings for a font, and for what stands in where it lacks a letter.

    Letters of an SVG are then outlines: few readers have these fonts, and others are wider than the room for them.
    """
    if font == FigureStyle().font:
        return {}
    sort = {"DejaVu Sans Mono": "monospace"}.get(font, "serif")
    stand_in = {"serif": "DejaVu Serif", "monospace": "DejaVu Sans Mono"}[sort]
    return {"font.family": [font, sort], f"font.{sort}": [stand_in], "svg.fonttype": "path"}


def cell_letters() -> float:
    """The size of letters in the cells of a heatmap, which shrink with it."""
    return 6.2 * min(1.0, _style.get().scale)


def page_width() -> float:
    """How wide figures are that stand side by side on a page, in inches, in the style that is drawn."""
    return HALF[0] * _style.get().scale


def picture(paint: Callable[[Figure], Any], size: tuple[float, float] = HALF) -> Picture:
    """Paint on a fresh figure and keep it as SVG and PDF; the same data gives the same bytes."""
    # A user's own matplotlibrc changes no byte; the backend alone is theirs.
    settings: Any = {**matplotlib.rcParamsDefault, **STYLE, **letters_of(_style.get().font)}
    settings.pop("backend", None)
    scale = _style.get().scale
    with matplotlib.rc_context(settings), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")  # other scripts still show in the SVG
        figure = Figure(figsize=(size[0] * scale, size[1] * scale), layout="constrained")
        FigureCanvasSVG(figure)
        paint(figure)
        common = common_scale()
        if common is not None and not common.settle(figure):
            return Picture("", b"")
        if figure.axes and (layout := figure.get_layout_engine()) is not None:
            layout.execute(figure)
        figure.set_layout_engine("none")  # found once: neither file is drawn to find it
        svg = io.StringIO()
        figure.savefig(svg, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
        return Picture(svg.getvalue(), as_pdf(figure) if common is None else b"")  # which stand on a page alone


def as_pdf(figure: Figure) -> bytes:
    """The figure as a PDF; its fonts are cut from common letters where it has no others."""
    plain = {"CreationDate": None, "Creator": None, "Producer": None}
    for common in (True, False):
        content = io.BytesIO()
        with suppress(RareLetters), lean_fonts(common):
            FigureCanvasPdf(figure).print_pdf(content, metadata=plain)
            break
    return content.getvalue()


def text(value: Any, most: int = 60) -> str:
    """A label that comes from a spec: printable and not too long."""
    line = printable(value)
    return line if len(line) <= most else line[: most - 1] + "…"


def quiet_grid(axes: Axes, axis: Any = "y") -> None:
    """Light lines that help the eye and do not compete with the data."""
    axes.grid(True, axis=axis, color=INK, alpha=0.12, linewidth=0.6)


def colour_bar(figure: Figure, image: Any, axes: Any, label: str, powers: bool = False, **more: Any) -> None:
    """The scale of an image beside its axes; `powers`: of powers of ten."""
    bar = figure.colorbar(image, ax=axes, pad=0.02, **more)
    bar.outline.set_visible(False)
    if powers:  # where it spans little, ticks between powers have names, too
        bar.ax.yaxis.set_major_formatter(PlainPowers())
        bar.ax.yaxis.set_minor_formatter(PlainPowers())
    bar.set_label(label, color=INK)


def powers_of_ten(values: np.ndarray) -> LogNorm:
    """A scale down from the greatest value; what lies below it is drawn as its least."""
    greatest = float(values.max())
    least = max(float(values[values > 0].min()), greatest * 10.0**-DECADES)
    return LogNorm(least if least < greatest else greatest / 10, greatest, clip=True)


class PlainPowers(LogFormatter):
    """matplotlib's own choice of ticks to name, and plain text such as 1e-2 in place of its formulas."""

    def __call__(self, value: float, position: int | None = None) -> str:
        name = super().__call__(value, position).replace("\N{MINUS SIGN}", "-")
        return name.replace("e-0", "e-").replace("e+0", "e")
