"""What is measured in a continuous world, with what several measurements share.

Shapes: N states, A actions, G goals, d variables.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, Protocol

import numpy as np

from wmlab.agents.pqn.options import Options
from wmlab.core.continuous.dynamics import ContinuousWorld, Dynamics
from wmlab.core.continuous.ensemble import Ensemble
from wmlab.core.continuous.log import Log
from wmlab.core.continuous.space import ContinuousSpace
from wmlab.core.continuous.view import ContinuousView
from wmlab.core.goals import GoalSet
from wmlab.core.randomness import jax_key
from wmlab.measure.continuous.logged import LoggedMoves, logged_moves
from wmlab.measure.continuous.members import MembersApart, members_apart
from wmlab.measure.continuous.moves import Sampled, sample_errors
from wmlab.measure.continuous.states import states_of
from wmlab.sections.experiment import Evaluate
from wmlab.sections.spec import Compare

DRAWS = 64  # of next states, where one of two models is stochastic


class MeasuredAgent(Protocol):
    """An agent as it is measured: its goals, its policy, and its values as a view of them."""

    @property
    def space(self) -> ContinuousSpace: ...
    @property
    def goals(self) -> GoalSet: ...
    @property
    def labels(self) -> tuple[str, ...]: ...  # [G]
    @property
    def discount(self) -> float: ...
    @property
    def policy(self) -> Literal["greedy", "uniform"]: ...
    def view(self, states: Literal["uniform", "reset"] = "reset", checkpoint: int = -1) -> ContinuousView: ...


@dataclass(frozen=True, eq=False)
class TrainedWeights:
    """What an agent learnt here: its weights at a checkpoint."""

    options: Options
    weights: Mapping[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class Fitted:
    """A model, and how far it is from the agent's values at held-out states."""

    dynamics: Dynamics
    states: np.ndarray  # [N, d]
    residual: np.ndarray  # [N, A, G]


@dataclass(frozen=True, eq=False)
class ContinuousContext:
    """An agent at a checkpoint, its model and its world."""

    agent: MeasuredAgent
    model: Fitted | None  # None: nothing was extracted
    world: ContinuousWorld | None  # None: nobody knows it
    asked: Evaluate = Evaluate()
    bounds: Mapping[str, tuple[float, ...]] = field(default_factory=dict)  # of a grid that values are taken on
    checkpoint: int = -1
    network: TrainedWeights | None = None  # None: its values are a table, or come from elsewhere
    regressed: Dynamics | None = None  # a model of transitions, where one is asked for
    log: Log | None = None  # logged transitions, where there are any

    @property
    def truth(self) -> ContinuousWorld:
        assert self.world is not None
        return self.world

    @cached_property
    def view(self) -> ContinuousView:
        return self.agent.view(checkpoint=self.checkpoint)

    @property
    def against_data(self) -> bool:
        """Whether models are held against logged transitions."""
        return self.asked.model_error is not None and self.asked.model_error.against == "data"

    @cached_property
    def held_out(self) -> Log:
        """The logged transitions that models are held against."""
        assert self.log is not None
        return self.log.part(held_out=True)

    @cached_property
    def logged(self) -> LoggedMoves:
        """What happened in held-out transitions beside the model."""
        assert self.model is not None
        return logged_moves(self.agent.space, self.model.dynamics, self.held_out)

    @cached_property
    def sampled(self) -> Sampled:
        """Truth beside model at the states that a spec asks for."""
        assert self.model is not None
        return self.sampled_of(self.model.dynamics)

    def sampled_of(self, model: Dynamics) -> Sampled:
        """Truth beside another model at the same states."""
        world, asked = self.truth, self.asked.model_error
        assert asked is not None
        states = states_of(asked.states, world.space, asked.samples, "states of the model's error")
        key = jax_key(0, "draws of the model's error")
        return sample_errors(world.space, world.dynamics, model, states, key, asked.draws)

    @property
    def ensemble(self) -> Ensemble:
        """The model, where it has members; that it has, the check of `evaluate` has seen to."""
        assert self.model is not None and isinstance(self.model.dynamics, Ensemble)
        return self.model.dynamics

    @cached_property
    def members(self) -> MembersApart:
        """The members of an ensemble at the states that a spec asks for."""
        asked, space = self.asked.disagreement, self.agent.space
        assert asked is not None
        states = states_of(asked.states, space, asked.samples, "states of the model's error")
        return members_apart(space, self.ensemble, states)


@dataclass(frozen=True, eq=False)
class ContinuousPair:
    """The models of two agents in worlds of the same variables."""

    model: Dynamics
    other: Dynamics
    space: ContinuousSpace
    world: ContinuousWorld | None
    asked: Compare

    @cached_property
    def states(self) -> np.ndarray:
        return states_of(self.asked.states, self.space, self.asked.samples, "states of a comparison")

    def sampled(self, reference: Dynamics, other: Dynamics) -> Sampled:
        """One of two dynamics beside the other, always at the same states."""
        return sample_errors(self.space, reference, other, self.states, jax_key(0, "draws of a comparison"), DRAWS)
