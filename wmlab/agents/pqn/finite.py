"""PQN in a finite world, where all of its values fit in a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wmlab.agents.learning import LearnedValues
from wmlab.agents.pqn.evaluate import q_values
from wmlab.agents.pqn.options import Options
from wmlab.agents.pqn.record import Trained
from wmlab.agents.pqn.training import train, train_seeds
from wmlab.core.finite.goals import Goals
from wmlab.core.finite.simulator import finite_goals, finite_simulator
from wmlab.core.finite.world import FiniteWorld
from wmlab.core.goals import GoalSet
from wmlab.core.simulator import Simulator
from wmlab.errors import StageError


def learn(
    options: Options, world: FiniteWorld, goals: Goals, at: np.ndarray | None, seed: int, **hooks: Any
) -> LearnedValues:
    """Train in a finite world, and read Q at each checkpoint. `at` [G] are the states of the goals, if they are."""
    simulator, aims = _simulated(options, world), finite_goals(goals, at)
    return _learned_values(train(simulator, aims, options, seed, **hooks), simulator, aims, options)


def learn_together(
    options: Options,
    worlds: Sequence[FiniteWorld],
    goals: Sequence[Goals],
    at: np.ndarray | None,
    seeds: Sequence[int],
    **hooks: Any,
) -> list[LearnedValues | StageError]:
    """Train several seeds in one program, each in its own world and for its own goals, which are at states `at` [G]."""
    simulators = [_simulated(options, world) for world in worlds]
    aims = [finite_goals(one, at) for one in goals]
    trained = train_seeds(simulators, aims, options, seeds, **hooks)
    return [
        one if isinstance(one, StageError) else _learned_values(one, simulator, aim, options)
        for one, simulator, aim in zip(trained, simulators, aims, strict=True)
    ]


def _simulated(options: Options, world: FiniteWorld) -> Simulator:
    return finite_simulator(world, starts=options.starts, encoding=options.network.encoding)  # type: ignore[arg-type]


def _learned_values(trained: Trained, simulator: Simulator, aims: GoalSet, options: Options) -> LearnedValues:
    q = np.stack([q_values(weights, simulator, aims, options) for weights in trained.checkpoints])
    return LearnedValues(q, trained.steps, trained.returns, trained.visits, trained.curves, trained.checkpoints[-1])
