"""Arrays and tables from files of others: .npz, .safetensors, or rows of text (.csv). Nothing in them is executed.

Shapes: S states, A actions, G goals.
"""

from __future__ import annotations

import csv
import hashlib
import io
import math
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BufferedReader
from typing import Any

import numpy as np
import safetensors

from wmlab.core.memory import usable_memory
from wmlab.errors import StageError, suggest
from wmlab.limits import (
    ARRAY_BYTES,
    ARRAY_FILE_BYTES,
    LINE_CHARACTERS,
    SMALL_ARRAYS_BYTES,
    TABLE_BYTES,
    listed,
    shorten,
)
from wmlab.spec.check.array_headers import DAMAGED_ARCHIVE, DAMAGED_HEADER, READERS, Unreadable, ending
from wmlab.spec.check.small_arrays import arrays_in
from wmlab.spec.files import open_regular, size

AXES = ("state", "action", "goal")
ONLY = "table"  # what the one array of a .csv is called
DAMAGE = (*DAMAGED_ARCHIVE, *DAMAGED_HEADER)  # as np.load meets it


@dataclass(frozen=True)
class FileStamp:
    """Which file was looked at, so that another one in its place is noticed without reading all of it again."""

    place: tuple[int, int]  # of the disk, and on it
    size: int
    changed: int  # in nanoseconds

    @classmethod
    def of(cls, stream: BufferedReader) -> FileStamp:
        status = os.fstat(stream.fileno())
        return cls((status.st_dev, status.st_ino), status.st_size, status.st_mtime_ns)


@dataclass(frozen=True, eq=False)
class StoredArray:
    """An array in a file, which is read when it is needed: others beside it may be huge."""

    file: str
    name: str
    shape: tuple[int, ...]
    stamp: FileStamp

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        require_memory(f"{self.file}: '{shorten(self.name)}'", self.shape)
        with opened(self.file, ARRAY_FILE_BYTES) as stream:
            if FileStamp.of(stream) != self.stamp:
                raise changed(self.file)
            try:
                return np.asarray(self.read(stream), dtype)
            except (*DAMAGE, safetensors.SafetensorError):
                raise StageError(f"{self.file}: it is damaged; write it again") from None

    def read(self, stream: BufferedReader) -> np.ndarray:
        if ending(self.file) == ".npz":
            # Objects would have to be unpickled, which runs code: NumPy refuses them, and so do we.
            with np.load(stream, allow_pickle=False) as archive:
                return np.asarray(archive[self.name])
        with safetensors.safe_open(self.file, framework="numpy") as tensors:
            return np.asarray(tensors.get_tensor(self.name))


def opened(file: str, most: int) -> BufferedReader:
    """A file that a spec names, open to be read; StageError where it cannot be."""
    try:
        return open_regular(file, most)
    except OSError as error:
        raise StageError(f"{file}: {error.strerror or error}") from None


def changed(file: str) -> StageError:
    return StageError(f"{file} was changed after the plan was made; run again")


def require_known(stream: BufferedReader, file: str, files: Mapping[str, str]) -> None:
    """StageError where a file is not as the plan saw it; `files` has the SHA-256 of each."""
    if file in files and hashlib.file_digest(stream, "sha256").hexdigest() != files[file]:
        raise changed(file)
    stream.seek(0)


def require_memory(what: str, shape: Sequence[int]) -> None:
    """StageError for an array of numbers that does not fit into memory, before any of it is read."""
    needed, most = 8 * math.prod(shape), min(ARRAY_BYTES, usable_memory())
    if needed > most:
        shown = " x ".join(map(str, shape))
        raise StageError(shorten(f"{what} of {shown} numbers needs {size(needed)}; {size(most)} are allowed", 300))


def text_of(file: str, files: Mapping[str, str]) -> bytes:
    """The bytes of a table of text, as the plan saw them."""
    with opened(file, TABLE_BYTES) as stream:
        require_known(stream, file, files)
        return stream.read()


