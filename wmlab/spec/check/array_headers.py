"""Which arrays a file holds, read from its headers alone: quick, and nothing in the file is ever executed."""

from __future__ import annotations

import csv
import io
import math
import os
import struct
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Callable
from typing import IO

from wmlab.limits import ARRAY_FILE_BYTES, ARRAY_HEADER_BYTES, ARRAYS, LINE_CHARACTERS, TABLE_BYTES, grouped, shorten
from wmlab.spec.files import open_regular, size

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
NUMBERS, TEXTS = "fiub", "U"  # kinds of types, as NumPy calls them
NUMPY_MAGIC = b"\x93NUMPY"
ZIP_MAGIC = b"PK\x03\x04"
ZIP_END, LONGEST_END, MEMBER_BYTES = b"PK\x05\x06", 22 + 65_535, 500  # the last: in the list of members, and its name
PICKLED = "it is a pickle, which runs code when it is read; save plain arrays with {writer}"
DAMAGED_ARCHIVE = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, RuntimeError, OSError),
    *(ValueError, LookupError, OverflowError, MemoryError),  # names that are no text, places before the start
)
DAMAGED_HEADER = (
    *(ValueError, TypeError, KeyError, OverflowError, MemoryError, RecursionError),
    *(SyntaxError, tokenize.TokenError),  # NumPy reads headers as literals of Python, and types as their repetitions
)


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

    with open_regular(file, ARRAY_FILE_BYTES) as stream:
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
            raise Unreadable(f"'{shorten(name)}' is of type {kind}; save it as float32 or float64")
    return shapes


def npz_shapes(file: str) -> Shapes:
    with open_regular(file, ARRAY_FILE_BYTES) as stream:
        start = stream.read(8)
        if start.startswith(NUMPY_MAGIC):
            raise Unreadable("it is one bare array; save it with numpy.savez")
        if start[:1] == b"\x80":
            raise Unreadable(PICKLED.format(writer="numpy.savez"))
        require_few_members(stream)
        try:
            with zipfile.ZipFile(stream) as archive:
                return dict(member_shape(archive, member) for member in archive.infolist())
        except Unreadable:
            raise
        except DAMAGED_ARCHIVE:
            raise Unreadable("it is no whole archive of arrays; save them with numpy.savez") from None


def require_few_members(stream: IO[bytes]) -> None:
    """Refuse an archive whose list of members is too long to be read, as its end tells."""
    length = stream.seek(0, os.SEEK_END)
    stream.seek(max(0, length - LONGEST_END))
    end = stream.read(LONGEST_END)
    at = end.rfind(ZIP_END)
    listing = int.from_bytes(end[at + 12 : at + 16], "little") if at >= 0 else 0
    stream.seek(0)
    if listing > MEMBER_BYTES * ARRAYS:
        raise Unreadable(f"it holds too many arrays; {grouped(ARRAYS)} are allowed")


def member_shape(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, kinds: str = NUMBERS
) -> tuple[str, tuple[int, ...]]:
    """The name and the shape of one array of an archive, of which no more than the header is unpacked."""
    name = member.filename.removesuffix(".npy")
    with archive.open(member) as array:
        start = array.read(12)  # magic, version, and how long the header is: two bytes in version 1, four later
        length = 10 + int.from_bytes(start[8:10], "little") if start[6:7] == b"\1" else ARRAY_HEADER_BYTES
        start += array.read(max(0, min(length, ARRAY_HEADER_BYTES) - len(start)))
    shape, itemsize = npy_header(io.BytesIO(start), shorten(name), kinds)
    claimed = itemsize * math.prod(shape)
    if claimed > member.file_size:
        what = f"its header says {size(claimed)}, and there are {size(member.file_size)}"
        raise Unreadable(f"'{shorten(name)}' is cut short: {what}")
    return name, shape


def npy_header(stream: IO[bytes], name: str, kinds: str = NUMBERS) -> tuple[tuple[int, ...], int]:
    """The shape that the header of one array says, and the bytes of a number; only plain types are taken."""
    from numpy.lib import format as npy

    try:
        version = npy.read_magic(stream)
    except ValueError:
        raise Unreadable(f"'{name}' is no array; save arrays with numpy.savez") from None
    try:
        read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of headers that Python 2 wrote, which are read all the same
            shape, _, dtype = read_header(stream)
    except DAMAGED_HEADER:
        raise Unreadable(f"the header of '{name}' cannot be read; save arrays with numpy.savez") from None
    if dtype.kind not in kinds or dtype.hasobject:
        what = "Python objects, which run code when they are read" if dtype.hasobject else "no plain numbers"
        raise Unreadable(f"'{name}' holds {what}; save plain numbers with numpy.savez")
    if any(not isinstance(length, int) or length < 0 for length in shape):
        raise Unreadable(f"the header of '{name}' cannot be read; save arrays with numpy.savez")
    return tuple(shape), dtype.itemsize


def csv_columns(file: str) -> Shapes:
    try:
        with open_regular(file, TABLE_BYTES) as stream:
            line = stream.readline(LINE_CHARACTERS + 1).decode("utf-8-sig")
        columns = [name.strip() for name in next(csv.reader(io.StringIO(line), strict=True), [])]
    except (UnicodeDecodeError, csv.Error):
        raise Unreadable("it is no table of text") from None
    if len(line) > LINE_CHARACTERS:
        raise Unreadable(f"its first line has more than {grouped(LINE_CHARACTERS)} characters")
    return {name: () for name in columns}


READERS: dict[str, Callable[[str], Shapes]] = {
    ".safetensors": safetensors_shapes,
    ".npz": npz_shapes,
    ".csv": csv_columns,
}
