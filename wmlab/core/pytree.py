"""Records that compiled programs take as arguments: arrays are leaves, everything else is part of the program.

Two records of one class whose static fields are equal share one compiled program, whatever their arrays hold.
"""

from __future__ import annotations

import dataclasses
from typing import Any, TypeVar, dataclass_transform

import jax

T = TypeVar("T")


def static(**defaults: Any) -> Any:
    """A field that is part of the program instead of an argument to it; its value can be hashed."""
    return dataclasses.field(metadata={"static": True}, **defaults)


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field, static))
def pytree(cls: type[T]) -> type[T]:
    """A frozen dataclass that JAX takes apart into its arrays and puts together again."""
    return jax.tree_util.register_dataclass(dataclasses.dataclass(frozen=True)(cls))