def read_arrays(file: str, files: Mapping[str, str]) -> dict[str, StoredArray]:
    """The arrays of a .npz or .safetensors file by name; what is no array of plain numbers is refused."""
    with opened(file, ARRAY_FILE_BYTES) as stream:
        stamp = FileStamp.of(stream)
        require_known(stream, file, files)
    try:
        shapes = READERS[ending(file)](file)
    except Unreadable as error:
        raise StageError(f"{file}: {error}") from None
    except OSError as error:
        raise StageError(f"{file}: {error.strerror or error}") from None
    return {name: StoredArray(file, name, shape, stamp) for name, shape in shapes.items()}


def read_small_arrays(file: str, files: Mapping[str, str]) -> dict[str, np.ndarray]:
    """The arrays of a small .npz file by name, of numbers or of texts, as the plan saw them."""
    with opened(file, ARRAY_FILE_BYTES) as stream:
        require_known(stream, file, files)
    try:
        found = arrays_in(file)
    except (Unreadable, LookupError) as error:
        raise StageError(f"{file}: {error}") from None
    if found is None:
        raise StageError(f"{file}: more than {size(SMALL_ARRAYS_BYTES)}; save fewer rows")
    return found


def read_table(
    file: str, files: Mapping[str, str], names: Mapping[str, Sequence[str]], last: str, fill: float | None
) -> dict[str, np.ndarray]:
    """The table [S, A, G] of a .csv whose columns are state, action, goal and `last`; goals may have no column.

    `names` are those of states, actions and goals; `fill` stands for rows that are left out, where they may be.
    """
    try:
        return {ONLY: _table(text_of(file, files), names, last, fill)}
    except StageError as error:
        raise StageError(f"{file}: {error}") from None


def _table(content: bytes, names: Mapping[str, Sequence[str]], last: str, fill: float | None) -> np.ndarray:
    places = {axis: positions(names[axis]) for axis in AXES}
    sizes = {axis: len(names[axis]) for axis in AXES}
    require_memory("a table", tuple(sizes.values()))
    table = np.full([sizes[axis] for axis in AXES], np.nan)
    for line, said in records(content, (*AXES, last), optional={"goal"}):
        if "goal" not in said and sizes["goal"] > 1 and fill is None:
            raise StageError(f"line 1: there are {sizes['goal']} goals, and no column 'goal'")
        place: tuple[int | slice, ...] = tuple(
            position_of(said[axis], places[axis], axis, line) if axis in said else slice(None) for axis in AXES
        )
        if not np.isnan(table[place]).all():
            raise StageError(f"line {line}: {listed(said[axis] for axis in AXES if axis in said)} is listed twice")
        try:
            table[place] = float(said[last])
        except ValueError:
            raise StageError(f"line {line}: '{shorten(said[last])}' is no number") from None
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
        reader = csv.reader(short_lines(content.decode("utf-8-sig")), strict=True)
        header = [name.strip() for name in next(reader, [])]
        missing = {*columns} - {*header}
        if not missing <= {*optional} or len(header) != len(columns) - len(missing):
            raise StageError(f"line 1: expected the columns {', '.join(columns)}, not {listed(header) or 'nothing'}")
        for row in reader:
            if row and len(row) != len(header):
                raise StageError(f"line {reader.line_num}: expected {len(header)} values, not {len(row)}")
            if row:
                yield reader.line_num, {name: value.strip() for name, value in zip(header, row, strict=True)}
    except (UnicodeDecodeError, csv.Error) as error:
        raise StageError(f"no table of text: {error}") from None


def short_lines(text: str) -> Iterator[str]:
    """The lines of a text; one that is too long for a row of a table is refused before it is cut into columns."""
    for number, line in enumerate(io.StringIO(text, newline=""), start=1):
        if len(line) > LINE_CHARACTERS:
            raise StageError(f"line {number}: a row of {len(line)} characters; {LINE_CHARACTERS} are allowed")
        yield line


def positions(names: Sequence[str]) -> dict[str, int]:
    """Where each name stands; a number is a position, unless it is itself a name."""
    return {str(position): position for position in range(len(names))} | {
        name: position for position, name in enumerate(names)
    }


def position_of(said: str, known: Mapping[str, int], noun: str, line: int) -> int:
    if said not in known:
        hint = suggest(said, known)
        raise StageError(f"line {line}: no {noun} '{shorten(said)}'" + (f"; {hint}" if hint else ""))
    return known[said]
