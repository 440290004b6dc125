"""Numbers, points and names as a careful reader wants them.

Numbers have few digits and none that misleads; the exact value is kept elsewhere.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, TypeGuard

MISSING = "–"
THIN = "\u202f"  # narrow no-break space, between groups of three digits
_MONTHS = "January February March April May June July August September October November December"
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def finite(value: Any) -> TypeGuard[float]:
    """Whether a value is a number that can be shown as one."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def number(value: Any, digits: int = 4) -> str:
    """A number in a few significant digits; exact integers stay integers, a missing value is a dash."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return MISSING
    if isinstance(value, float) and math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if not finite(value):
        return compact(value)
    if value == int(value) and abs(value) < 1e9:
        return _signed(grouped(int(value)))
    exponent = _exponent(value, digits)
    if -3 <= exponent < 5:
        return _signed(f"{value:.{max(0, digits - 1 - exponent)}f}")
    return _signed(f"{value:.{digits - 1}e}".split("e")[0] + _power(exponent))


def uncertain(mean: Any, error: Any, digits: int = 4) -> str:
    """A mean and its standard error with matching decimals: 0.9871 ± 0.0023, (1.20 ± 0.08) × 10⁻⁴."""
    if not finite(mean) or not finite(error):
        return number(mean, digits)
    if error <= abs(mean) * 2.3e-16:  # equal values: what is left is the rounding of their mean
        return f"{number(mean, digits)} ± 0"
    exponent = _exponent(max(abs(mean), error), digits)
    exponent = 0 if -3 <= exponent < 5 else exponent
    scaled, spread = (float(Decimal(value).scaleb(-exponent)) for value in (mean, error))
    decimals = max(0, min(digits - 1 - (_exponent(scaled, digits) if scaled else 0), 1 - _exponent(spread, 2)))
    if float(f"{spread:.{decimals}f}") == 0:
        return f"{number(mean, digits)} ± {number(error, 2)}"
    text = _signed(f"{scaled:.{decimals}f} ± {spread:.{decimals}f}")
    return f"({text}){_power(exponent)}" if exponent else text


def apart(value: Any, bound: Any, digits: int = 4) -> str:
    """A number with as many digits as it takes to see on which side of a bound it lies."""
    if not finite(value) or not finite(bound) or value == bound:
        return number(value, digits)
    for enough in range(digits, 18):
        rounded = float(f"{value:.{enough - 1}e}")
        if (rounded > bound) == (value > bound) and (rounded < bound) == (value < bound):
            return number(value, enough)
    return number(value, 17)


def stated(value: Any) -> str:
    """A number that a person wrote, with the digits that they gave: 0.999 and 1.2 × 10⁻⁴, never 0.9990."""
    if not finite(value):
        return number(value)
    return next((number(value, few) for few in range(1, 8) if float(f"{value:.{few - 1}e}") == value), number(value))


def grouped(value: int) -> str:
    """An integer with its digits in threes from 10 000 on."""
    return f"{value:,}".replace(",", THIN) if abs(value) >= 10_000 else str(value)


def compact(value: Any) -> str:
    """Any value of a spec or a result as one reads it in YAML's flow style."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {compact(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(compact(item) for item in value) + "]"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10_000:
        return f"{value:_}"
    return exact(value)


def exact(value: Any) -> str:
    """A result to the last bit, for a tooltip or a program."""
    if type(value) is float and math.isfinite(value):
        return repr(value)  # as JSON writes it, in a tenth of the time: a page has tens of thousands
    return json.dumps(value, ensure_ascii=False, default=str)


def duration(seconds: Any) -> str:
    """A time span in the unit that suits it: 0.4 s, 3 min 20 s, 2 h 05 min."""
    if not finite(seconds):
        return MISSING
    if seconds < 9.95:
        return f"{seconds:.1f} s" if seconds >= 0.05 or seconds == 0 else "< 0.1 s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60:02d} min"


def moment(text: Any) -> str:
    """A stored time for people: 14 March 2025, 09:26 UTC; what is not a time is shown as it stands."""
    try:
        when = datetime.fromisoformat(str(text))
    except ValueError:
        return str(text)
    if when.tzinfo is not None:
        when = when.astimezone(UTC)
    return f"{when.day} {_MONTHS.split()[when.month - 1]} {when.year}, {when:%H:%M}" + (" UTC" if when.tzinfo else "")


def plural(count: int, noun: str) -> str:
    """A count and its noun: 1 seed, 3 seeds."""
    return f"{grouped(count)} {noun}" + ("" if count == 1 else "s")


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


def _exponent(value: float, digits: int) -> int:
    return int(f"{value:.{digits - 1}e}".split("e")[1])  # after rounding: 9.9999 counts as 10.00


def _power(exponent: int) -> str:
    return "\u00a0×\u00a010" + str(exponent).translate(SUPERSCRIPTS)


def _signed(text: str) -> str:
    return text.replace("-", "−")
