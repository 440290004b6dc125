"""Exact values and plans in finite models: of a policy, of the best policy, of the entropy-regularised best.

NumPy in, NumPy out, float64 all through. Small models are solved as linear systems; larger ones that are flat, as maps
are, by sparse factors; all others by iteration on lists of successors, without an S x S array, to a residual of 1e-12
of the largest value.

Shapes: R rows (reward functions), T tasks, S states, A actions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from wmlab.core.finite.kernel import Kernel
from wmlab.core.programs import exact
from wmlab.errors import StageError
from wmlab.planning.finite import bellman, dense, direct

SETTLED = 1e-8  # greatest Bellman residual of values that are called exact, relative to the largest of them


@exact()
def policy_values(
    kernel: Kernel, policy: np.ndarray, reward: np.ndarray, continues: np.ndarray, discount: np.ndarray
) -> np.ndarray:
    """Q^pi [R, S, A] of policies [R, S, A], for rewards and continue flags [R, S] and discounts [R]."""
    world = direct.flat(kernel)
    if kernel.size <= dense.STATES:
        q = dense.evaluate(_small(kernel, reward, continues, discount), policy)
    elif world is not None:
        q = direct.policy_values(world, policy, reward, continues, discount)
    else:
        q = np.asarray(_evaluate(_model(kernel), _rows(reward, continues, discount), jnp.asarray(policy, jnp.float64)))
    return settled(q, policy, kernel, reward, continues, discount)


@exact()
def optimal_values(
    kernel: Kernel, reward: np.ndarray, continues: np.ndarray, discount: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The best policy (one-hot; of equal actions the first) and its Q, both [R, S, A]."""
    world = direct.flat(kernel)
    if kernel.size <= dense.STATES:
        policy, q = dense.optimise(_small(kernel, reward, continues, discount))
    elif world is not None:
        policy, q = direct.optimal_values(world, reward, continues, discount)
    else:
        sweeps = int(4 * np.sqrt(kernel.size)) + 10  # enough for news to cross a map of so many cells
        policy, q = map(np.asarray, _optimise(_model(kernel), _rows(reward, continues, discount), sweeps))
    return policy, settled(q, policy, kernel, reward, continues, discount)


