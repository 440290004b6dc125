"""How much of a next state values tell in a continuous world, where that is known in closed form."""

from __future__ import annotations

import dataclasses
from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.making import continuous_goals
from wmlab.core.continuous.grid import grid_of, grid_view
from wmlab.core.continuous.space import ContinuousSpace, Variable
from wmlab.core.continuous.view import ContinuousView, Frame
from wmlab.core.programs import pytree, static
from wmlab.identify.local import local_ranks, slopes
from wmlab.measure.continuous.identification import LocalContext
from wmlab.measure.continuous.identification import local_ranks as metrics_of

PLANE = ContinuousSpace(
    (Variable("x", -1, 1, "clip"), Variable("y", -2, 2, "clip")), ("stay",), ("a",), ((0.0,),), ((-1, 1), (-2, 2))
)


@pytree
class Quadratic(ContinuousView):
    """Values of linear dynamics with quadratic costs: V(s, g) = -(s - c_g)' P_g (s - c_g), and nothing is paid."""

    curvature: jax.Array  # [G, d, d]
    centre: jax.Array  # [G, d]
    form: str = static(default="quadratic")

    reads_goal = False

    def values(self, state):
        gap = state[:, None] - self.centre
        if self.form == "distance":
            worth = -jnp.sqrt((gap**2).sum(axis=-1))
        else:
            worth = -jnp.einsum("ngi,gij,ngj->ng", gap, self.curvature, gap)
        return worth[..., None]

    def values_at(self, state, goal):
        return self.values(state)

    def known_worth(self, state):
        return None

    def arrive(self, state):
        zero = jnp.zeros((state.shape[0], self.goals))
        return zero, zero + 1

    def arrive_at(self, state, goal):
        return self.arrive(state)

    def sample(self, key, count):
        return self.frame.uniform(key, count)


def quadratic(curvature, centre, spans, form="quadratic"):
    curvature, centre = jnp.asarray(curvature, jnp.float32), jnp.asarray(centre, jnp.float32)
    ends = np.array([[-span / 2, span / 2] for span in spans], np.float32)
    frame = Frame(jnp.asarray(ends), ("open",) * len(spans))
    common = {"discount": jnp.float32(0.9), "frame": frame, "actions": 1, "goals": len(centre), "policy": "greedy"}
    return Quadratic(**common, curvature=curvature, centre=centre, form=form)


def symmetric(generator, goals, size):
    root = generator.normal(size=(goals, size, size))
    return root @ np.swapaxes(root, 1, 2)


@pytest.mark.parametrize(("goals", "size"), [(1, 4), (2, 3), (3, 3), (6, 2)])
def test_slopes_of_a_linear_quadratic_world_are_those_of_its_riccati_matrix(goals, size):
    generator = np.random.default_rng(goals)
    curvature, centre = symmetric(generator, goals, size), generator.normal(size=(goals, size))
    spans = 1.0 + np.arange(size)
    view, states = quadratic(curvature, centre, spans), generator.normal(size=(50, size)).astype(np.float32)
    exact = -1.8 * np.einsum("gij,ngj->ngi", curvature, states[:, None] - centre) * spans  # [N, G, d]
    found = local_ranks(view, states, 1e-5)
    singular = np.linalg.svd(exact, compute_uv=False)
    np.testing.assert_allclose(found.singular[:, : min(goals, size)], singular, rtol=2e-4, atol=1e-4)
    assert (found.singular[:, goals:] == 0).all()
    assert (found.rank == min(goals, size)).all()
    np.testing.assert_allclose(found.told.sum(axis=1), min(goals, size), rtol=1e-5)
    step = 1e-3
    for state in states[:3]:  # and so say finite differences of M itself
        moved = [state + step * sign * axis for axis in np.eye(size, dtype=np.float32) for sign in (1, -1)]
        backup = np.asarray(view.backup(jnp.stack(moved), view.all_goals(2 * size)), np.float64)
        change = np.stack([(backup[2 * i] - backup[2 * i + 1]) / (2 * step) for i in range(size)], axis=1) * spans
        np.testing.assert_allclose(slopes(view, jnp.asarray(state)), change, rtol=5e-3, atol=0.05)


