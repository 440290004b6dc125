"""Several seeds in one program, spread over the devices there are."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec

from wmlab.errors import StageError


def stack(trees: Sequence[Any]) -> Any:
    """One tree whose arrays have an axis of seeds in front; StageError where the trees are not alike."""
    try:
        return jax.tree.map(lambda *leaves: jnp.stack(leaves), *trees)
    except ValueError:
        raise StageError(
            "the worlds or goals that the seeds draw are not of one shape, so the seeds cannot train together;"
            " set agent.seeds: apart"
        ) from None


def devices_for(count: int) -> int:
    """How many of the devices share `count` seeds evenly."""
    return max(number for number in range(1, min(count, jax.device_count()) + 1) if count % number == 0)


@functools.cache
def spread(
    function: Callable[..., Any], devices: int, donate: tuple[int, ...] = (), **settings: Any
) -> Callable[..., Any]:
    """`function` over a leading axis of seeds, each device with its share; no seed knows of another."""
    each = jax.vmap(functools.partial(function, **settings))
    if devices > 1:
        mesh = Mesh(np.array(jax.devices()[:devices]), ("seeds",))
        share = PartitionSpec("seeds")
        each = jax.shard_map(each, mesh=mesh, in_specs=share, out_specs=share, check_vma=False)
    return jax.jit(each, donate_argnums=donate)
