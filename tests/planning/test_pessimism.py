"""Plans that count on what members of an ensemble agree on, against robust value iteration in NumPy."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.environments import FunctionDynamics
from tests.making import unseen_task
from wmlab.core.continuous.dynamics import ContinuousWorld
from wmlab.core.continuous.ensemble import Ensemble
from wmlab.core.continuous.grid import grid_of
from wmlab.core.continuous.space import ContinuousSpace, Variable
from wmlab.core.continuous.view import Frame
from wmlab.planning import grid_value_iteration as solver
from wmlab.planning.continuous.pessimism import cautious_values, tabulate_members
from wmlab.registry import ExtractionChoice, Scope

LINE = ContinuousSpace((Variable("x", 0, 10, "clip"),), ("a", "b", "c"), ("u",), ((0.0,), (1.0,), (2.0,)), ((0, 10),))
GOAL = {"reach": {"x": 10}, "within": 0.5, "avoid": "x < 0.5"}
DISCOUNT, POINTS = 0.9, np.arange(11.0)


def jump(table, states, actions, noise):
    """Where a table [A, 11] leads from the point next to each state."""
    return table[actions, jnp.round(states[:, 0]).astype(int)][:, None]


def ensemble(tables) -> Ensemble:
    """Members that know where each action leads from each point, [K, A, 11]."""
    return Ensemble(FunctionDynamics(jnp.asarray(tables, jnp.float32), jump), Frame.of(LINE), 3)


def robust_values(tables: np.ndarray, pessimism: float) -> np.ndarray:
    """Plain sweeps of (1 - p) Q(mean) + p min over members, [11]; the mean of places lies between points."""
    value = np.zeros(11)

    def q(after: np.ndarray) -> np.ndarray:
        reached, lost = after > 9.5, after < 0.5
        return np.where(reached, 1.0, np.where(lost, 0.0, DISCOUNT * np.interp(after, POINTS, value)))

    for _ in range(400):
        value = ((1 - pessimism) * q(tables.mean(axis=0)) + pessimism * q(tables).min(axis=0)).max(axis=0)
    return value


@pytest.mark.parametrize("pessimism", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_values_are_those_of_robust_sweeps(seed, pessimism):
    tables = np.random.default_rng(seed).integers(0, 11, (4, 3, 11)).astype(float)
    grid, share = grid_of(LINE, 11), jnp.float32(pessimism)
    table = tabulate_members(grid, ensemble(tables), unseen_task(GOAL, LINE), DISCOUNT, 3, 5, share)
    found = cautious_values(grid, table, jnp.zeros(11), 1e-6, 1000)
    assert float(found.residual) <= 1e-6
    np.testing.assert_allclose(found.value, robust_values(tables, pessimism), atol=1e-4)


def bridge_and_way_round() -> np.ndarray:
    """From 5, a leads to 10 as two members see it and to 0 as the third does; b and c go there step by step."""
    tables = np.tile(np.minimum(POINTS + 1, 10), (3, 3, 1))
    tables[:, 0, 5] = 10, 10, 0
    return tables


def planned(pessimism: float, world: ContinuousWorld):
    options = solver.Options(grid=11, pessimism=pessimism)
    task, starts = unseen_task(GOAL, LINE), np.full((1, 1), 5.0, np.float32)
    more = {"space": LINE, "discount": DISCOUNT, "key": jax.random.key(0)}
    return solver.grid_value_iteration(options, ensemble(bridge_and_way_round()), world, task, starts, **more)


def test_a_pessimist_goes_round_a_short_cut_that_members_do_not_agree_on():
    tables = bridge_and_way_round()
    falls = ContinuousWorld(LINE, FunctionDynamics(jnp.asarray(tables[2], jnp.float32), jump), 50)
    bold, careful = planned(0.0, falls), planned(1.0, falls)
    assert bold.attained == 0 and bold.believed > careful.believed  # the mean of the three is a step and more ahead
    assert careful.attained == pytest.approx(DISCOUNT**4) and careful.believed == pytest.approx(DISCOUNT**4, abs=1e-4)


def test_pessimism_without_members_is_refused_at_its_line():
    options, space = solver.Options(grid=11, pessimism=0.5), LINE
    single = Scope(space, extract=ExtractionChoice({"kind": "p_learning"}), extracts=True)
    several = Scope(space, extract=ExtractionChoice({"kind": "p_learning", "ensemble": 5}), extracts=True)
    (finding,) = solver.check(options, single)
    assert finding.path == ("pessimism",) and "extract.ensemble: 5" in finding.hint
    assert list(solver.check(options, several)) == []
