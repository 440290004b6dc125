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
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal, subjaxprs

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
    """`function` of all rows, arrays [N, ...], at once where that fits into a batch; else of as many as do."""
    count = jax.tree.leaves(rows)[0].shape[0]

    def chunk_of(size: int) -> Any:
        shapes = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct((size, *leaf.shape[1:]), leaf.dtype), rows)
        return jax.make_jaxpr(function)(shapes)

    size = fitting_batch(chunk_of, count)
    if size == count:
        return function(rows)
    parts = -(-count // size)

    def cut(leaf: Any) -> Any:
        padded = jnp.pad(leaf, ((0, parts * size - count), *[(0, 0)] * (leaf.ndim - 1)), mode="edge")
        return padded.reshape(parts, size, *leaf.shape[1:])

    chunks = jax.lax.map(function, jax.tree.map(cut, rows))
    return chunks.reshape(parts * size, *chunks.shape[2:])[:count]


def fitting_parts(program: Callable[[int], Any], count: int, together: int | None = None) -> int:
    """The least number of equal parts of a batch of `count` rows, each of whose programs has no array too large.

    together: bytes that a part's arrays may come to, where that counts
    """

    def fits(jaxpr: Any) -> bool:
        return largest_array(jaxpr) <= BATCH_BYTES and (together is None or held_at_once(jaxpr) <= together)

    parts = [part for part in range(1, count + 1) if count % part == 0]
    return next((part for part in parts if fits(program(count // part).jaxpr)), count)


def fitting_batch(program: Callable[[int], Any], most: int) -> int:
    """The greatest of `most`, a half of it, a quarter … whose program, a jaxpr, has no array that is too large."""
    size = most
    while size > 1 and largest_array(program(size).jaxpr) > BATCH_BYTES:
        size //= 2
    return size


def largest_array(jaxpr: Any) -> int:
    """Bytes of the largest array that a program makes on its way, those in its loops and branches included."""
    own = (_bytes(variable) for step in jaxpr.eqns for variable in step.outvars)
    return max([*own, *map(largest_array, subjaxprs(jaxpr))], default=0)


def held_at_once(jaxpr: Any) -> int:
    """Bytes of arrays that a program holds together at most, if its steps are done in the order that they stand in.

    A step's loop or branches count while it is done. What a gradient needs of its way there is held until then; a
    condition counts as the numbers that it was made of, which a compiler may keep in its place.
    """
    steps = jaxpr.eqns
    last = {variable: place for place, step in enumerate(steps) for variable in _variables(step.invars)}
    last |= dict.fromkeys(_variables(jaxpr.outvars), len(steps))
    held, most, alive = 0, 0, set[Any]()
    for place, step in enumerate(steps):
        inside = max(map(held_at_once, _inner(step)), default=0)
        most = max(most, held + sum(map(_kept, step.outvars)) + inside)
        made = {variable for variable in step.outvars if variable in last}
        done = {variable for variable in _variables(step.invars) if variable in alive and last[variable] == place}
        held += sum(map(_kept, made)) - sum(map(_kept, done))
        alive = (alive | made) - done
    return most


def _bytes(variable: Any) -> int:
    shape = variable.aval
    return int(shape.size * shape.dtype.itemsize) if hasattr(shape, "dtype") else 0


def _kept(variable: Any) -> int:
    return _bytes(variable) * (4 if getattr(variable.aval, "dtype", None) == np.bool_ else 1)


def _variables(atoms: Any) -> list[Any]:
    """Without constants that are written into a program."""
    return [atom for atom in atoms if not isinstance(atom, Literal)]


def _inner(step: Any) -> list[Any]:
    """The programs of a step's loop or branches."""
    leaves = jax.tree.leaves(list(step.params.values()), is_leaf=lambda leaf: isinstance(leaf, ClosedJaxpr | Jaxpr))
    return [
        leaf.jaxpr if isinstance(leaf, ClosedJaxpr) else leaf
        for leaf in leaves
        if isinstance(leaf, ClosedJaxpr | Jaxpr)
    ]