def test_one_reward_tells_one_direction_of_four():
    view = quadratic(np.eye(4)[None], np.zeros((1, 4)), np.ones(4))
    states = np.random.default_rng(0).normal(size=(400, 4)).astype(np.float32)
    found = local_ranks(view, states, 1e-3)
    assert found.singular.shape == (400, 4)
    assert (found.rank == 1).all()
    direction = states**2 / (states**2).sum(axis=1, keepdims=True)  # along the slope, and nothing else
    np.testing.assert_allclose(found.told, direction, atol=1e-5)


def test_goals_in_the_plane_tell_a_point_in_the_plane_but_for_the_line_that_they_are_on():
    apart = quadratic(np.zeros((2, 2, 2)), [[-1, 0], [1, 0]], (2, 2), "distance")
    beside, on_the_line = np.array([[0.2, 0.5], [-0.3, -0.7]], np.float32), np.array([[0.3, 0.0]], np.float32)
    assert local_ranks(apart, beside, 1e-3).rank.tolist() == [2, 2]
    found = local_ranks(apart, on_the_line, 1e-3)
    assert found.rank.tolist() == [1]
    np.testing.assert_allclose(found.told, [[1, 0]], atol=1e-6)


def test_values_on_a_grid_have_the_slopes_between_its_points():
    goals = continuous_goals(
        {"reward": {"kind": "gaussian", "sigma": 0.5}, "at": [{"x": 0.0}, {"x": 0.5}], "terminate": "never"}, PLANE
    )
    grid = grid_of(PLANE, 5)
    x = np.linspace(-1, 1, 5)
    q = np.stack([np.repeat(x**2, 5), np.repeat(3 * x, 5)])[:, None]  # of x alone, whatever the goal
    view = dataclasses.replace(grid_view(q, grid, PLANE, goals, 0.5, "greedy"), discount=jnp.float32(0.5))
    states = np.array([[-0.8, 0.3], [0.1, -1.0], [0.9, 1.9]], np.float32)
    bell = np.exp(-0.5 * ((states[:, :1] - [0.0, 0.5]) / 0.5) ** 2)
    paid = -bell * (states[:, :1] - [0.0, 0.5]) / 0.25
    lines = [np.diff([a**2, b**2])[0] / (b - a) for a, b in pairwise(x)]
    worth = [[lines[np.searchsorted(x, state) - 1], 3] for state in states[:, 0]]
    expected = 2 * (paid + 0.5 * np.array(worth))  # 2: the range of x
    found = np.stack([np.asarray(slopes(view, jnp.asarray(state))) for state in states])
    np.testing.assert_allclose(found[..., 0], expected, rtol=1e-4)
    assert (found[..., 1] == 0).all()
    assert local_ranks(view, states, 1e-3).rank.tolist() == [1, 1, 1]


def test_metrics_say_the_usual_rank_and_how_much_of_each_variable_is_told():
    states = np.random.default_rng(0).uniform(-1, 1, (300, 2)).astype(np.float32)
    view = quadratic([np.diag([1.0, 0.0])] * 2, [[0, 0], [3, 0]], (2, 4))  # both goals are about x alone
    found = metrics_of(LocalContext(PLANE, local_ranks(view, states, 1e-3)))
    assert found["ident.local_rank"] == {"value": 1.0, "by": {"states": {"rank 0": 0.0, "rank 1": 1.0, "rank 2": 0.0}}}
    assert found["ident.local_share"]["value"] == pytest.approx(0.5)
    assert found["ident.local_share"]["by"]["dimension"] == pytest.approx({"x": 1.0, "y": 0.0}, abs=1e-6)
    index = found["ident.local_sigma_min"]["by"]["index"]
    assert index["2"] == found["ident.local_sigma_min"]["value"] == pytest.approx(0, abs=1e-5) and index["1"] > 1


def test_what_is_flat_is_told_nowhere():
    view = quadratic(np.zeros((2, 2, 2)), np.zeros((2, 2)), (2, 2))
    found = local_ranks(view, np.ones((5, 2), np.float32), 1e-3)
    assert found.rank.tolist() == [0] * 5 and (found.told == 0).all()
