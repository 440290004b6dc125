"""Kernels from files: arrays of NumPy (.npz) or rows of text (.csv). Nothing in them is ever executed.

Shapes: S states, A actions.
"""

from __future__ import annotations

import csv
import hashlib
import io
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from wmlab.errors import StageError, suggest
from wmlab.spaces import FiniteSpace

ARRAY = "transitions"
COLUMNS = ("state", "action", "successor", "probability")
NO_NUMBERS = "no archive of plain numbers; save the array with numpy.savez"
DAMAGE = (ValueError, OSError, EOFError, KeyError, RuntimeError, zipfile.BadZipFile, zlib.error)  # as np.load meets it


def read_rows(file: str, sha256: str | None, space: FiniteSpace) -> np.ndarray:
    """The table [S, A, S] that a file holds; `sha256` is what the plan saw in it."""
    try:
        content = Path(file).read_bytes()
    except OSError as error:
        raise StageError(f"{file}: {error.strerror or error}") from None
    if sha256 is not None and hashlib.sha256(content).hexdigest() != sha256:
        raise StageError(f"{file} was changed after the plan was made; run again")
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
    states, actions = _positions(space.names), _positions(space.actions)
    table = np.zeros((space.size, len(space.actions), space.size))
    seen: set[tuple[int, int, int]] = set()
    for line, said in _records(content):
        place = (
            _position(said["state"], states, "state", line),
            _position(said["action"], actions, "action", line),
            _position(said["successor"], states, "state", line),
        )
        if place in seen:
            raise StageError(f"line {line}: {said['state']}, {said['action']}, {said['successor']} is listed twice")
        seen.add(place)
        try:
            table[place] = float(said["probability"])
        except ValueError:
            raise StageError(f"line {line}: '{said['probability']}' is no probability") from None
    return table


def _records(content: bytes) -> Iterator[tuple[int, dict[str, str]]]:
    """The lines below the header, each with its number, as column: text."""
    try:
        reader = csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True)
        header = [name.strip() for name in next(reader, [])]
        if sorted(header) != sorted(COLUMNS):
            raise StageError(f"line 1: expected the columns {', '.join(COLUMNS)}, not {', '.join(header) or 'nothing'}")
        for row in reader:
            if row and len(row) != len(header):
                raise StageError(f"line {reader.line_num}: expected {len(header)} values, not {len(row)}")
            if row:
                yield reader.line_num, {name: value.strip() for name, value in zip(header, row, strict=True)}
    except (UnicodeDecodeError, csv.Error) as error:
        raise StageError(f"no table of text: {error}") from None


def _positions(names: Sequence[str]) -> dict[str, int]:
    """Where each name stands; a number is a position, unless it is itself a name."""
    return {str(position): position for position in range(len(names))} | {
        name: position for position, name in enumerate(names)
    }


def _position(said: str, known: Mapping[str, int], noun: str, line: int) -> int:
    if said not in known:
        hint = suggest(said, known)
        raise StageError(f"line {line}: no {noun} '{said}'" + (f"; {hint}" if hint else ""))
    return known[said]
