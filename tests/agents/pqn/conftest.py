"""A chain of five states, and agents small enough to train in a second."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from wmlab.core.finite.goals import Goals
from wmlab.core.finite.kernel import Kernel
from wmlab.core.finite.space import FiniteSpace
from wmlab.core.finite.world import FiniteWorld
from wmlab.registry import build

SIZE = 5


def make_world(horizon: int | None = 20, reset: int | None = None) -> FiniteWorld:
    """States 0 … 4 in a row; left and right stay put at the ends."""
    space = FiniteSpace(tuple(f"s{index}" for index in range(SIZE)), ("left", "right"))
    here = np.arange(SIZE)
    successor = np.stack([np.maximum(here - 1, 0), np.minimum(here + 1, SIZE - 1)], axis=1)
    start = np.full(SIZE, 1 / SIZE) if reset is None else np.eye(SIZE)[reset]
    return FiniteWorld(space, Kernel.deterministic(successor), start, horizon)


def make_goals(*at: int) -> Goals:
    """Arriving pays 1 and ends the episode."""
    arrived = np.eye(SIZE)[list(at)]
    return Goals(arrived, 1 - arrived, tuple(f"s{state}" for state in at))


def make_options(**changes: Any) -> Any:
    """A small agent; nested mappings are merged into its options."""
    from wmlab.agents.pqn import Options

    data: dict[str, Any] = {
        "discount": 0.9,
        "network": {"depth": 1, "width": 32},
        "optimiser": {"rate": 1e-2},
        "steps": 65_536,
        "envs": 16,
        "rollout": 16,
        "minibatch": 32,
        "explore": {"to": 0.5},
        "checkpoints": 4,
    }
    for name, value in changes.items():
        data[name] = {**data[name], **value} if isinstance(data.get(name), dict) and isinstance(value, dict) else value
    return build(Options, data)


def optimal_values(world: FiniteWorld, goals: Goals, discount: float) -> np.ndarray:
    """Q* [G, S, A] by value iteration."""
    values = np.zeros(goals.reward.shape)
    for _ in range(500):
        q = world.kernel.expect(goals.reward + discount * goals.continues * values)
        values = q.max(axis=-1)
    return q


class Enough(Exception):
    """A training has gone on for as long as a test needs."""


def first_updates(count: int, begin: Callable[..., Any]) -> list[dict[str, np.ndarray]]:
    """The partial results after each of the first updates of a training, which then stops."""
    seen: list[dict[str, np.ndarray]] = []

    def save(partial: dict[str, np.ndarray]) -> None:
        seen.append(partial)
        if len(seen) == count:
            raise Enough

    with contextlib.suppress(Enough):
        begin(save=save, save_every=0)
    return seen


@pytest.fixture(scope="session")
def chain() -> SimpleNamespace:
    """The chain with goals at both ends, ready to train on."""
    from wmlab.core.finite.simulator import finite_goals, finite_simulator

    world, goals = make_world(), make_goals(0, SIZE - 1)
    return SimpleNamespace(
        world=world,
        goals=goals,
        simulator=finite_simulator(world),
        goal_set=finite_goals(goals, np.array([0, SIZE - 1])),
    )
