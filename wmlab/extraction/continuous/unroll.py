"""Returns inside a model: a few steps under the agent's own policy, then the agent's value of where they end.

The actions are held in the gradient, and an episode that ends pays nothing more. The agent is asked once per state
that is reached, and its gradient is taken only where a return ends: there the value enters as a tangent plane
(the value and its slope at that state), which keeps the agent's network out of the differentiated loop. Slopes are
those of `slopes`, a view of the same values.

Shapes: N states, J goals per state (1 or G), R = N J rows, d variables, A actions, K steps at most.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from wmlab.core.continuous.view import ContinuousView
from wmlab.core.programs import pytree, static

Move = Callable[[Array, Array, Array], Array]  # (key, state [N, d], action [N]) -> next state [N, d]
held = jax.lax.stop_gradient


class Walk(NamedTuple):
    """Where the rows are after some steps."""

    state: Array  # [R, d]
    action: Array  # int [R], or [R, k] from a box: what comes next
    gain: Array  # [R]: discounted rewards so far
    alive: Array  # [R]: γ^t, or 0 after an end


def returns(
    view: ContinuousView,
    move: Move,
    key: Array,
    after: Array,
    goal: Array,
    wanted: Array,
    slopes: ContinuousView | None = None,
) -> Array:
    """Σ γ^t r + γ^k V(s_k) for each k wanted (bool [K]): [K, N, J], from the states [N, d] after a first step.

    Goals are [N, J]. What is not wanted is 0, and costs nothing beyond the last horizon that is. `slopes` is `view`
    where none is given.
    """
    slopes = view if slopes is None else slopes
    act_key, walk_key = jax.random.split(key)
    if len(wanted) == 1:
        return slopes.backup(after, goal)[None]
    reward, continues = view.arrive_at(after, goal)

    def fitted(after: Array) -> Values:
        return outlook(slopes, after, goal)

    values = jax.lax.cond(wanted[0], fitted, lambda after: outlook(view, held(after), goal), after)
    first = jnp.where(wanted[0], reward + view.discount * continues * worth_of(view, values), 0.0)
    walk = Walk(
        jnp.repeat(after, goal.shape[1], axis=0),
        next_action(view, act_key, jax.tree.map(lambda part: held(part).reshape(-1, *part.shape[2:]), values)),
        reward.ravel(),
        (view.discount * continues).ravel(),
    )
    later = _walk_on(view, slopes, move, walk_key, walk, goal.reshape(-1, 1), wanted)
    return jnp.concatenate([first[None], later.reshape(-1, *goal.shape)])


def _walk_on(
    view: ContinuousView, slopes: ContinuousView, move: Move, key: Array, walk: Walk, goal: Array, wanted: Array
) -> Array:
    """The returns [K - 1, R] of the horizons after the first."""
    steps = jnp.arange(1, len(wanted))
    last = jnp.max(jnp.where(wanted, jnp.arange(len(wanted)), 0))

    def step(walk: Walk, at: tuple[Array, Array, Array]) -> tuple[Walk, Array]:
        number, fits, step_key = at

        def go(walk: Walk) -> tuple[Walk, Array]:
            return _step(view, slopes, move, step_key, walk, goal, fits)

        return jax.lax.cond(number <= last, go, lambda walk: (walk, jnp.zeros_like(walk.gain)), walk)

    _, later = jax.lax.scan(step, walk, (steps, wanted[1:], jax.random.split(key, len(steps))))
    return later


def _step(
    view: ContinuousView, slopes: ContinuousView, move: Move, key: Array, walk: Walk, goal: Array, fits: Array
) -> tuple[Walk, Array]:
    """One step of every row, and the return if it ends here."""
    move_key, act_key = jax.random.split(key)
    state = move(move_key, walk.state, walk.action)
    reward, continues = (part[:, 0] for part in view.arrive_at(state, goal))
    gain, alive = walk.gain + walk.alive * reward, view.discount * walk.alive * continues
    worth, tilt, values = jax.lax.cond(
        fits, lambda at: tangent(slopes, at, goal), lambda at: _no_tangent(view, at, goal), held(state)
    )
    value = held(worth) + (held(tilt) * (state - held(state))).sum(axis=-1)
    walk = Walk(state, next_action(view, act_key, values), gain, alive)
    return walk, jnp.where(fits, gain + alive * value, 0.0)


def tangent(view: ContinuousView, state: Array, goal: Array) -> tuple[Array, Array, Values]:
    """V [R], its slope [R, d] and what tells the next action at states of one goal [R, 1] each."""

    def worth(state: Array) -> tuple[Array, Values]:
        values = jax.tree.map(lambda part: part[:, 0], outlook(view, state, goal))
        return worth_of(view, values), values

    value, back, values = jax.vjp(worth, state, has_aux=True)
    return value, back(jnp.ones_like(value))[0], values


def _no_tangent(view: ContinuousView, state: Array, goal: Array) -> tuple[Array, Array, Values]:
    """What tells the next action alone; nothing at all where actions do not depend on values."""
    rows = state.shape[0]
    if view.controls is not None:
        values: Values = Outlook(jnp.zeros(rows), view.choose(jax.random.key(0), state, goal))
    else:
        values = view.values_at(state, goal)[:, 0] if view.policy == "greedy" else jnp.zeros((rows, view.actions))
    return jnp.zeros(rows), jnp.zeros_like(state), values


class Outlook(NamedTuple):
    """What is seen from a state where actions are from a box."""

    worth: Array  # V [...]
    action: Array  # [..., k] what the agent does


Values = Array | Outlook  # Q [..., A] of a list of actions, or what is seen where they are from a box


def outlook(view: ContinuousView, state: Array, goal: Array) -> Values:
    """What tells V and the next action of states [N, d] and goals [N, J]: [N, J, …]."""
    if view.controls is None:
        return view.values_at(state, goal)
    flat = jnp.repeat(held(state), goal.shape[1], axis=0), goal.reshape(-1, 1)
    action = view.choose(jax.random.key(0), *flat)  # an actor leaves nothing to chance
    return Outlook(view.worth_at(state, goal), held(action).reshape(*goal.shape, -1))


def worth_of(view: ContinuousView, values: Values) -> Array:
    """V [...] under the agent's own policy."""
    return values.worth if isinstance(values, Outlook) else view.worth(values)


