"""Plans by sampling sequences of actions, beside plans on a grid."""

from __future__ import annotations

import dataclasses

import jax
import numpy as np
import pytest

from tests.making import unseen_task
from wmlab.planning import grid_value_iteration, sampling
from wmlab.registry import WorldChoice

KEY = jax.random.key(0)


def drift(size: int) -> WorldChoice:
    """A point in so many dimensions that goes where it is pushed."""
    names = [f"x{place}" for place in range(size)]
    return WorldChoice(
        {
            "kind": "dynamics",
            "state": {name: {"range": [-1, 1], "edge": "clip"} for name in names},
            "actions": {f"u{name}": {"range": [-1, 1]} for name in names},
            "next": {name: f"{name} + 0.2 * u{name}" for name in names},
            "horizon": 12,
        }
    )


def solved(solver, options, world, task, starts):
    return solver(options, world.dynamics, world, task, starts, space=world.space, discount=0.9, key=KEY)


@pytest.mark.slow
def test_sampling_reaches_as_soon_as_a_grid_does():
    choice = drift(1)
    world = choice.kind.run(choice.options, 0)
    task = unseen_task({"reach": {"x0": 0.9}, "within": 0.05}, world.space)
    starts = np.linspace(-0.9, 0.5, 8, dtype=np.float32)[:, None]
    tried = solved(sampling.sampling, sampling.Options(horizon=10), world, task, starts)
    least = np.ceil((0.85 - starts[:, 0]) / 0.2 - 1e-4)  # steps at full speed until it is near enough
    best = 0.9 ** (least - 1)
    assert tried.attained >= 0.97 * best.mean() and tried.attained <= best.mean() + 1e-6
    assert abs(tried.believed - tried.attained) < 0.02
    options = grid_value_iteration.Options(grid=81, controls=9)
    on_grid = solved(grid_value_iteration.grid_value_iteration, options, world, task, starts)
    assert on_grid.attained >= 0.97 * best.mean()


@pytest.mark.slow
def test_sampling_goes_where_no_grid_does():
    choice = drift(6)
    world = choice.kind.run(choice.options, 0)
    task = unseen_task({"reach": {f"x{place}": 0.5 for place in range(6)}, "within": 0.3}, world.space)
    starts = np.full((4, 6), -0.5, np.float32)
    tried = solved(sampling.sampling, sampling.Options(horizon=8), world, task, starts)
    assert (tried.returns > 0.9**8).all()  # five steps are needed at least
    blind = dataclasses.replace(sampling.Options(), horizon=1, rounds=1, samples=2, elites=1)
    assert solved(sampling.sampling, blind, world, task, starts).attained < tried.attained


def test_a_region_to_avoid_is_gone_round():
    choice = drift(2)
    world = choice.kind.run(choice.options, 0)
    said = {"reach": {"x0": 0.8, "x1": 0.0}, "within": 0.15, "avoid": "abs(x0) < 0.25 and abs(x1) < 0.3"}
    starts = np.array([[-0.8, 0.05]], np.float32)
    tried = solved(sampling.sampling, sampling.Options(horizon=12), world, unseen_task(said, world.space), starts)
    assert tried.returns[0] > 0 and not (np.abs(tried.path[:, 0]) < 0.25)[np.abs(tried.path[:, 1]) < 0.3].any()
