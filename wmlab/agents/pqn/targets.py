"""What values are drawn towards.

A goal that is reached ends its episode, and nothing follows; an episode cut by its time limit goes on in the
mind: its last target looks ahead from the true successor. The continue flag is the goal's, never the clock's.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array

from wmlab.agents.learning import Course
from wmlab.agents.pqn.options import Options


def state_value(options: Course, values: Array) -> Array:
    """The value of a state under the learnt policy, from those of its actions [..., A]."""
    return values.max(axis=-1) if options.policy == "greedy" else values.mean(axis=-1)


def one_step(discount: float, reward: Array, continues: Array, after: Array) -> Array:
    """r + γ D V(s')."""
    return reward + discount * continues * after


def lambda_returns(
    options: Options, reward: Array, continues: Array, after: Array, cut: Array, pursued: Array
) -> Array:
    """λ-returns [T, N, G] of rewards, continue flags and values of true successors, each [T, N, G].

    A return runs on only within its episode (`cut` [T, N]), and only for the goal pursued there (`pursued`
    [T, N, G]): for any other goal the behaviour says nothing of what its own policy would have done.
    """
    trace = options.trace * pursued * ~cut[..., None]

    def back(later: Array, step: tuple[Array, ...]) -> tuple[Array, Array]:
        reward, continues, after, trace = step
        target = one_step(options.discount, reward, continues, trace * later + (1 - trace) * after)
        return target, target

    trace = trace.at[-1].set(0.0)  # nothing is known beyond the rollout
    _, targets = jax.lax.scan(back, jnp.zeros_like(after[0]), (reward, continues, after, trace), reverse=True)
    return targets
