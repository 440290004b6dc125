"""PQN: parallel Q-learning with hindsight, for finite and continuous worlds alike.

options    what a spec may say           check      what it may not mean
networks   values from states and goals  rollout    acting in many environments
samples    what a rollout teaches        learner    one update
training   all updates, with resumption  evaluate   greedy returns, tables of values
finite     a training in a finite world  view       a continuous one's agent, as seen
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wmlab.agents.pqn.check import check
from wmlab.agents.pqn.options import Options
from wmlab.core.finite.world import FiniteWorld
from wmlab.registry import AgentTraits, agents

__all__ = ["Options", "pqn"]


def together(options: Options, worlds: Sequence[Any], goals: Sequence[Any], seeds: Sequence[int], **hooks: Any) -> Any:
    """Several seeds in one program: what a training leaves for each, or the error that it ended in."""
    if isinstance(worlds[0], FiniteWorld):
        from wmlab.agents.pqn.finite import learn_together

        return learn_together(options, worlds, goals, hooks.pop("at"), seeds, **hooks)
    from wmlab.agents.pqn.training import train_seeds

    return train_seeds([_simulator(options, world) for world in worlds], goals, options, seeds, **hooks)


def _simulator(options: Options, world: Any) -> Any:
    from wmlab.core.continuous.simulator import continuous_simulator

    return continuous_simulator(world, starts=options.starts, encoding=options.network.encoding)  # type: ignore[arg-type]


@agents.register(
    "pqn",
    Options,
    AgentTraits(
        values=lambda options: "learnt",
        draws=lambda options: True,
        learns=True,
        is_conditional=lambda options: options.policy != "uniform",
        together=together,
    ),
    check=check,
)
def pqn(options: Options, world: Any, goals: Any, seed: int, **hooks: Any) -> Any:
    """Parallel Q-learning (PQN): many environments at once, no replay buffer, no target network."""
    if isinstance(world, FiniteWorld):
        from wmlab.agents.pqn.finite import learn

        return learn(options, world, goals, hooks.pop("at"), seed, **hooks)
    from wmlab.agents.pqn.training import train

    return train(_simulator(options, world), goals, options, seed, **hooks)
