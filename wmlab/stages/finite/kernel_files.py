"""Kernels from files: arrays of NumPy (.npz) or rows of text (.csv). Nothing in them is ever executed.

Shapes: S states, A actions.
"""

from __future__ import annotations

import io

import numpy as np

from wmlab.core.finite.space import FiniteSpace
from wmlab.errors import StageError
from wmlab.stages.array_files import DAMAGE, content_of, position_of, positions, records

ARRAY = "transitions"
COLUMNS = ("state", "action", "successor", "probability")
NO_NUMBERS = "no archive of plain numbers; save the array with numpy.savez"


def read_rows(file: str, sha256: str | None, space: FiniteSpace) -> np.ndarray:
    """The table [S, A, S] that a file holds; `sha256` is what the plan saw in it."""
    content = content_of({"file": file, "sha256": sha256})
    try:
        return _from_csv(content, space) if file.lower().endswith(".csv") else _from_npz(content)
    except StageError as error:
        raise StageError(f"{file}: {error}") from None


def _from_npz(content: bytes) -> np.ndarray:
    if content.startswith(b"\x93NUMPY"):
        raise StageError("one bare array; save it with numpy.savez")
    try:
        # Objects would have to be unpickled, which runs code: NumPy refuses them, and so do we.
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            names = list(archive)
            if ARRAY not in names and len(names) != 1:
                held = ", ".join(names) or "none"
                raise StageError(f"expected an array called '{ARRAY}', or one array alone; it holds {held}")
            table = archive[ARRAY if ARRAY in names else names[0]]
    except DAMAGE:
        raise StageError(NO_NUMBERS) from None
    if not isinstance(table, np.ndarray) or table.dtype.kind not in "fiub":
        raise StageError(NO_NUMBERS)
    return table


def _from_csv(content: bytes, space: FiniteSpace) -> np.ndarray:
    states, actions = positions(space.names), positions(space.actions)
    table = np.zeros((space.size, len(space.actions), space.size))
    seen: set[tuple[int, int, int]] = set()
    for line, said in records(content, COLUMNS):
        place = (
            position_of(said["state"], states, "state", line),
            position_of(said["action"], actions, "action", line),
            position_of(said["successor"], states, "state", line),
        )
        if place in seen:
            raise StageError(f"line {line}: {said['state']}, {said['action']}, {said['successor']} is listed twice")
        seen.add(place)
        try:
            table[place] = float(said["probability"])
        except ValueError:
            raise StageError(f"line {line}: '{said['probability']}' is no probability") from None
    return table
