"""An environment whose state a spec declares is tried out beside gymnax, before anything is learnt in it.

Shapes: N tries, d state variables, A actions, k components of an action.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from wmlab.core.continuous.space import Variable, on_circle, settled
from wmlab.errors import StageError, one_of
from wmlab.mdps.gymnax.catalogue import COUNTER
from wmlab.mdps.gymnax.step import GymnaxDynamics, action_of, environment_of
from wmlab.mdps.gymnax.written import WrittenEnvironment

EPISODES, STEPS = 16, 64
SLACK = 1e-4  # relative to a variable's range: what rounding explains
Controls = tuple[tuple[float, ...], ...]  # [A, k]


@functools.lru_cache(maxsize=16)
def try_out(declared: WrittenEnvironment, controls: Controls) -> None:
    """Raise a StageError where the declared variables do not tell what gymnax does."""
    for wrong in (_wrong_paths(declared), _wrong_actions(declared, controls), _wrong_steps(declared, controls)):
        mistake = next(wrong, None)
        if mistake is not None:
            raise StageError(f"mdp: {mistake}")


def _reset(declared: WrittenEnvironment) -> Any:
    """A whole state of gymnax."""
    environment = environment_of(declared)
    return environment.reset_env(jax.random.key(0), environment.default_params)[1]


def _wrong_paths(declared: WrittenEnvironment) -> Iterator[str]:
    whole = _reset(declared)
    for variable, path in zip(declared.variables, declared.paths, strict=True):
        if not hasattr(whole, path.field):
            yield f"the state of {declared.env} has no '{path.field}', which state.{variable.name} asks for"
            continue
        shape = jnp.shape(getattr(whole, path.field))
        if len(path.index) != len(shape) or not all(map(operator.lt, path.index, shape)):
            form = f"has the shape {list(shape)}" if shape else "is one number"
            yield f"state.{variable.name}: {path} is no number of {declared.env}, for {path.field} {form}"


def _wrong_actions(declared: WrittenEnvironment, controls: Controls) -> Iterator[str]:
    if declared.act is not None:
        return  # wmlab knows what they may be, and has checked it
    environment = environment_of(declared)
    space, values = environment.action_space(environment.default_params), np.array(controls)
    if hasattr(space, "n"):
        possible = values.shape[1] == 1 and np.isin(values, np.arange(space.n)).all()
        wanted = f"one component of whole numbers from 0 to {int(space.n) - 1}"
    else:
        low, high = (np.broadcast_to(np.asarray(end), space.shape).ravel() for end in (space.low, space.high))
        possible = values.shape[1] == len(low) and bool(((values >= low - SLACK) & (values <= high + SLACK)).all())
        ranges = ", ".join(f"[{least:g}, {most:g}]" for least, most in zip(low, high, strict=True))
        wanted = f"one component for each of {ranges}"
    if not possible:
        yield f"actions of {declared.env} have {wanted}; other values or components are declared"


# --- steps ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tries:
    """Steps of gymnax, from its own resets and from anywhere in the ranges, beside ours from the same variables."""

    before: np.ndarray  # [N, d]
    ours: np.ndarray  # [N, d] next variables
    theirs: np.ndarray  # [N, d]
    again: np.ndarray  # [N, d] by gymnax with other chance


def _wrong_steps(declared: WrittenEnvironment, controls: Controls) -> Iterator[str]:
    """Chance that gymnax has, then ends of ranges that it has not, then variables that were left out."""
    tries = _side_by_side(declared, controls)
    columns = list(enumerate(declared.variables))
    for column, variable in columns:
        if len(_apart(variable, tries.theirs[:, column], tries.again[:, column])):
            yield (
                f"gymnax draws {declared.paths[column]} of {declared.env} at random, and wmlab takes its environments "
                "as certain; write this world as mdp.kind dynamics"
            )
    for column, variable in columns:
        theirs = tries.theirs[:, column]
        outside = _apart(variable, theirs, np.asarray(settled(variable, theirs)))
        if len(outside):
            yield (
                f"state.{variable.name} is said to end at {variable.low:g} and {variable.high:g}, and gymnax takes it "
                f"to {theirs[outside[0]]:.4g}; widen its range, or say usual where it has no ends"
            )
    for column, variable in columns:
        before, ours, theirs = (each[:, column] for each in (tries.before, tries.ours, tries.theirs))
        for row in _apart(variable, ours, theirs)[:1]:
            yield (
                f"gymnax takes {variable.name} from {before[row]:.4g} to {theirs[row]:.4g}, and the declared variables "
                f"alone to {ours[row]:.4g}; {_left_out(declared)}"
            )


def _apart(variable: Variable, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The tries in which two values of a variable differ by more than rounding, the short way round on a circle."""
    low, high = variable.scale
    return np.flatnonzero(np.abs(on_circle(variable, one - other)) > SLACK * (high - low))


def _left_out(declared: WrittenEnvironment) -> str:
    """Which fields of gymnax's state no variable stands for."""
    taken = {COUNTER, *(path.field for path in declared.paths)}
    names = [name for name in vars(_reset(declared)) if name not in taken]
    return f"declare {one_of(names)} under state, too" if names else "declare every number of these fields"


def _side_by_side(declared: WrittenEnvironment, controls: Controls) -> Tries:
    environment, values = environment_of(declared), jnp.array(controls, jnp.float32)
    params, dynamics = environment.default_params, GymnaxDynamics(values, declared)

    def step(whole: Any, key: Array) -> tuple[Any, tuple[Array, ...]]:
        choice_key, step_key, other_key = jax.random.split(key, 3)
        action = jax.random.randint(choice_key, (), 0, len(controls))
        act = action_of(declared, values[action])
        after, other = (environment.step_env(chance, whole, act, params)[1] for chance in (step_key, other_key))
        before = declared.unpack(jnp, whole)
        inside = jnp.stack([settled(each, before[i], jnp) for i, each in enumerate(declared.variables)])
        ours = dynamics.step(inside[None], action[None], jnp.zeros((1, 0)))[0]
        return after, (before, ours, declared.unpack(jnp, after), declared.unpack(jnp, other))

    def start(key: Array, anywhere: Array) -> Any:
        whole = environment.reset_env(key, params)[1]
        ends = jnp.array([variable.scale for variable in declared.variables])
        drawn = jax.random.uniform(key, ends.shape[:1], minval=ends[:, 0], maxval=ends[:, 1])
        return declared.pack(jnp, whole, jnp.where(anywhere, drawn, declared.unpack(jnp, whole)))

    reset_key, walk_key = jax.random.split(jax.random.key(0))
    whole = jax.vmap(start)(jax.random.split(reset_key, EPISODES), jnp.arange(EPISODES) % 2 == 0)
    walk, rows = jax.jit(jax.vmap(step)), []
    for key in jax.random.split(walk_key, STEPS):
        whole, row = walk(whole, jax.random.split(key, EPISODES))
        rows.append(row)
    return Tries(*(np.concatenate([np.asarray(row[part]) for row in rows]) for part in range(4)))
