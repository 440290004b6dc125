"""Files of flax.serialization.to_bytes: a tree of arrays in MessagePack, read without building anything else.

MessagePack is a format of data alone: what stands here reads the types that Flax writes, and refuses others.
"""

from __future__ import annotations

import functools
import math
import struct
from dataclasses import dataclass
from typing import IO, Any

import numpy as np

from wmlab.foreign.tensors import DEPTH, StateDict, Tensor, flattened, require_sizes
from wmlab.limits import TENSOR_NAMES, grouped, shorten
from wmlab.spec.check.array_headers import Unreadable
from wmlab.spec.files import size

ARRAY, SCALAR = 1, 3  # of the extensions that Flax has; 2 is a complex number
CHUNKED = "__msgpack_chunked_array__"
NUMBERS = {0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q"} | {
    0xD0: ">b",
    0xD1: ">h",
    0xD2: ">i",
    0xD3: ">q",
}
LENGTHS = {"str": (0xD9, ">B", ">H", ">I"), "bin": (0xC4, ">B", ">H", ">I"), "ext": (0xC7, ">B", ">H", ">I")} | {
    "list": (0xDC, ">H", ">I"),
    "map": (0xDE, ">H", ">I"),
}
SIZED = {first + place: (kind, form) for kind, (first, *forms) in LENGTHS.items() for place, form in enumerate(forms)}


@dataclass(frozen=True)
class Stretch:
    """Where bytes lie; they are read when they are asked for."""

    first: int
    length: int


class Reader:
    """Values of MessagePack, one after the other; long stretches of bytes are passed over."""

    def __init__(self, stream: IO[bytes], first: int, end: int):
        self.stream, self.end, self.seen = stream, end, 0
        stream.seek(first)

    def take(self, count: int) -> bytes:
        data = self.stream.read(count)
        if len(data) < count or self.stream.tell() > self.end:
            raise Unreadable("it is cut short, or no file of Flax")
        return data

    def number(self, form: str) -> Any:
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def value(self, depth: int = 0) -> Any:
        self.seen += 1
        if self.seen > 4 * TENSOR_NAMES or depth > DEPTH:
            raise Unreadable(f"it holds more than {grouped(4 * TENSOR_NAMES)} values, or too deep in each other")
        kind, length = self.head()
        if kind == "map":
            return dict(self.pair(depth) for _ in range(length))
        if kind == "list":
            return [self.value(depth + 1) for _ in range(length)]
        if kind == "str":
            return self.text(length)
        if kind == "bin":
            return self.stretch(length)
        if kind == "ext":
            return self.extension(length)
        return length  # a number, or None

    def head(self) -> tuple[str, Any]:
        """Of which kind the next value is, and how long; or a number itself."""
        code = self.take(1)[0]
        if code < 0x80 or code >= 0xE0:
            return "number", code if code < 0x80 else code - 256
        if code < 0xC0:
            return ("map", code & 15) if code < 0x90 else ("list", code & 15) if code < 0xA0 else ("str", code & 31)
        if 0xD4 <= code <= 0xD8:
            return "ext", 1 << (code - 0xD4)
        if code in (0xC0, 0xC2, 0xC3):
            return "number", {0xC0: None, 0xC2: False, 0xC3: True}[code]
        if code in NUMBERS:
            return "number", self.number(NUMBERS[code])
        if code in SIZED:
            kind, form = SIZED[code]
            return kind, self.number(form)
        raise Unreadable("it is no file of Flax")

    def pair(self, depth: int) -> tuple[str, Any]:
        kind, length = self.head()
        if kind == "str":
            return self.text(length), self.value(depth + 1)
        raise Unreadable("it is no file of Flax: a name is no text")

    def text(self, length: int) -> str:
        if length > 10_000:
            raise Unreadable("it is no file of Flax: a name has no end")
        try:
            return self.take(length).decode("utf-8")
        except UnicodeDecodeError:
            raise Unreadable("it is no file of Flax: a name is no text") from None

    def stretch(self, length: int) -> Stretch:
        first = self.stream.tell()
        if first + length > self.end:
            raise Unreadable("it is cut short: it has fewer bytes than it says")
        self.stream.seek(first + length)
        return Stretch(first, length)

    def extension(self, length: int) -> Packed:
        code = self.number(">b")
        if code not in (ARRAY, SCALAR):
            raise Unreadable("it holds a value that is no array of plain numbers")
        first = self.stretch(length).first
        match Reader(self.stream, first, first + length).value():
            case [[*shape], str(dtype), Stretch() as place] if all(type(side) is int and side >= 0 for side in shape):
                self.stream.seek(first + length)
                return Packed(tuple(shape), number_type(dtype), place)
        raise Unreadable("it holds an array without shape, type or numbers")


def number_type(name: str) -> np.dtype[Any]:
    if name not in ("float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint8", "uint32", "bool"):
        raise Unreadable(f"it holds an array of type '{shorten(name)}'; save it as float32")
    return np.dtype(name)


class Packed:
    """An array in the file, of which the numbers are not read yet."""

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any], place: Stretch):
        self.shape, self.dtype, self.place = shape, dtype, place
        self.bytes = math.prod(shape) * dtype.itemsize
        if self.bytes != place.length:
            raise Unreadable(f"an array is to have {size(self.bytes)}, and there are {size(place.length)}")


def flax_tensors(stream: IO[bytes], length: int) -> StateDict:
    """The arrays of a file of Flax, by the names that lead to them."""
    reader = Reader(stream, 0, length)
    tree = reader.value()
    if stream.tell() != length or not isinstance(tree, dict):
        raise Unreadable("it is no file of Flax, nor of another library that is known here")
    leaves = dict(flattened(tree))
    if any(CHUNKED in name.split(".") for name in leaves):
        raise Unreadable("it holds an array of more than a gigabyte, which Flax cuts into pieces: no small network's")
    packed = {name: leaf for name, leaf in leaves.items() if isinstance(leaf, Packed)}
    require_sizes({name: (each.shape, each.bytes) for name, each in packed.items()}, length)
    tensors = {name: Tensor(each.shape, functools.partial(numbers, stream, each)) for name, each in packed.items()}
    return StateDict(tensors, "flax", {})


def numbers(stream: IO[bytes], packed: Packed) -> np.ndarray:
    stream.seek(packed.place.first)
    return np.frombuffer(stream.read(packed.place.length), packed.dtype.newbyteorder("<")).reshape(packed.shape)
