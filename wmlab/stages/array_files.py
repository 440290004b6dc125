"""Kernels and values from files of others: .npz, .safetensors, or rows of text (.csv). Nothing in them is executed.

Shapes: S states, A actions, G goals.
"""

from __future__ import annotations

import csv
import hashlib
import io
import zipfile
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import safetensors
import safetensors.numpy

from wmlab.core.finite.space import FiniteSpace
from wmlab.errors import StageError, suggest
from wmlab.spec.check.array_headers import READERS, Unreadable, ending

Arrays = dict[str, np.ndarray]
AXES = ("state", "action", "goal")
ARRAY = "transitions"
COLUMNS = ("state", "action", "successor", "probability")
NO_NUMBERS = "no archive of plain numbers; save the array with numpy.savez"
ONLY = "table"  # what the one array of a .csv is called
DAMAGE = (ValueError, OSError, EOFError, KeyError, RuntimeError, zipfile.BadZipFile, zlib.error)  # as np.load meets it


def content_of(file: str, files: Mapping[str, str]) -> bytes:
    """The bytes of a file that a spec names, as the plan saw them; `files` has the SHA-256 of each."""
    try:
        content = Path(file).read_bytes()
    except OSError as error:
        raise StageError(f"{file}: {error.strerror or error}") from None
    if file in files and hashlib.sha256(content).hexdigest() != files[file]:
        raise StageError(f"{file} was changed after the plan was made; run again")
    return content


def read_arrays(file: str, files: Mapping[str, str]) -> Arrays:
    """Every array of a .npz or .safetensors file, by name."""
    content = content_of(file, files)
    try:
        READERS[ending(file)](file)  # its headers first: what is no array of numbers is refused there
        if ending(file) == ".npz":
            with np.load(io.BytesIO(content), allow_pickle=False) as archive:
                return {name: archive[name] for name in archive.files}
        return dict(safetensors.numpy.load(content))
    except Unreadable as error:
        raise StageError(f"{file}: {error}") from None
    except (*DAMAGE, safetensors.SafetensorError):
        raise StageError(f"{file}: it is damaged; write it again") from None


def read_table(
    file: str, files: Mapping[str, str], names: Mapping[str, Sequence[str]], last: str, fill: float | None
) -> Arrays:
    """The table [S, A, G] of a .csv whose columns are state, action, goal and `last`; goals may have no column.

    `names` are those of states, actions and goals; `fill` stands for rows that are left out, where they may be.
    """
    try:
        return {ONLY: _table(content_of(file, files), names, last, fill)}
    except StageError as error:
        raise StageError(f"{file}: {error}") from None


def _table(content: bytes, names: Mapping[str, Sequence[str]], last: str, fill: float | None) -> np.ndarray:
    places = {axis: positions(names[axis]) for axis in AXES}
    sizes = {axis: len(names[axis]) for axis in AXES}
    table = np.full([sizes[axis] for axis in AXES], np.nan)
    for line, said in records(content, (*AXES, last), optional={"goal"}):
        if "goal" not in said and sizes["goal"] > 1 and fill is None:
            raise StageError(f"line 1: there are {sizes['goal']} goals, and no column 'goal'")
        place: tuple[int | slice, ...] = tuple(
            position_of(said[axis], places[axis], axis, line) if axis in said else slice(None) for axis in AXES
        )
        if not np.isnan(table[place]).all():
            raise StageError(f"line {line}: {', '.join(said[axis] for axis in AXES if axis in said)} is listed twice")
        try:
            table[place] = float(said[last])
        except ValueError:
            raise StageError(f"line {line}: '{said[last]}' is no number") from None
        if not np.isfinite(table[place]).all():
            raise StageError(f"line {line}: the {last} is {said[last]}")
    missing = np.argwhere(np.isnan(table))
    if missing.size and fill is None:
        place_of = ", ".join(str(names[axis][at]) for axis, at in zip(AXES, missing[0], strict=True))
        raise StageError(f"nothing said about {place_of}" + (f" and {len(missing) - 1} more" * (len(missing) > 1)))
    return table if fill is None else np.where(np.isnan(table), fill, table)


def records(
    content: bytes, columns: Sequence[str], optional: Collection[str] = ()
) -> Iterator[tuple[int, dict[str, str]]]:
    """The lines below the header, each with its number, as column: text; the columns may be in any order."""
    try:
        reader = csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True)
        header = [name.strip() for name in next(reader, [])]
        missing = {*columns} - {*header}
        if not missing <= {*optional} or len(header) != len(columns) - len(missing):
            raise StageError(f"line 1: expected the columns {', '.join(columns)}, not {', '.join(header) or 'nothing'}")
        for row in reader:
            if row and len(row) != len(header):
                raise StageError(f"line {reader.line_num}: expected {len(header)} values, not {len(row)}")
            if row:
                yield reader.line_num, {name: value.strip() for name, value in zip(header, row, strict=True)}
    except (UnicodeDecodeError, csv.Error) as error:
        raise StageError(f"no table of text: {error}") from None


def positions(names: Sequence[str]) -> dict[str, int]:
    """Where each name stands; a number is a position, unless it is itself a name."""
    return {str(position): position for position in range(len(names))} | {
        name: position for position, name in enumerate(names)
    }


def position_of(said: str, known: Mapping[str, int], noun: str, line: int) -> int:
    if said not in known:
        hint = suggest(said, known)
        raise StageError(f"line {line}: no {noun} '{said}'" + (f"; {hint}" if hint else ""))
    return known[said]


# --- kernels ---------------------------------------------------------------------------------------------------


def read_rows(file: str, files: Mapping[str, str], space: FiniteSpace) -> np.ndarray:
    """The kernel [S, A, S] that a file holds."""
    content = content_of(file, files)
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
