"""What compiled programs take, and the precision that they work in.

A record is an argument: its arrays are leaves, everything else is part of the program. Two records of one class whose
static fields are equal share one compiled program, whatever their arrays hold.

One precision policy: networks in float32, exact finite work in float64. Everything that solves for values, ranks or
kernels of a finite world runs inside `exact`; nothing else in the project switches precision.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar, dataclass_transform

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import subjaxprs

from wmlab.core.memory import BATCH_BYTES

T = TypeVar("T")


def static(**defaults: Any) -> Any:
    """A field that is part of the program instead of an argument to it; its value can be hashed."""
    return dataclasses.field(metadata={"static": True}, **defaults)


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field, static))
def pytree(cls: type[T]) -> type[T]:
    """A frozen dataclass that JAX takes apart into its arrays and puts together again."""
    return jax.tree_util.register_dataclass(dataclasses.dataclass(frozen=True)(cls))


@contextmanager
def exact() -> Iterator[None]:
    """Float64 for the JAX work inside: `with exact():`, or `@exact()` on a function."""
    with jax.enable_x64(True):
        yield


def named_leaves(tree: Any, host: Callable[[Any], np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays of a tree by name."""
    leaves = jax.tree_util.tree_flatten_with_path(tree)[0]
    return {_name(path): host(leaf) for path, leaf in leaves}


def tree_of(shape: Any, arrays: Mapping[str, np.ndarray], prefix: str, device: Callable[[np.ndarray], Any]) -> Any:
    """The tree of that shape whose arrays have these names, `prefix` before each."""
    return jax.tree_util.tree_map_with_path(lambda path, _: device(arrays[prefix + _name(path)]), shape)


def _name(path: Any) -> str:
    return jax.tree_util.keystr(path, simple=True, separator="/")


# --- batches that fit into memory ------------------------------------------------------------------------------------


def map_in_batches(function: Callable[[Any], Any], rows: Any, most: int) -> Any:
    """`function` of each of `rows`, arrays [N, ...], as many at a time as fit into a batch, and at most `most`."""
    count = jax.tree.leaves(rows)[0].shape[0]

    def batch_of(size: int) -> Any:
        several = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct((min(size, count), *leaf.shape[1:]), leaf.dtype), rows)
        return jax.make_jaxpr(jax.vmap(function))(several)

    return jax.lax.map(function, rows, batch_size=fitting_batch(batch_of, most))


def map_in_chunks(function: Callable[[Any], Any], rows: Any) -> Any:
    """`function` of all rows, an array [N, ...], at once where that fits into a batch; else of as many as do."""
    count = rows.shape[0]

    def chunk_of(size: int) -> Any:
        return jax.make_jaxpr(function)(jax.ShapeDtypeStruct((size, *rows.shape[1:]), rows.dtype))

    size = fitting_batch(chunk_of, count)
    if size == count:
        return function(rows)
    padded = jnp.pad(rows, ((0, -count % size), *[(0, 0)] * (rows.ndim - 1)), mode="edge")
    chunks = jax.lax.map(function, padded.reshape(-1, size, *rows.shape[1:]))
    return chunks.reshape(-1, *chunks.shape[2:])[:count]


def fitting_parts(program: Callable[[int], Any], count: int) -> int:
    """The least number of equal parts of a batch of `count` rows, each of whose programs has no array too large."""
    parts = [part for part in range(1, count + 1) if count % part == 0]
    return next((part for part in parts if largest_array(program(count // part).jaxpr) <= BATCH_BYTES), count)


def fitting_batch(program: Callable[[int], Any], most: int) -> int:
    """The greatest of `most`, a half of it, a quarter … whose program, a jaxpr, has no array that is too large."""
    size = most
    while size > 1 and largest_array(program(size).jaxpr) > BATCH_BYTES:
        size //= 2
    return size


def largest_array(jaxpr: Any) -> int:
    """Bytes of the largest array that a program makes on its way, those in its loops and branches included."""
    own = (variable.aval for step in jaxpr.eqns for variable in step.outvars)
    sizes = [shape.size * shape.dtype.itemsize for shape in own if hasattr(shape, "dtype")]
    return max([*sizes, *map(largest_array, subjaxprs(jaxpr))], default=0)
