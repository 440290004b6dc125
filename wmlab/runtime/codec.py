"""A result as files: `arrays.safetensors` and `data.json`. The same result gives the same bytes.

JSON has no NaN and no infinity. They are written as `{"$float": "nan"}`, `{"$float": "inf"}` and `{"$float": "-inf"}`;
a record of the user that looks like one of these is written inside `{"$record": …}`. All other floats are written as
Python writes them, which reads back to the same bits.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy

from wmlab.runtime.result import Result

ARRAYS = "arrays.safetensors"
DATA = "data.json"
_FLOAT = "$float"
_RECORD = "$record"
_DTYPES = {"bool", "complex64"} | {
    f"{sort}{bits}" for sort in ("int", "uint", "float") for bits in (8, 16, 32, 64) if (sort, bits) != ("float", 8)
}


class Damaged(Exception):
    """What is stored is not what was written; the message says in what way."""


def encode(result: Result) -> dict[str, bytes]:
    """The files of a result, by name."""
    arrays = {name: _plain(name, result.arrays[name]) for name in sorted(result.arrays)}
    return {ARRAYS: safetensors.numpy.save(arrays), DATA: encode_data(result.data)}


def decode(files: Mapping[str, bytes]) -> Result:
    """The result that the files hold; its arrays are read-only. Damaged where they hold none."""
    return Result(decode_arrays(file_of(files, ARRAYS)), decode_data(file_of(files, DATA)))


def file_of(files: Mapping[str, bytes], name: str) -> bytes:
    """One file of a result. Damaged where it is not among them."""
    if name not in files:
        raise Damaged(f"it has no {name}")
    return files[name]


def decode_arrays(content: bytes) -> dict[str, np.ndarray]:
    """The arrays of `arrays.safetensors`, in the order of their names, read-only. Damaged where there are none."""
    try:
        arrays = safetensors.numpy.load(content)
    except (safetensors.SafetensorError, ValueError, KeyError, TypeError, AttributeError):
        raise Damaged(f"{ARRAYS} holds no arrays") from None
    for array in arrays.values():
        array.setflags(write=False)
    return {name: arrays[name] for name in sorted(arrays)}


def encode_data(data: Mapping[str, Any]) -> bytes:
    """The bytes of `data.json`."""
    tree = _to_json(data, "data")
    return (json.dumps(tree, sort_keys=True, separators=(",", ":"), allow_nan=False) + "\n").encode()


def decode_data(content: bytes) -> dict[str, Any]:
    """The record of `data.json`. Damaged where it is none."""
    try:
        data = _from_json(json.loads(content))
    except (ValueError, TypeError, AttributeError, RecursionError):
        raise Damaged(f"{DATA} cannot be read") from None
    if not isinstance(data, dict):
        raise Damaged(f"{DATA} is no record")
    return data


def _plain(name: str, value: Any) -> np.ndarray:
    # The file is a copy of memory: it must be dense, in C order and little-endian. (ascontiguousarray would give
    # 0-d arrays a dimension.)
    array = np.asarray(value)
    if array.dtype.name not in _DTYPES:
        raise TypeError(f"array '{name}' has elements of type {array.dtype}; results hold numbers and booleans")
    if name == "__metadata__":
        raise ValueError("an array cannot be called '__metadata__': the file format uses that name")
    return np.array(array, dtype=array.dtype.newbyteorder("<"), order="C", copy=None)


def _to_json(value: Any, where: str) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {_FLOAT: "nan" if math.isnan(value) else repr(value)}
    if isinstance(value, Mapping):
        for name in value:
            if not isinstance(name, str):
                raise TypeError(f"{where} has the name {name!r}; names in a result's data are strings")
        record = {name: _to_json(item, f"{where}.{name}") for name, item in value.items()}
        return {_RECORD: record} if record.keys() in ({_FLOAT}, {_RECORD}) else record
    if isinstance(value, list | tuple):
        return [_to_json(item, f"{where}[{index}]") for index, item in enumerate(value)]
    raise TypeError(f"{where} is of type {type(value).__name__}; a result's data is JSON (arrays go into `arrays`)")


def _from_json(value: Any) -> Any:
    if isinstance(value, list):
        return [_from_json(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {_FLOAT}:
        return float(value[_FLOAT])
    if value.keys() == {_RECORD}:
        value = value[_RECORD]
    return {name: _from_json(item) for name, item in value.items()}
