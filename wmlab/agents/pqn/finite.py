"""PQN in a finite world, where all of its values fit in a table."""

from __future__ import annotations

from typing import Any

import numpy as np

from wmlab.agents.learning import Learnt
from wmlab.agents.pqn.evaluate import q_values
from wmlab.agents.pqn.options import Options
from wmlab.agents.pqn.training import train
from wmlab.goals.finite import Goals
from wmlab.mdps.world import FiniteWorld
from wmlab.simulators import finite_goals, finite_simulator


def learn(options: Options, world: FiniteWorld, goals: Goals, at: np.ndarray | None, seed: int, **hooks: Any) -> Learnt:
    """Train in a finite world, and read Q at each checkpoint. `at` [G] are the states of the goals, if they are."""
    simulator = finite_simulator(world, starts=options.starts, encoding=options.network.encoding)  # type: ignore[arg-type]
    aims = finite_goals(goals, at)
    trained = train(simulator, aims, options, seed, **hooks)
    q = np.stack([q_values(weights, simulator, aims, options) for weights in trained.checkpoints])
    return Learnt(q, trained.steps, trained.returns, trained.visits, trained.curves, trained.checkpoints[-1])
