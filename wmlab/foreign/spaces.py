"""Spaces of Gymnasium, from what it prints of them: this text stands beside the pickles of Stable-Baselines3."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from wmlab.limits import shorten
from wmlab.spec.check.array_headers import Unreadable

NUMBER = re.compile(r"[-+]?(?:inf|nan|\d+\.?\d*(?:e[-+]?\d+)?|\.\d+(?:e[-+]?\d+)?)", re.IGNORECASE)
ENTRY = re.compile(r"""\(?\s*(['"])(?P<name>[^'"]{1,200})\1\s*[:,]\s*(?=[A-Z]\w*\()""")
SPACE = re.compile(r"[A-Z]\w*")
TEXT_CHARACTERS = 200_000  # of one space
NUMBERS = 100_000  # in one space


@dataclass(frozen=True)
class Box:
    """Numbers between bounds; None where the text leaves them out."""

    shape: tuple[int, ...]
    low: tuple[float, ...] | None  # [n]
    high: tuple[float, ...] | None  # [n]

    @property
    def size(self) -> int:
        return math.prod(self.shape)


@dataclass(frozen=True)
class Discrete:
    """One of so many things."""

    count: int
    start: int = 0


@dataclass(frozen=True)
class Parts:
    """Spaces by name, in the order in which a network reads them."""

    spaces: Mapping[str, Box | Discrete | Other]


@dataclass(frozen=True)
class Other:
    """A space that is not known here."""

    text: str


Space = Box | Discrete | Parts | Other


def space_of(said: Any) -> Space:
    """A space from the entry of Stable-Baselines3's JSON: its type, and its fields as text."""
    if not isinstance(said, dict) or not isinstance(said.get(":type:"), str):
        return Other(shorten(str(said)))
    kind = said[":type:"]
    if kind.endswith(".dict.Dict'>") and isinstance(said.get("spaces"), str):
        return Parts(dict(entries(said["spaces"])))
    if kind.endswith(".box.Box'>"):
        shape = shape_of(said.get("_shape"))
        return Box(shape, bounds(said.get("low"), shape), bounds(said.get("high"), shape))
    if kind.endswith(".discrete.Discrete'>"):
        return Discrete(whole(said.get("n")), whole(said.get("start", 0)))
    return Other(kind)


def entries(text: str) -> Iterator[tuple[str, Box | Discrete | Other]]:
    """The spaces of a printed dictionary, in its order: {'a': Box(…), …}, or OrderedDict([('a', Box(…)), …])."""
    if len(text) > TEXT_CHARACTERS:
        raise Unreadable("it prints a space of more characters than anybody reads")
    place = 0
    while (found := ENTRY.search(text, place)) is not None:
        end = closing(text, found.end())
        yield found["name"], printed(text[found.end() : end])
        place = end


def closing(text: str, start: int) -> int:
    """Where the bracket ends that opens after `start`."""
    depth = 0
    for place in range(text.index("(", start), len(text)):
        depth += (text[place] in "([{") - (text[place] in ")]}")
        if depth == 0:
            return place + 1
    raise Unreadable("it prints a space whose brackets do not close")


def printed(text: str) -> Box | Discrete | Other:
    """A space as it prints itself: Box(-1.0, 1.0, (2,), float32), Box([-1. -2.], 2.0, (2,), float32), Discrete(5)."""
    kind = SPACE.match(text)
    name, inner = (kind[0], text[kind.end() + 1 : -1]) if kind else ("", "")
    if name == "Discrete":
        numbers = [int(each) for each in re.findall(r"-?\d+", inner)[:2]]
        return Discrete(*numbers) if numbers else Other(shorten(text))
    shape_text = re.search(r"\(([\d, ]*)\)", inner)
    if name != "Box" or shape_text is None:
        return Other(shorten(text))
    shape = tuple(int(each) for each in re.findall(r"\d+", shape_text[1])[:8])
    low, high = halves(inner[: shape_text.start()])
    return Box(shape, bounds(low, shape), bounds(high, shape))


def halves(text: str) -> tuple[str, str]:
    """What stands before and after the comma that is in no bracket."""
    depth = 0
    for place, sign in enumerate(text):
        depth += (sign == "[") - (sign == "]")
        if sign == "," and depth == 0:
            return text[:place].strip(), text[place + 1 :].strip(" ,\n")
    return text, ""


def bounds(text: Any, shape: tuple[int, ...]) -> tuple[float, ...] | None:
    """Numbers [n] from a text: one for all, or each; None where the text leaves some out."""
    if not isinstance(text, str) or len(text) > TEXT_CHARACTERS:
        return None
    numbers = tuple(float(each) for each in NUMBER.findall(text))
    count = math.prod(shape)
    if len(numbers) == 1 and "[" not in text:
        return numbers * count if count <= NUMBERS else None
    return numbers if len(numbers) == count else None


def shape_of(said: Any) -> tuple[int, ...]:
    """A shape from JSON, a list of numbers."""
    if not isinstance(said, list) or len(said) > 8 or any(type(side) is not int or side < 0 for side in said):
        raise Unreadable("it holds a space whose shape is none")
    return tuple(said)


def whole(said: Any) -> int:
    """A whole number, as a number or as text."""
    if isinstance(said, str) and re.fullmatch(r"-?\d{1,9}", said):
        return int(said)
    if type(said) is int and abs(said) < 10**9:
        return said
    raise Unreadable(f"it holds a space with '{shorten(str(said))}' where a whole number stands")
