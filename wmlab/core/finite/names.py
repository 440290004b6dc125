"""Names of states: a list of them, or in a large world the way to write each when it is asked for, and to read it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import overload

LISTED = 50_000  # names that are written at once; of more, a question about a world needs a few, and seldom all


class WrittenNames(Sequence[str]):
    """Names [S] that are written one by one, as they are read."""

    def __init__(self, size: int, write: Callable[[int], str], guess: Callable[[str], int | None]):
        """`guess` says which state alone may bear a name; it need not be right where none does."""
        self._size, self._write, self._guess = size, write, guess

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, place: int) -> str: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[str, ...]: ...

    def __getitem__(self, place: int | slice) -> str | tuple[str, ...]:
        chosen = range(self._size)[place]
        return tuple(map(self._write, chosen)) if isinstance(chosen, range) else self._write(chosen)

    def listed(self) -> Sequence[str]:
        """All of them at once where they are few, else themselves."""
        return self[:] if self._size <= LISTED else self

    def find(self, name: object) -> int | None:
        """The state of a name, without writing all the others; None where no state bears it."""
        if not isinstance(name, str):
            return None
        state = self._guess(name)
        return state if state is not None and 0 <= state < self._size and self._write(state) == name else None

    def __contains__(self, name: object) -> bool:
        return self.find(name) is not None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(other) == self._size and all(map(str.__eq__, self, other))

    def __hash__(self) -> int:
        return hash((self._size, self[0]))