@exact()
def soft_values(
    kernel: Kernel, reward: np.ndarray, continues: np.ndarray, discount: np.ndarray, temperature: float | np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The policy that is best with an entropy bonus, and its plain Q, both [R, S, A]; one temperature, or one a row."""
    warmth = np.broadcast_to(np.asarray(temperature, float), np.shape(discount))
    if kernel.size <= dense.STATES:
        policy, q = dense.soften(_small(kernel, reward, continues, discount), warmth)
    else:
        policy, q = map(np.asarray, _soften(_model(kernel), _rows(reward, continues, discount), jnp.asarray(warmth)))
    return policy, settled(q, policy, kernel, reward, continues, discount)


def settled(
    q: np.ndarray, policy: np.ndarray, kernel: Kernel, reward: np.ndarray, continues: np.ndarray, discount: np.ndarray
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


def _small(kernel: Kernel, reward: np.ndarray, continues: np.ndarray, discount: np.ndarray) -> dense.Rows:
    ahead = np.asarray(discount, float)[:, None] * continues
    return dense.Rows(kernel.to_dense(), np.asarray(reward, float), ahead)


def _rows(reward: np.ndarray, continues: np.ndarray, discount: np.ndarray) -> bellman.Rows:
    return bellman.Rows(
        jnp.asarray(reward, jnp.float64), jnp.asarray(continues, jnp.float64), jnp.asarray(discount, jnp.float64)
    )


def _model(kernel: Kernel) -> bellman.KernelLists:
    slots_first = (np.moveaxis(part, -1, 0) for part in (kernel.successors, kernel.probabilities))
    return bellman.KernelLists(*(jnp.asarray(part) for part in slots_first))


_evaluate = jax.jit(bellman.evaluate)
_optimise = jax.jit(bellman.optimise, static_argnums=2)
_soften = jax.jit(bellman.soften)


# --- plans: reach some states, keep out of others --------------------------------------------------------------------
# Arriving in a state to reach pays 1 and ends the episode; entering one to avoid ends it and pays nothing.
# The model may be an extracted pseudo-world: planning is done in its clipped kernel (negative probabilities become 0,
# rows are divided by their sums), which leaves a true kernel as it is.


@dataclass(frozen=True, eq=False)
class Tasks:
    """What to reach and what to avoid, for several goals at once."""

    reach: np.ndarray  # bool [T, S]
    avoid: np.ndarray  # bool [T, S]
    discount: float

    @classmethod
    def of(cls, size: int, reach: Sequence[Sequence[int]], avoid: Sequence[Sequence[int]], discount: float) -> Tasks:
        """Tasks from lists of states, one list per task."""
        if any(set(targets) & set(unsafe) for targets, unsafe in zip(reach, avoid, strict=True)):
            raise ValueError("a state cannot be both reached and avoided")
        return cls(_marks(size, reach), _marks(size, avoid), discount)

    @property
    def starts(self) -> np.ndarray:
        """Uniform over the states that are neither target nor unsafe, [T, S]; 0 everywhere if there are none."""
        free = ~(self.reach | self.avoid)
        return free / np.maximum(free.sum(axis=-1, keepdims=True), 1)

    @property
    def reward(self) -> np.ndarray:
        return self.reach.astype(float)

    @property
    def continues(self) -> np.ndarray:
        return 1.0 - (self.reach | self.avoid)

    @property
    def discounts(self) -> np.ndarray:
        return np.full(len(self.reach), self.discount)


@dataclass(frozen=True, eq=False)
class FinitePlan:
    """A policy, and what its model makes of it."""

    policy: np.ndarray  # [T, S, A] one-hot; of equally good actions the first
    q: np.ndarray  # [T, S, A] in the model that was planned in

    @property
    def value(self) -> np.ndarray:
        """[T, S]"""
        return (self.policy * self.q).sum(axis=-1)


def plan(model: Kernel, tasks: Tasks) -> FinitePlan:
    """The best policy in a model, and the values that the model promises."""
    return FinitePlan(*optimal_values(model.clipped(), tasks.reward, tasks.continues, tasks.discounts))


def evaluate_plan(world: Kernel, policy: np.ndarray, tasks: Tasks) -> np.ndarray:
    """V [T, S] of a policy [T, S, A] in another kernel."""
    q = policy_values(world.clipped(), policy, tasks.reward, tasks.continues, tasks.discounts)
    return (policy * q).sum(axis=-1)


def returns(value: np.ndarray, tasks: Tasks, starts: np.ndarray | None = None) -> np.ndarray:
    """The exact mean return [T] of values [T, S].

    Starts are `tasks.starts`, or a distribution [S] of one's own, taken over the states that are no target and not
    unsafe. A task without a single start is NaN.
    """
    weights = tasks.starts if starts is None else starts * tasks.continues
    total = weights.sum(axis=-1)
    return np.where(total > 0, (weights * value).sum(axis=-1) / np.where(total > 0, total, 1.0), np.nan)


def trajectory(world: Kernel, policy: np.ndarray, tasks: Tasks, task: int, start: int) -> list[int]:
    """The way from a start that the likeliest successors draw, until the episode ends or a state comes again.

    A step that may stay in place is drawn as one that does not; of equally likely successors the first is taken.
    `policy` is [T, S, A].
    """
    kernel = world.clipped()
    states = np.arange(kernel.size)
    action = policy[task].argmax(axis=-1)
    stays = kernel.successors[states, action] == states[:, None]
    likeliest = np.where(stays, 0.0, kernel.probabilities[states, action]).argmax(axis=-1)
    onward = kernel.successors[states, action, likeliest]
    path, seen = [start], {start}
    while tasks.continues[task, path[-1]] or len(path) == 1:
        following = int(onward[path[-1]])
        path.append(following)
        if following in seen:
            break
        seen.add(following)
    return path


def _marks(size: int, lists: Sequence[Sequence[int]]) -> np.ndarray:
    marks = np.zeros((len(lists), size), bool)
    for row, states in zip(marks, lists, strict=True):
        row[list(states)] = True
    return marks
