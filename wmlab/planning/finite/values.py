"""Exact values in finite models: of a policy, of the best policy, of the entropy-regularised best.

NumPy in, NumPy out, float64 all through. Small models are solved row by row as linear systems; larger ones by iteration
on lists of successors, without an S x S array, to a residual of 1e-12 of the largest value.

Shapes: R rows (reward functions), S states, A actions.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from wmlab.core.finite.kernel import Kernel
from wmlab.core.programs import exact
from wmlab.errors import StageError
from wmlab.planning.finite import bellman

SETTLED = 1e-8  # greatest Bellman residual of values that are called exact, relative to the largest of them


@exact()
def policy_values(
    kernel: Kernel, policy: np.ndarray, reward: np.ndarray, continues: np.ndarray, discount: np.ndarray
) -> np.ndarray:
    """Q^pi [R, S, A] of policies [R, S, A], for rewards and continue flags [R, S] and discounts [R]."""
    q = np.asarray(_evaluate(_model(kernel), _rows(reward, continues, discount), jnp.asarray(policy, jnp.float64)))
    return settled(q, policy, kernel, reward, continues, discount)


@exact()
def optimal_values(
    kernel: Kernel, reward: np.ndarray, continues: np.ndarray, discount: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The best policy (one-hot; of equal actions the first) and its Q, both [R, S, A]."""
    policy, q = map(np.asarray, _optimise(_model(kernel), _rows(reward, continues, discount), _sweeps(kernel.size)))
    return policy, settled(q, policy, kernel, reward, continues, discount)


@exact()
def soft_values(
    kernel: Kernel, reward: np.ndarray, continues: np.ndarray, discount: np.ndarray, temperature: float | np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The policy that is best with an entropy bonus, and its plain Q, both [R, S, A]; one temperature, or one a row."""
    warmth = jnp.broadcast_to(jnp.asarray(temperature, jnp.float64), np.shape(discount))
    policy, q = map(np.asarray, _soften(_model(kernel), _rows(reward, continues, discount), warmth))
    return policy, settled(q, policy, kernel, reward, continues, discount)


def settled(
    q: np.ndarray,
    policy: np.ndarray,
    kernel: Kernel,
    reward: np.ndarray,
    continues: np.ndarray,
    discount: np.ndarray,
) -> np.ndarray:
    """Q [R, S, A], once it is certain that it is the policy's [R, S, A]: iteration may stop short, and exact is exact.

    Rewards and continue flags are [R, S], discounts [R].
    """
    value = (policy * q).sum(axis=-1)
    residual = np.abs(kernel.expect(reward + np.asarray(discount)[:, None] * continues * value) - q).max(initial=0.0)
    scale = max(1.0, float(np.abs(q).max(initial=0.0)))
    if not residual <= SETTLED * scale:
        raise StageError(
            f"values did not settle: a Bellman residual of {residual:.1e} is left on a scale of {scale:.1e}"
        )
    return q


def _sweeps(states: int) -> int:
    """Enough for news to cross a map of so many cells."""
    return int(4 * np.sqrt(states)) + 10


def _rows(reward: np.ndarray, continues: np.ndarray, discount: np.ndarray) -> bellman.Rows:
    return bellman.Rows(
        jnp.asarray(reward, jnp.float64), jnp.asarray(continues, jnp.float64), jnp.asarray(discount, jnp.float64)
    )


def _model(kernel: Kernel) -> bellman.Model:
    if kernel.size <= bellman.DENSE_STATES:
        return bellman.DenseKernel(jnp.asarray(kernel.to_dense()))
    slots_first = (np.moveaxis(part, -1, 0) for part in (kernel.successors, kernel.probabilities))
    return bellman.KernelLists(*(jnp.asarray(part) for part in slots_first))


_evaluate = jax.jit(bellman.evaluate)
_optimise = jax.jit(bellman.optimise, static_argnums=2)
_soften = jax.jit(bellman.soften)
