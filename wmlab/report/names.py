"""What statistics and points are called where people read them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from wmlab.report.numbers import compact

STATISTICS = {
    "se_over_seeds": "mean, s.e. over seeds",
    "sd_over_starts": "standard deviation over starts",
    "bootstrap_over_points": "bootstrap over points",
}


def point(where: Mapping[str, Any]) -> str:
    """A point of a sweep: goals = 20, width = 512; axes in alphabetical order."""
    return ", ".join(f"{axis} = {compact(where[axis])}" for axis in sorted(where))


def slug(*parts: str) -> str:
    """A file name that is safe everywhere."""
    return "-".join(re.sub(r"[^a-z0-9_.]+", "-", part.lower()).strip("-.") or "x" for part in parts)[:120]


def printable(text: Any) -> str:
    """Text without control characters, which could drive a terminal or break an SVG."""
    spaces = "\t\r\n\u00a0\u202f"
    clean = (character for character in str(text) if character.isprintable() or character in spaces)
    return "".join(" " if character in "\t\r\n" else character for character in clean)
