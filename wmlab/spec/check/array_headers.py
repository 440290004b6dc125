"""What a file of arrays holds, read from its headers alone: quick, and nothing in the file is ever executed."""

from __future__ import annotations

import ast
import csv
import io
import json
import os
import struct
import zipfile
import zlib
from collections.abc import Callable
from typing import IO

Shapes = dict[str, tuple[int, ...]]  # array: its shape; of a .csv, column: how many rows there are, unknown here

MOST_HEADER = 100_000_000  # bytes, as the format of safetensors has it
NUMPY_MAGIC = b"\x93NUMPY"
SIZES = {"BOOL": 1, "U8": 1, "I8": 1, "U16": 2, "I16": 2, "F16": 2, "U32": 4, "I32": 4, "F32": 4, "U64": 8, "I64": 8,
         "F64": 8}  # fmt: skip
PICKLED = "it is a pickle, which runs code when it is read; save plain arrays with {writer}"


class Unreadable(ValueError):
    """A file that holds no arrays to be trusted; the message is fit for a user and does not name the file."""


def shapes_in(file: str) -> Shapes:
    """The arrays that a file holds, with their shapes; Unreadable where it holds none to be trusted.

    LookupError where there is no such file, or none that its name would let us read.
    """
    if os.path.isabs(file) or not os.path.isfile(file) or ending(file) not in READERS:
        raise LookupError(file)
    try:
        with open(file, "rb") as stream:
            return READERS[ending(file)](stream)
    except OSError as error:
        raise Unreadable(f"it cannot be read: {error.strerror or error}") from None


def ending(file: str) -> str:
    return os.path.splitext(file)[1].lower()


def of_safetensors(stream: IO[bytes]) -> Shapes:
    start, opening = stream.read(8), stream.read(1)
    # A pickle, and what torch.save makes of it. A header of 128 bytes begins with the same byte, but its text with {.
    if start[:4] == b"PK\x03\x04" or (start[:1] == b"\x80" and opening != b"{"):
        raise Unreadable(PICKLED.format(writer="safetensors"))
    length = struct.unpack("<Q", start)[0] if len(start) == 8 else 0
    size = stream.seek(0, os.SEEK_END)
    if not 2 <= length <= min(MOST_HEADER, size):
        raise Unreadable("it is no file of safetensors")
    if 8 + length > size:
        raise Unreadable("it is cut short: its header is not whole")
    stream.seek(8)
    try:
        header = json.loads(stream.read(length).decode("utf-8"))
        entries = {name: entry for name, entry in header.items() if name != "__metadata__"}
        found = {name: tuple(int(part) for part in entry["shape"]) for name, entry in entries.items()}
        ends = [int(entry["data_offsets"][1]) for entry in entries.values()]
        kinds = {name: str(entry["dtype"]) for name, entry in entries.items()}
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError, RecursionError):
        raise Unreadable("it is no file of safetensors") from None
    for name, kind in kinds.items():
        if kind not in SIZES:
            raise Unreadable(f"'{name}' is of type {kind}; save it as float32 or float64")
    if 8 + length + max(ends, default=0) > size:
        raise Unreadable(f"it is cut short: {size} bytes of {8 + length + max(ends)}")
    return found


def of_npz(stream: IO[bytes]) -> Shapes:
    start = stream.read(8)
    stream.seek(0)
    if start.startswith(NUMPY_MAGIC):
        raise Unreadable("it is one bare array; save it with numpy.savez")
    if start[:1] == b"\x80":
        raise Unreadable(PICKLED.format(writer="numpy.savez"))
    found: Shapes = {}
    try:
        with zipfile.ZipFile(stream) as archive:
            for member in archive.namelist():
                with archive.open(member) as array:
                    found[member.removesuffix(".npy")] = npy_shape(array, member.removesuffix(".npy"))
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError):
        raise Unreadable("it is no whole archive of arrays; save them with numpy.savez") from None
    return found


def npy_shape(stream: IO[bytes], name: str) -> tuple[int, ...]:
    """The shape that the header of one array says; its type must be one of plain numbers."""
    start = stream.read(8)
    if not start.startswith(NUMPY_MAGIC) or len(start) < 8:
        raise Unreadable(f"'{name}' is no array; save arrays with numpy.savez")
    wide = start[6] >= 2
    try:
        (length,) = struct.unpack("<I" if wide else "<H", stream.read(4 if wide else 2))
        header = ast.literal_eval(stream.read(min(length, 10_000)).decode("latin-1").strip())
        kind, shape = header["descr"], tuple(int(part) for part in header["shape"])
    except (struct.error, ValueError, KeyError, TypeError, SyntaxError, OverflowError, MemoryError, RecursionError):
        raise Unreadable(f"the header of '{name}' cannot be read; save arrays with numpy.savez") from None
    if not isinstance(kind, str) or kind[1:2] not in ("f", "i", "u", "b"):
        objects = isinstance(kind, str) and kind.endswith("O")
        what = "Python objects, which run code when they are read" if objects else "no plain numbers"
        raise Unreadable(f"'{name}' holds {what}; save plain numbers with numpy.savez")
    return shape


def of_csv(stream: IO[bytes]) -> Shapes:
    try:
        line = stream.readline(100_000).decode("utf-8-sig")
        columns = [name.strip() for name in next(csv.reader(io.StringIO(line), strict=True), [])]
    except (UnicodeDecodeError, csv.Error):
        raise Unreadable("it is no table of text") from None
    return {name: () for name in columns}


READERS: dict[str, Callable[[IO[bytes]], Shapes]] = {
    ".safetensors": of_safetensors,
    ".npz": of_npz,
    ".csv": of_csv,
}
