"""PQN: parallel Q-learning with hindsight, for finite and continuous worlds alike.

options    what a spec may say           check      what it may not mean
networks   values from states and goals  rollout    acting in many environments
samples    what a rollout teaches        learner    one update
keeping    what was seen, if asked for
training   all updates, with resumption  evaluate   greedy returns, tables of values
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wmlab.agents.learning import LearnedValues
from wmlab.agents.pqn.check import check
from wmlab.agents.pqn.options import Options
from wmlab.core.finite.world import FiniteWorld
from wmlab.errors import StageError
from wmlab.registry import AgentTraits, agents, always, fixed

__all__ = ["Options", "pqn"]


def together(
    options: Options, worlds: Sequence[Any], goals: Sequence[Any], seeds: Sequence[int], *, at: Any = None, **hooks: Any
) -> list[Any]:
    """Several seeds in one program: what a training leaves for each, or the error that it ended in."""
    from wmlab.agents.pqn.training import train_seeds

    pairs = [to_act_in(options, world, aims, at) for world, aims in zip(worlds, goals, strict=True)]
    simulators, aims = zip(*pairs, strict=True)
    trained = train_seeds(simulators, aims, options, seeds, **hooks)
    return [
        one if isinstance(one, StageError) else learnt(options, one, *pair)
        for one, pair in zip(trained, pairs, strict=True)
    ]


def to_act_in(options: Options, world: Any, goals: Any, at: np.ndarray | None) -> tuple[Any, Any]:
    """A world as a Simulator, and its goals as a GoalSet; in a finite one `at` [G] are their states, if they are."""
    how: Any = {"starts": options.starts, "encoding": options.network.encoding}
    if isinstance(world, FiniteWorld):
        from wmlab.core.finite.simulator import finite_goals, finite_simulator

        alike = options.hindsight is not None and options.hindsight.outside == "alike"
        return finite_simulator(world, **how), finite_goals(goals, at, alike=alike)
    from wmlab.core.continuous.simulator import continuous_simulator

    return continuous_simulator(world, **how), goals


def learnt(options: Options, trained: Any, simulator: Any, goals: Any) -> Any:
    """What a training leaves: in a finite world all of its values, which fit in a table."""
    if not simulator.states:
        return trained
    from wmlab.agents.pqn.evaluate import q_values

    q = np.stack([q_values(weights, simulator, goals, options) for weights in trained.checkpoints])
    return LearnedValues(q, trained.steps, trained.returns, trained.visits, trained.curves, trained.checkpoints[-1])


@agents.register(
    "pqn",
    Options,
    AgentTraits(
        values=fixed("learnt"),
        draws=always,
        learns=True,
        is_conditional=lambda options: options.policy != "uniform",
        goals_between_states=True,
        encoding=lambda options: options.network.encoding,
        together=together,
        keeps_transitions=True,
    ),
    check=check,
)
def pqn(options: Options, world: Any, goals: Any, seed: int, *, at: np.ndarray | None = None, **hooks: Any) -> Any:
    """Parallel Q-learning (PQN): many environments at once, no replay buffer, no target network."""
    from wmlab.agents.pqn.training import train

    pair = to_act_in(options, world, goals, at)
    return learnt(options, train(*pair, options, seed, **hooks), *pair)
