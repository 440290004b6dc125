"""Which arrays a file holds, read from its headers alone: quick, and nothing in the file is ever executed."""

from __future__ import annotations

import csv
import io
import os
import tokenize
import zipfile
import zlib
from collections.abc import Callable
from typing import IO

# numpy and safetensors are imported where they are used: a spec that names no file of arrays does without them.

Shapes = dict[str, tuple[int, ...]]  # array: its shape; of a .csv, column: how many rows there are, unknown here

PLAIN_TYPES = (
    "BOOL",
    "U8",
    "I8",
    "U16",
    "I16",
    "F16",
    "U32",
    "I32",
    "F32",
    "U64",
    "I64",
    "F64",
)  # numpy has them
NUMPY_MAGIC = b"\x93NUMPY"
ZIP_MAGIC = b"PK\x03\x04"
PICKLED = "it is a pickle, which runs code when it is read; save plain arrays with {writer}"
DAMAGED_ARCHIVE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError)
DAMAGED_HEADER = (ValueError, TypeError, KeyError, OverflowError, MemoryError, RecursionError, tokenize.TokenError)


class Unreadable(ValueError):
    """A file that holds no arrays to be trusted; the message is fit for a user and does not name the file."""


def shapes_in(file: str) -> Shapes:
    """The arrays that a file holds, with their shapes; Unreadable where it holds none to be trusted.

    LookupError where there is no such file, or none that its name would let us read.
    """
    if os.path.isabs(file) or not os.path.isfile(file) or ending(file) not in READERS:
        raise LookupError(file)
    try:
        return READERS[ending(file)](file)
    except OSError as error:
        raise Unreadable(f"it cannot be read: {error.strerror or error}") from None


def ending(file: str) -> str:
    return os.path.splitext(file)[1].lower()


def safetensors_shapes(file: str) -> Shapes:
    from safetensors import SafetensorError, safe_open

    with open(file, "rb") as stream:
        start = stream.read(9)
    # A pickle, and what torch.save makes of it. A header of 128 bytes begins with the same byte, but its text with {.
    if start.startswith(ZIP_MAGIC) or (start[:1] == b"\x80" and start[8:] != b"{"):
        raise Unreadable(PICKLED.format(writer="safetensors"))
    try:
        with safe_open(file, framework="numpy") as archive:
            slices = {name: archive.get_slice(name) for name in archive.keys()}  # noqa: SIM118, for it is no mapping
            types = {name: str(part.get_dtype()) for name, part in slices.items()}
            shapes = {name: tuple(part.get_shape()) for name, part in slices.items()}
    except SafetensorError as error:
        if "not fully covered" in str(error):
            raise Unreadable("it is cut short: its bytes are not as many as its header says") from None
        raise Unreadable("it is no file of safetensors") from None
    for name, kind in types.items():
        if kind not in PLAIN_TYPES:
            raise Unreadable(f"'{name}' is of type {kind}; save it as float32 or float64")
    return shapes


def npz_shapes(file: str) -> Shapes:
    with open(file, "rb") as stream:
        start = stream.read(8)
        if start.startswith(NUMPY_MAGIC):
            raise Unreadable("it is one bare array; save it with numpy.savez")
        if start[:1] == b"\x80":
            raise Unreadable(PICKLED.format(writer="numpy.savez"))
        shapes: Shapes = {}
        try:
            with zipfile.ZipFile(stream) as archive:
                for member in archive.namelist():
                    name = member.removesuffix(".npy")
                    with archive.open(member) as array:
                        shapes[name] = npy_shape(array, name)
        except DAMAGED_ARCHIVE:
            raise Unreadable("it is no whole archive of arrays; save them with numpy.savez") from None
        return shapes


def npy_shape(stream: IO[bytes], name: str) -> tuple[int, ...]:
    """The shape that the header of one array says; its type must be one of plain numbers."""
    from numpy.lib import format as npy

    try:
        version = npy.read_magic(stream)
    except ValueError:
        raise Unreadable(f"'{name}' is no array; save arrays with numpy.savez") from None
    try:
        read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, _, dtype = read_header(stream)
    except DAMAGED_HEADER:
        raise Unreadable(f"the header of '{name}' cannot be read; save arrays with numpy.savez") from None
    if dtype.kind not in "fiub":
        what = "Python objects, which run code when they are read" if dtype.hasobject else "no plain numbers"
        raise Unreadable(f"'{name}' holds {what}; save plain numbers with numpy.savez")
    return tuple(shape)


def csv_columns(file: str) -> Shapes:
    try:
        with open(file, "rb") as stream:
            line = stream.readline(100_000).decode("utf-8-sig")
        columns = [name.strip() for name in next(csv.reader(io.StringIO(line), strict=True), [])]
    except (UnicodeDecodeError, csv.Error):
        raise Unreadable("it is no table of text") from None
    return {name: () for name in columns}


READERS: dict[str, Callable[[str], Shapes]] = {
    ".safetensors": safetensors_shapes,
    ".npz": npz_shapes,
    ".csv": csv_columns,
}
