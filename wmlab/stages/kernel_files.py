"""Kernels from files of others: an array of .npz or .safetensors, or rows of text (.csv).

Shapes: S states, A actions.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from wmlab.core.finite.space import FiniteSpace
from wmlab.errors import StageError
from wmlab.limits import listed, shorten
from wmlab.stages.array_files import position_of, positions, read_arrays, records, require_memory, text_of

ARRAY = "transitions"
COLUMNS = ("state", "action", "successor", "probability")


def read_rows(file: str, files: Mapping[str, str], space: FiniteSpace) -> np.ndarray:
    """The kernel [S, A, S] that a file holds."""
    if not file.lower().endswith(".csv"):
        arrays = read_arrays(file, files)
        if ARRAY not in arrays and len(arrays) != 1:
            held = listed(arrays) or "none"
            raise StageError(f"{file}: expected an array called '{ARRAY}', or one array alone; it holds {held}")
        return np.asarray(arrays[ARRAY if ARRAY in arrays else next(iter(arrays))])
    try:
        return _from_csv(text_of(file, files), space)
    except StageError as error:
        raise StageError(f"{file}: {error}") from None


def _from_csv(content: bytes, space: FiniteSpace) -> np.ndarray:
    states, actions = positions(space.names), positions(space.actions)
    shape = (space.size, len(space.actions), space.size)
    require_memory("a table", shape)
    table = np.zeros(shape)
    seen: set[tuple[int, int, int]] = set()
    for line, said in records(content, COLUMNS):
        place = (
            position_of(said["state"], states, "state", line),
            position_of(said["action"], actions, "action", line),
            position_of(said["successor"], states, "state", line),
        )
        if place in seen:
            raise StageError(f"line {line}: {listed(said[name] for name in COLUMNS[:3])} is listed twice")
        seen.add(place)
        try:
            table[place] = float(said["probability"])
        except ValueError:
            raise StageError(f"line {line}: '{shorten(said['probability'])}' is no probability") from None
    return table
