"""The readers that are fuzzed: of YAML, of expressions and of files of arrays. They refuse in words, or read."""

from __future__ import annotations

import contextlib
import io
import math
import os
from pathlib import Path

import numpy as np
from safetensors.numpy import save

from wmlab import expressions
from wmlab.core.finite.space import FiniteSpace
from wmlab.errors import SpecErrors, StageError
from wmlab.spec.check.array_headers import Unreadable, shapes_in
from wmlab.spec.yaml.load import load_bytes
from wmlab.stages.array_files import read_arrays, read_table
from wmlab.stages.kernel_files import read_rows

NAMES = {"state": ("s0", "s1"), "action": ("a0", "a1"), "goal": ("g0",)}
ARRAYS = {"q": np.arange(24.0).reshape(2, 3, 4), "policy": np.ones((2, 3), np.float32)}


def _npz() -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **ARRAYS)
    return stream.getvalue()


SOUND_FILES = {
    "npz": _npz(),
    "safetensors": save(ARRAYS),
    "csv": b"state,action,value\n0,0,1.5\n1,0,2.5\n0,1,1\n1,1,2\n",
    "rows.csv": b"state,action,successor,probability\n0,0,1,1\n1,0,0,1\n0,1,1,1\n1,1,0,1\n",
}


def read_yaml(content: bytes) -> None:
    """A tree of plain data, or mistakes with places."""
    try:
        load_bytes(content, "fuzzed.yaml").plain()
    except SpecErrors as refused:
        assert refused.errors and all(error.message and error.excerpt() is not None for error in refused.errors)


def read_expression(source: str) -> None:
    """A finite number, or a reason why it is none."""
    try:
        parsed = expressions.parse(source)
        expressions.problems(parsed, {"x": "number", "speed": "number"})
        assert expressions.parse(expressions.to_text(parsed)) == parsed
        assert math.isfinite(expressions.constant(source, {"x": 1.0, "speed": 2.0}))
    except expressions.ExpressionError as refused:
        assert refused.message and 0 <= refused.offset <= len(source)


def read_arrays_of(path: Path, content: bytes) -> None:
    """Numbers, or why there are none; as `validate` looks at a file, and as a stage reads it."""
    path.write_bytes(content)
    with contextlib.suppress(Unreadable):
        shapes_in(os.path.relpath(path))
    try:
        if path.name.endswith("rows.csv"):
            read_rows(str(path), {}, FiniteSpace.named(2, 2))
        elif path.suffix == ".csv":
            read_table(str(path), {}, NAMES, "value", 0.0)
        else:
            for name, array in read_arrays(str(path), {}).items():
                assert np.asarray(array).shape == array.shape, name
    except StageError as refused:
        assert len(str(refused)) <= 1_000
