"""What an unquoted word of YAML means: the core schema of YAML 1.2, and underscores between digits."""

from __future__ import annotations

import re
import sys

_DIGITS = "[0-9]+(?:_[0-9]+)*"
_INTEGER = re.compile(rf"[-+]?{_DIGITS}")
_OTHER_BASE = re.compile("0o[0-7]+(?:_[0-7]+)*|0x[0-9a-fA-F]+(?:_[0-9a-fA-F]+)*")
_FLOAT = re.compile(rf"[-+]?(?:\.{_DIGITS}|{_DIGITS}(?:\.(?:{_DIGITS})?)?)(?:[eE][-+]?{_DIGITS})?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_WORDS = {
    **dict.fromkeys(["", "~", "null", "Null", "NULL"], None),
    **dict.fromkeys(["true", "True", "TRUE"], True),
    **dict.fromkeys(["false", "False", "FALSE"], False),
}
_LONGEST = 1_000  # digits; more cannot be a finite float unless they are zeros


class NotFinite(ValueError):
    """A number that no float can hold; its text is fit for a user."""


def plain_scalar(text: str) -> str | int | float | bool | None:
    """The value of an unquoted word: null, a boolean, a finite number, or else the text itself."""
    if text in _WORDS:
        return _WORDS[text]
    if _NOT_FINITE.fullmatch(text):
        raise NotFinite(f"{text} is not a finite number")
    integer, other_base = _INTEGER.fullmatch(text), _OTHER_BASE.fullmatch(text)
    if not (integer or other_base or _FLOAT.fullmatch(text)):
        return text
    if len(text) > _LONGEST:
        raise NotFinite(f"a number of {len(text)} characters is too long")
    digits = text.replace("_", "")
    value = int(digits, 0) if other_base else int(digits) if integer else float(digits)
    if abs(value) > sys.float_info.max:
        raise NotFinite("this number is too large to be finite")
    return value
