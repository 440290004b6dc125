"""PQN: parallel Q-learning with hindsight, for finite and continuous worlds alike.

options    what a spec may say           check      what it may not mean
networks   values from states and goals  rollout    acting in many environments
samples    what a rollout teaches        learner    one update
training   all updates, with resumption  evaluate   greedy returns, tables of values
finite     a training in a finite world  view       a continuous one's agent, as seen
"""

from __future__ import annotations

from typing import Any

from wmlab.agents.pqn.check import check
from wmlab.agents.pqn.options import Options
from wmlab.registry import agents

__all__ = ["Options", "pqn"]


def in_finite(*world: Any, **hooks: Any) -> Any:
    """What a training in a finite world leaves: a `LearnedValues`."""
    from wmlab.agents.pqn.finite import learn

    return learn(*world, **hooks)


def together_in_finite(*worlds: Any, **hooks: Any) -> Any:
    """The same for several seeds at once: a `LearnedValues` for each, or the error that it ended in."""
    from wmlab.agents.pqn.finite import learn_together

    return learn_together(*worlds, **hooks)


def together(simulators: Any, goals: Any, options: Options, seeds: Any, **hooks: Any) -> Any:
    """Several seeds in one program: a `Trained` for each, or the error that it ended in."""
    from wmlab.agents.pqn.training import train_seeds

    return train_seeds(simulators, goals, options, seeds, **hooks)


@agents.register(
    "pqn",
    Options,
    check=check,
    draws=lambda options: True,
    world="any",
    learns=True,
    finite=in_finite,
    together=together,
    together_in_finite=together_in_finite,
)
def pqn(simulator: Any, goals: Any, options: Options, seed: int, **hooks: Any) -> Any:
    """Parallel Q-learning (PQN): many environments at once, no replay buffer, no target network."""
    from wmlab.agents.pqn.training import train

    return train(simulator, goals, options, seed, **hooks)
