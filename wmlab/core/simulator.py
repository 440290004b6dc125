"""Worlds that an agent can act in, and the goals it is paid for: finite and continuous alike.

A simulator is pure functions beside the arrays that they read. Functions are part of a program, arrays are its
arguments: two worlds that differ in their arrays alone (another seed's kernel, another seed's noise) share one
compiled program, provided that their functions are the same objects.

Shapes: S states, A actions, G goals, K successors. Nothing here has a batch axis; callers `vmap`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

if TYPE_CHECKING:
    from wmlab.core.finite.goals import Goals
    from wmlab.core.finite.world import FiniteWorld

State = Any  # a pytree of arrays: an int32 scalar in a finite world, a record of floats in a continuous one
Features = Any  # what describes a goal: an int32 index (one-hot, taken as a row of weights) or a float32 vector

NEVER = 2**31 - 1  # the horizon of a world that cuts no episode short


def fixed(**defaults: Any) -> Any:
    """A field that is part of the program instead of an argument to it."""
    return dataclasses.field(metadata={"static": True}, **defaults)


def whereabouts_unknown(params: Any, state: State) -> Array:
    """The place of a state in a world whose visits are not counted."""
    return jnp.int32(0)


def unchanged(params: Any, features: Features) -> Features:
    """Features that are fit for a network as they are."""
    return features


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Simulator:
    """A world to act in. `encode` may give an index instead of a vector: the one-hot of that index."""

    params: Any  # arrays that the functions read
    reset_fn: Callable[[Any, Array], State] = fixed()  # (params, key) -> state: where an evaluation starts
    start_fn: Callable[[Any, Array], State] = fixed()  # (params, key) -> state: where a training episode starts
    step_fn: Callable[[Any, Array, State, Array], State] = fixed()  # (params, key, state, action) -> state
    encode_fn: Callable[[Any, State], Array] = fixed()  # (params, state) -> float32 [width], or int32 index < width
    width: int = fixed()  # inputs of a network that reads an encoded state
    actions: int = fixed()  # A
    horizon: int = fixed()  # steps after which an episode is cut short
    states: int = fixed(default=0)  # S of a finite world, whose states are 0 … S - 1; 0 for a continuous one
    place_fn: Callable[[Any, State], Array] = fixed(default=whereabouts_unknown)  # -> int32 < places
    places: int = fixed(default=0)  # bins in which visits are counted; 0 counts none

    def reset(self, key: Array) -> State:
        return self.reset_fn(self.params, key)

    def start(self, key: Array) -> State:
        return self.start_fn(self.params, key)

    def step(self, key: Array, state: State, action: Array) -> State:
        return self.step_fn(self.params, key, state, action)

    def encode(self, state: State) -> Array:
        return self.encode_fn(self.params, state)

    def place(self, state: State) -> Array:
        return self.place_fn(self.params, state)


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class GoalSet:
    """What each goal pays for arriving in a state, and whether the episode goes on from there."""

    params: Any  # arrays that the functions read
    features: Features  # [G, ...]: a description of each goal
    ending: Array  # [2]: least and greatest reward of an arrival that ends the episode; inf, -inf where none does
    lasting: Array  # [2]: the same of arrivals after which it goes on
    arrive_fn: Callable[[Any, State], tuple[Array, Array]] = fixed()  # -> reward [G], continues [G]
    reward_of_fn: Callable[[Any, State, Features], tuple[Array, Array]] = fixed()  # one goal -> reward, continues
    count: int = fixed()  # G
    width: int = fixed(default=0)  # inputs of a network that reads an encoded goal; 0: goals have no features
    achieved_fn: Callable[[Any, State], Features] | None = fixed(default=None)  # the goal that a state reaches
    encode_fn: Callable[[Any, Features], Array] = fixed(default=unchanged)  # features -> float32 [width] or index

    def arrive(self, state: State) -> tuple[Array, Array]:
        return self.arrive_fn(self.params, state)

    def reward_of(self, state: State, features: Features) -> tuple[Array, Array]:
        return self.reward_of_fn(self.params, state, features)

    def achieved(self, state: State) -> Features:
        if self.achieved_fn is None:
            raise ValueError("these goals do not say which goal a state achieves")
        return self.achieved_fn(self.params, state)

    def encode(self, features: Features) -> Array:
        return self.encode_fn(self.params, features)

    def value_range(self, discount: float) -> Array:
        """[2]: no value lies outside, whatever the world does. Staying pays r / (1 - γ), and an end pays once."""
        lasting = self.lasting / (1 - discount)
        low, high = jnp.minimum(lasting[0], self.ending[0]), jnp.maximum(lasting[1], self.ending[1])
        return jnp.stack([low, high]).astype(jnp.float32)


# --- finite worlds ---------------------------------------------------------------------------------------------


def finite_simulator(
    world: FiniteWorld,
    *,
    starts: Literal["reset", "uniform"] = "reset",
    encoding: Literal["one_hot", "raw", "normalised"] = "one_hot",
) -> Simulator:
    """A finite world to act in: successors are drawn from the rows of its kernel."""
    probabilities = np.maximum(np.asarray(world.kernel.probabilities, np.float64), 0)  # [S, A, K]
    size, actions, _ = probabilities.shape
    reset = np.asarray(world.reset, np.float64)
    params = {
        "successors": jnp.asarray(world.kernel.successors, jnp.int32),  # [S, A, K]
        "chances": cumulative(probabilities),  # [S, A, K]
        "reset": cumulative(reset),  # [S]
        "start": cumulative(np.full(size, 1 / size) if starts == "uniform" else reset),  # [S]
    }
    width, encode = size, _index
    if encoding != "one_hot":
        params["embedding"] = jnp.asarray(_embedding(world, encoding), jnp.float32)  # [S, d]
        width, encode = params["embedding"].shape[1], _embedded
    horizon = NEVER if world.horizon is None else int(world.horizon)
    return Simulator(params, _reset, _start, _step, encode, width, actions, horizon, size, _index, size)


def cumulative(probabilities: np.ndarray) -> Array:
    """Cumulative probabilities for `draw`. From the last possible outcome on they are 2: no draw goes past it."""
    possible = (probabilities > 0).astype(int)
    later: np.ndarray = np.cumsum(possible[..., ::-1], axis=-1)[..., ::-1] - possible  # possible ones that come after
    return jnp.asarray(np.where(later > 0, np.cumsum(probabilities, axis=-1), 2.0), jnp.float32)


def draw(key: Array, chances: Array) -> Array:
    """An index drawn by inverse transform from cumulative chances [K]."""
    return jnp.sum(jax.random.uniform(key) >= chances).astype(jnp.int32)


def _embedding(world: FiniteWorld, encoding: str) -> np.ndarray:
    raw = np.asarray(world.space.embedding(), np.float64)  # [S, d]
    if encoding == "raw":
        return raw
    low, high = raw.min(0), raw.max(0)
    return 2 * (raw - low) / np.where(high > low, high - low, 1) - 1


def _reset(params: Any, key: Array) -> Array:
    return draw(key, params["reset"])


def _start(params: Any, key: Array) -> Array:
    return draw(key, params["start"])


def _step(params: Any, key: Array, state: Array, action: Array) -> Array:
    return params["successors"][state, action, draw(key, params["chances"][state, action])]


def _index(params: Any, state: Array) -> Array:
    return state


def _embedded(params: Any, state: Array) -> Array:
    return params["embedding"][state]


def finite_goals(goals: Goals, at: np.ndarray | None = None, dtype: Any = jnp.float32) -> GoalSet:
    """Goals of a finite world. `at` [G] are their states; without them a network can only have a head per goal.

    A state reached that is no goal of the set counts, in hindsight, as an indicator goal: it pays 1 on arrival,
    and ends the episode there if the goals of the set end theirs.
    """
    reward, continues = np.asarray(goals.reward, np.float64), np.asarray(goals.continues, np.float64)  # [G, S]
    count, size = reward.shape
    params = {"reward": jnp.asarray(reward.T, dtype), "continues": jnp.asarray(continues.T, dtype)}
    ending, lasting = (_extremes(reward[where], dtype) for where in (continues <= 0, continues > 0))
    if at is None:
        return GoalSet(params, jnp.arange(count), ending, lasting, _arrive, _reward_of_index, count)
    at = np.asarray(at, np.int32)
    owner = np.full(size, -1, np.int32)
    owner[at[::-1]] = np.arange(count)[::-1]  # where two goals share a state, the first one has it
    params |= {"owner": jnp.asarray(owner), "ends": jnp.float32(np.all(continues[np.arange(count), at] <= 0))}
    return GoalSet(params, jnp.asarray(at), ending, lasting, _arrive, _reward_of_state, count, size, _index)


def _extremes(rewards: np.ndarray, dtype: Any) -> Array:
    return jnp.array([rewards.min(initial=np.inf), rewards.max(initial=-np.inf)], dtype)


def _arrive(params: Any, state: Array) -> tuple[Array, Array]:
    return params["reward"][state], params["continues"][state]


def _reward_of_index(params: Any, state: Array, goal: Array) -> tuple[Array, Array]:
    return params["reward"][state, goal], params["continues"][state, goal]


def _reward_of_state(params: Any, state: Array, goal: Array) -> tuple[Array, Array]:
    owner, here = params["owner"][goal], (state == goal).astype(jnp.float32)
    listed = owner >= 0
    reward = jnp.where(listed, params["reward"][state, owner], here)
    return reward, jnp.where(listed, params["continues"][state, owner], 1 - here * params["ends"])
