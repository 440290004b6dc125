"""Returns inside a model, by hand and by brute force."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.environments import function_view
from wmlab.core.continuous.view import ContinuousView, Frame
from wmlab.extraction.continuous.models import fresh
from wmlab.extraction.continuous.options import Model
from wmlab.extraction.continuous.unroll import returns

LINE = Frame(jnp.array([[0.0, 10.0]]), ("open",))


def forward(key, state, action):
    """Action 0 goes on by one, action 1 goes back by one."""
    return state + jnp.where(action == 0, 1.0, -1.0)[:, None]


def line_view(values, discount: float = 0.5, policy: str = "greedy") -> ContinuousView:
    """One goal: 3 and beyond pay 1 and end the episode."""

    def arrive(params, state):
        there = (state >= 3).astype(jnp.float32)
        return there, 1 - there

    return function_view((), jnp.float32(discount), LINE, values, arrive, lambda *_: None, 2, 1, policy)


def going_on(params, state):
    """Action 0 is worth 10, action 1 nothing."""
    return jnp.broadcast_to(jnp.array([10.0, 0.0]), (state.shape[0], 1, 2))


def turning_back(params, state):
    """From 2 on action 1 is the better one; what a state is worth is its place."""
    back = (state[:, :1] >= 2).astype(jnp.float32)
    return jnp.stack([state[:, :1] - back, state[:, :1] - 1 + back], axis=-1)


def unrolled(view, wanted):
    after = forward(None, jnp.zeros((1, 1)), jnp.zeros(1, int))
    found = returns(view, forward, jax.random.key(0), after, jnp.zeros((1, 1), int), jnp.array(wanted))
    return np.asarray(found)[:, 0, 0].tolist()


def test_rewards_are_discounted_and_an_end_pays_nothing_more():
    # 1: 0 + 10/2.   2: 0 + 0 + 10/4.   3: arrives, 1/4, and the 10 that lie beyond are not counted.   4: the same.
    assert unrolled(line_view(going_on), [True] * 4) == [5.0, 2.5, 0.25, 0.25]


def test_only_wanted_horizons_are_returned():
    assert unrolled(line_view(going_on), [False, True, False, True]) == [0.0, 2.5, 0.0, 0.25]
    assert unrolled(line_view(going_on), [True, False, False, False]) == [5.0, 0.0, 0.0, 0.0]


def test_the_walk_takes_the_agents_own_greedy_actions():
    # places 1, 2, then back to 1, then 2: worth as much as their place, each step halves it
    assert unrolled(line_view(turning_back), [True] * 4) == [1 / 2, 2 / 4, 1 / 8, 2 / 16]


def test_a_uniform_policy_walks_at_random():
    view = line_view(going_on, policy="uniform")
    start = jnp.full((2000, 1), -50.0)
    found = returns(view, forward, jax.random.key(0), start, jnp.zeros((2000, 1), int), jnp.ones(2, bool))
    np.testing.assert_allclose(found[:, :, 0].mean(axis=1), [2.5, 1.25])  # worth is the mean of 10 and 0


# --- gradients -----------------------------------------------------------------------------------------------------

PLANE = Frame(jnp.array([[-jnp.pi, jnp.pi], [-1.0, 1.0]]), ("wrap", "clip"))
GOALS = 3


def smooth_values(params, state):
    hidden = jnp.tanh(PLANE.encode(state, "sincos") @ params["in"])
    return (hidden @ params["out"]).reshape(-1, GOALS, 2)


def smooth_arrive(params, state):
    pay = jax.nn.sigmoid(PLANE.encode(state, "sincos") @ params["pay"])
    return pay, 1 - 0.5 * pay**2


def smooth_view() -> ContinuousView:
    keys = jax.random.split(jax.random.key(0), 3)
    params = {
        "in": jax.random.normal(keys[0], (3, 16)),
        "out": jax.random.normal(keys[1], (16, GOALS * 2)),
        "pay": jax.random.normal(keys[2], (3, GOALS)),
    }
    return function_view(params, jnp.float32(0.9), PLANE, smooth_values, smooth_arrive, lambda *_: None, 2, GOALS)


def brute_force(view, model, state, action, goal: int, steps: int):
    """One state, one goal, step by step."""
    total, worth = 0.0, 1.0
    for _ in range(steps):
        state = model.predict(state[None], action[None])[0]
        reward, continues = (part[0, goal] for part in view.arrive(state[None]))
        values = view.values(state[None])[0, goal]
        total, worth = total + worth * reward, worth * continues * view.discount
        action = values.argmax()
    return total + worth * values.max()


@pytest.mark.parametrize(("goals", "lengths"), [("one", (1, 3)), ("all", (2,))])
def test_returns_and_their_gradients_are_those_of_a_loop_by_hand(goals, lengths):
    view = smooth_view()
    model = fresh(jax.random.key(1), PLANE, 2, Model(depth=1, width=4, init_scale=1.0))
    state = PLANE.uniform(jax.random.key(2), 5)
    action = jnp.array([0, 1, 1, 0, 1])
    goal = view.all_goals(5) if goals == "all" else jnp.array([[0], [2], [1], [1], [0]])
    wanted = jnp.isin(jnp.arange(1, max(lengths) + 1), jnp.array(lengths))

    def fast(weights):
        moved = dataclasses.replace(model, weights=weights)
        found = returns(view, moved.sample, jax.random.key(3), moved.predict(state, action), goal, wanted)
        return (found**2).sum(), found

    def slow(weights):
        moved = dataclasses.replace(model, weights=weights)
        found = [
            jnp.stack([_column(view, moved, state, action, column, k) for column in goal.T], axis=1) for k in lengths
        ]
        return sum((part**2).sum() for part in found), jnp.stack(found)

    (gradient, found), (expected, by_hand) = (
        jax.jit(jax.grad(function, has_aux=True))(model.weights) for function in (fast, slow)
    )
    np.testing.assert_allclose(found[np.flatnonzero(wanted)], by_hand, rtol=1e-3, atol=1e-3)
    for name in gradient:
        np.testing.assert_allclose(gradient[name], expected[name], rtol=1e-3, atol=1e-3)


def _column(view, model, state, action, goal, steps: int):
    return jax.vmap(lambda s, a, g: brute_force(view, model, s, a, g, steps))(state, action, goal)
