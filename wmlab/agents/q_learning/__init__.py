"""Tabular Q-learning: values of a finite world, learnt from sampled transitions."""

from __future__ import annotations

from typing import Any

import numpy as np

from wmlab.agents.learning import LearnedValues
from wmlab.agents.q_learning.options import Options, check
from wmlab.core.finite.goals import Goals
from wmlab.core.finite.world import FiniteWorld
from wmlab.registry import AgentTraits, agents, always, fixed


@agents.register(
    "q_learning",
    Options,
    AgentTraits(
        worlds="finite",
        values=fixed("learnt"),
        draws=always,
        learns=True,
        is_conditional=lambda options: options.policy != "uniform",
        goals_between_states=True,
    ),
    check=check,
)
def q_learning(
    options: Options, world: FiniteWorld, goals: Goals, seed: int, *, at: np.ndarray | None = None, **hooks: Any
) -> LearnedValues:
    """Tabular Q-learning from sampled transitions, in many environments and for all goals at once.

    Where the goals lie (`at`) is nothing to a table.
    """
    from wmlab.agents.q_learning.updates import train

    return train(options, world, goals, seed, **hooks)
