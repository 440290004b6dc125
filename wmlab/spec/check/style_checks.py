"""The look of figures: a width that is a length, and one that letters find room in."""

from __future__ import annotations

from collections.abc import Iterator

from wmlab.errors import SpecError
from wmlab.sections.figure_style import NARROWEST, UNITS, WIDEST, inches
from wmlab.spec.compose.resolve import Resolved
from wmlab.spec.yaml.node import show


def style_errors(resolved: Resolved) -> Iterator[SpecError]:
    """Mistakes in `report.style`, of an experiment or of a suite."""
    style = resolved.report.style
    if style is None:
        return
    length = inches(style.width)
    source, path = resolved.sections["report"].near(["style", "width"]).source, "report.style.width"
    if length is None:
        hint = f"say a number with its unit, one of {', '.join(UNITS)}: 3.25in, 84mm"
        yield SpecError(source, path, f"expected a width, not {show(style.width)}", hint)
    elif not NARROWEST <= length <= WIDEST:
        message = f"figures are from {NARROWEST:g}in to {WIDEST:g}in wide, and {style.width} is {length:.4g}in"
        yield SpecError(source, path, message)
