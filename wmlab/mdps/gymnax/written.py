"""A gymnax environment whose state a spec declares: where each variable stands in gymnax's own state.

Shapes: d state variables, k components of an action.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from wmlab.core.continuous.space import Variable

PATH = re.compile(r"([A-Za-z_]\w*)((?:\[\d+\])*)")


@dataclass(frozen=True)
class StatePath:
    """A number of gymnax's state: a field, and the position in it where the field holds several."""

    field: str
    index: tuple[int, ...] = ()

    @classmethod
    def read(cls, text: str) -> StatePath | None:
        """`angles[0]` as a path; None where it is none."""
        match = PATH.fullmatch(text)
        return cls(match[1], tuple(map(int, re.findall(r"\d+", match[2])))) if match else None

    def __str__(self) -> str:
        return self.field + "".join(f"[{position}]" for position in self.index)


@dataclass(frozen=True)
class WrittenEnvironment:
    """A gymnax environment with a named state. Equal ones hash alike, so that programs are compiled once."""

    env: str  # gymnax's name of it
    variables: tuple[Variable, ...]  # [d]
    paths: tuple[StatePath, ...]  # [d]
    act: Callable[[Any, Any], Any] | None = None  # (xp, controls [k]) -> gymnax's action, where wmlab knows it

    def pack(self, xp: Any, whole: Any, state: Any) -> Any:
        """gymnax's state: a whole one with the variables [d] put into it."""
        fields = {path.field: xp.asarray(getattr(whole, path.field)) for path in self.paths}
        for position, path in enumerate(self.paths):
            field = fields[path.field]
            fields[path.field] = field.at[path.index].set(state[position].astype(field.dtype))
        return whole.replace(**fields)

    def unpack(self, xp: Any, whole: Any) -> Any:
        """The variables [d] of gymnax's state."""
        values = [xp.asarray(getattr(whole, path.field))[path.index] for path in self.paths]
        return xp.stack([value.astype(xp.float32) for value in values])