def next_action(view: ContinuousView, key: Array, values: Values) -> Array:
    """What the agent does next in R rows, given its values [R, A]."""
    if isinstance(values, Outlook):
        return values.action
    if view.policy == "greedy":
        return values.argmax(axis=-1)
    return jax.random.randint(key, values.shape[:1], 0, view.actions)


# --- slopes of an agent's values, taken around a state rather than at it ---------------------------------------------


@pytree
class BlurredView(ContinuousView):
    """The same agent with the same values, whose slopes are means over `places` at normal distances.

    An agent's errors are in its values and in their slopes alike. Where both are read at one place they agree with each
    other, and the least residual is that of a world that moves less than the true one: the bias of a regression whose
    regressor is noisy. Slopes from around the place have the same mean, and errors that know less of the residual's.

    Shapes: N states, d variables, P places.
    """

    sharp: ContinuousView
    key: Array
    width: float = static()  # standard deviation of the distances, as a fraction of each variable's range
    places: int = static()  # P

    @property
    def reads_goal(self) -> bool:
        return self.sharp.reads_goal

    def values(self, state: Array) -> Array:
        return self._tilted(self.sharp.values(state), self.sharp.values(self._around(state)))

    def values_at(self, state: Array, goal: Array) -> Array:
        near = self.sharp.values_at(self._around(state), jnp.tile(goal, (self.places, 1)))
        return self._tilted(self.sharp.values_at(state, goal), near)

    def known_worth(self, state: Array) -> Array | None:
        worth, near = self.sharp.known_worth(state), self.sharp.known_worth(self._around(state))
        return None if worth is None or near is None else self._tilted(worth, near)

    def arrive(self, state: Array) -> tuple[Array, Array]:
        return self.sharp.arrive(state)

    def sample(self, key: Array, count: int) -> Array:
        return self.sharp.sample(key, count)

    def value_at(self, state: Array, action: Array, goal: Array) -> Array:
        near, again = self._around(state), jnp.tile(action, (self.places, *[1] * (action.ndim - 1)))
        tilted = self.sharp.value_at(near, again, jnp.tile(goal, (self.places, 1)))
        return self._tilted(self.sharp.value_at(state, action, goal), tilted)

    def worth_at(self, state: Array, goal: Array) -> Array:
        if self.controls is None:
            return super().worth_at(state, goal)
        near = self.sharp.worth_at(self._around(state), jnp.tile(goal, (self.places, 1)))
        return self._tilted(self.sharp.worth_at(state, goal), near)

    def choose(self, key: Array, state: Array, goal: Array) -> Array:
        return self.sharp.choose(key, state, goal)

    def _around(self, state: Array) -> Array:
        """[P N, d]"""
        noise = self.width * self.frame.span * jax.random.normal(self.key, (self.places, *state.shape))
        return (state + noise).reshape(-1, state.shape[-1])

    def _tilted(self, at: Array, near: Array) -> Array:
        """Values [N, …] that are `at`'s, with the slopes of those `near` [P N, …]."""
        return held(at) + (near - held(near)).reshape(self.places, *at.shape).mean(axis=0)


def blurred(view: ContinuousView, key: Array, width: float, places: int) -> BlurredView:
    """A view of the same values with blurred slopes."""
    common = {field.name: getattr(view, field.name) for field in dataclasses.fields(ContinuousView)}
    return BlurredView(**common, sharp=view, key=key, width=width, places=places)
