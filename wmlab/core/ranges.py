"""Ranges of variables as a spec gives them: {variable: [low, high]}."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from wmlab.core.continuous.space import ContinuousSpace
from wmlab.errors import suggest
from wmlab.registry import Finding

NUMBER = {"type": ["number", "string"], "x-wmlab": "number"}
RANGES = {"type": "object", "additionalProperties": {"type": "array", "items": NUMBER, "minItems": 2, "maxItems": 2}}
Ranges = Mapping[str, tuple[float, ...]]


def check_ranges(ranges: Ranges, space: ContinuousSpace) -> Iterator[Finding]:
    """Each is a state variable's, and its ends are in order."""
    for name, (low, high) in ranges.items():
        if name not in space.names:
            hint = suggest(name, space.names) or f"say {', '.join(space.names)}"
            yield Finding(("bounds", name), f"'{name}' is not a state variable", hint, key=True)
        elif low >= high:
            yield Finding(("bounds", name), f"{low:g} is not below {high:g}")
