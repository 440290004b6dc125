"""Tensors by name, each read when it is asked for; and which file is of which library, by its first bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from wmlab.limits import ARRAYS, TENSOR_NAMES, grouped, shorten
from wmlab.spec.check.array_headers import Unreadable
from wmlab.spec.files import size

Library = Literal["torch", "flax"]
ALONE = 1_000_000  # bytes that tensors may have whatever the size of their file
DEPTH = 32  # of dictionaries in each other


@dataclass(frozen=True, eq=False)
class Tensor:
    """A tensor in a file."""

    shape: tuple[int, ...]
    read: Callable[[], np.ndarray]  # in the file's own axes, of whatever type of number

    def numbers(self) -> np.ndarray:
        """Its numbers as float64: what is folded into each other is rounded once, at the end."""
        return np.asarray(self.read(), np.float64)


@dataclass(frozen=True, eq=False)
class StateDict:
    """The tensors of a file, in its order, and whose habits it follows: PyTorch's or Flax's."""

    tensors: Mapping[str, Tensor]
    library: Library
    beside: Mapping[str, object]  # numbers and texts that stand beside the tensors

    def below(self, prefix: str) -> StateDict:
        """The tensors whose names begin with a prefix, without it."""
        kept = {name.removeprefix(prefix): each for name, each in self.tensors.items() if name.startswith(prefix)}
        return StateDict(kept, self.library, self.beside)


def flattened(tree: object, separator: str = ".") -> Iterator[tuple[str, object]]:
    """Every leaf of dictionaries and lists in each other, by its path; Unreadable where there is no end to them."""
    waiting: list[tuple[str, object, int]] = [("", tree, 0)]
    seen = 0
    while waiting:
        path, value, depth = waiting.pop()
        seen += 1
        if seen > TENSOR_NAMES or depth > DEPTH:
            raise Unreadable(f"it holds more than {grouped(TENSOR_NAMES)} values, or too deep in each other")
        if isinstance(value, (dict, list, tuple)):
            items = value.items() if isinstance(value, dict) else enumerate(value)
            inner = [(f"{path}{separator}{key}" if path else str(key), each, depth + 1) for key, each in items]
            waiting += reversed(inner[: TENSOR_NAMES + 1])
        else:
            yield path, value


def require_sizes(tensors: Mapping[str, tuple[tuple[int, ...], int]], length: int) -> None:
    """Unreadable where tensors, name: (shape, bytes), are more than a file of so many bytes can hold.

    A number may be used twice, by weights that are tied; a file that is mostly such is no agent's.
    """
    if len(tensors) > ARRAYS:
        raise Unreadable(f"it holds {grouped(len(tensors))} tensors; {grouped(ARRAYS)} are allowed")
    total, allowed = sum(count for _, count in tensors.values()), max(2 * length, ALONE)
    if total > allowed:
        name = max(tensors, key=lambda each: tensors[each][1])
        raise Unreadable(
            f"its tensors claim {size(total)}, and the file has {size(length)}; '{shorten(name)}' claims most"
        )
