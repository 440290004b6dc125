"""Between stored arrays and the records of continuous worlds.

Shapes: C checkpoints, G goals, A actions, N grid points.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from wmlab.agents.external.critic import critic_view
from wmlab.agents.external.network import network_view
from wmlab.agents.external.options import ExternalNetwork
from wmlab.agents.external.options import Options as ExternalOptions
from wmlab.agents.pqn.networks import agent_view
from wmlab.agents.pqn.options import Options
from wmlab.core.continuous.dynamics import ContinuousWorld
from wmlab.core.continuous.ensemble import Ensemble
from wmlab.core.continuous.goals import ContinuousGoals, continuous_goals
from wmlab.core.continuous.grid import Grid, grid_view
from wmlab.core.continuous.log import Log, in_logged_states
from wmlab.core.continuous.points import goal_points
from wmlab.core.continuous.space import ContinuousSpace
from wmlab.core.continuous.view import ActionBox, AgentView, ContinuousView, Frame, Policy, States
from wmlab.core.goals import GoalSet
from wmlab.extraction.continuous.fit import NeuralExtraction, evaluation_bytes
from wmlab.extraction.continuous.models import GridModel, NeuralModel, WorldModel
from wmlab.extraction.continuous.options import FitOptions, Model
from wmlab.registry import AgentChoice, WorldChoice, build
from wmlab.runtime.result import Result
from wmlab.sections.experiment import GoalsSection
from wmlab.stages.log_files import read_log
from wmlab.stages.params import StageParams

Weights = dict[str, np.ndarray]


def world_of(mdp: WorldChoice, seed: int) -> ContinuousWorld:
    world: ContinuousWorld = mdp.kind.run(mdp.options, seed)
    return world


def known_world(asked: StageParams) -> ContinuousWorld | None:
    """The world that a stage is about, where it is known what actions do."""
    return world_of(asked.mdp, asked.seed) if asked.mdp.knows_truth else None


# --- agents ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Agent(ABC):
    """An agent in a continuous world, as a training or a file left it."""

    space: ContinuousSpace
    goals: GoalSet
    labels: tuple[str, ...]  # [G]
    discount: float
    policy: Policy

    @abstractmethod
    def view(self, states: States = "reset", checkpoint: int = -1) -> AgentView:
        """What an extraction may see of it; `states` says where it looks. Only a trained agent has checkpoints."""


@dataclass(frozen=True, eq=False)
class TrainedAgent(Agent):
    """A trained agent: its weights at each checkpoint that was kept, and its options."""

    options: Options
    checkpoints: tuple[Weights, ...]  # [C], or the last alone

    def view(self, states: States = "reset", checkpoint: int = -1) -> AgentView:
        return agent_view(self.checkpoints[checkpoint], self.space, self.goals, self.options, states)


@dataclass(frozen=True, eq=False)
class TableAgent(Agent):
    """An agent whose values are a table on a grid of states."""

    grid: Grid
    q: np.ndarray  # [G, A, N]

    def view(self, states: States = "reset", checkpoint: int = -1) -> AgentView:
        return grid_view(self.q, self.grid, self.space, self.goals, self.discount, self.policy, states)


@dataclass(frozen=True, eq=False)
class NetworkAgent(Agent):
    """An agent whose values are a network's from elsewhere."""

    network: ExternalNetwork
    weights: Weights

    def view(self, states: States = "reset", checkpoint: int = -1) -> AgentView:
        return network_view(self.weights, self.network, self.space, self.goals, self.discount, self.policy, states)


@dataclass(frozen=True, eq=False)
class CriticAgent(Agent):
    """An agent from elsewhere whose actions are from a box: critics, and an actor or a V."""

    options: ExternalOptions
    weights: Weights

    def view(self, states: States = "reset", checkpoint: int = -1) -> AgentView:
        return critic_view(self.weights, self.options, self.space, self.goals, states)


def log_of(asked: StageParams, stored: Result) -> Log | None:
    """The logged transitions that a stage uses, for the goals that an agent carries along."""
    if asked.data is None:
        return None
    return read_log(asked.data, asked.mdp.space, asked.files, build(StoredAgent, stored.data).asked)


def view_for(options: FitOptions, agent: Agent, checkpoint: int = -1, log: Log | None = None) -> ContinuousView:
    """What an extraction with these options sees of an agent, with states where it looks for them."""
    if options.states == "data":
        assert log is not None
        return in_logged_states(agent.view(checkpoint=checkpoint), log)
    view = agent.view(options.states, checkpoint)
    box = view.box
    for name, ends in options.bounds.items():
        box = box.at[agent.space.names.index(name)].set(jnp.array(ends, jnp.float32))
    return dataclasses.replace(view, box=box)


def evaluated_bytes(asked: StageParams, inputs: Mapping[str, Result]) -> int:
    """About how much memory a stage takes that asks an agent for its values at many states, for all of its goals."""
    return evaluation_bytes(load_agent(inputs["agent"], asked.mdp.space).view())


def aims_of(goals: GoalsSection, space: ContinuousSpace, agent: AgentChoice) -> ContinuousGoals:
    """Training goals, written the way that an agent reads them."""
    return continuous_goals(goals, space, agent.traits.encoding(agent.options))


@dataclass(frozen=True)
class StoredAgent:
    """What a training or a file leaves of an agent beside arrays: its goals, its options, and how arrays are read."""

    goals: tuple[str, ...]  # labels [G]
    asked: GoalsSection
    agent: AgentChoice
    steps: tuple[int, ...] = ()  # [C] of a training
    grid: Grid | None = None  # of a table
    network: ExternalNetwork | None = None  # from elsewhere


def load_agent(stored: Result, space: ContinuousSpace) -> Agent:
    """The agent that a training or a file left; it carries its own goals and options."""
    told = build(StoredAgent, stored.data)
    options, goals = told.agent.options, told.asked
    labels, discount = goal_points(goals, space).labels, options.discount
    policy: Policy = "uniform" if options.policy == "uniform" else "greedy"
    if told.grid is not None:
        aims = continuous_goals(goals, space)
        return TableAgent(space, aims, labels, discount, policy, told.grid, stored.arrays["q"])
    if told.network is not None:
        encoding: Any = told.network.encoding
        aims, weights = continuous_goals(goals, space, encoding), below(stored.arrays, "weights/")
        if space.in_box:
            return CriticAgent(space, aims, labels, discount, policy, options, weights)
        return NetworkAgent(space, aims, labels, discount, policy, told.network, weights)
    each = (below(stored.arrays, f"checkpoints/{index}/") for index in range(len(told.steps)))
    checkpoints = tuple(weights for weights in each if weights)
    aims = aims_of(goals, space, told.agent)
    return TrainedAgent(space, aims, labels, discount, policy, options, checkpoints)


def below(arrays: Mapping[str, np.ndarray], prefix: str) -> Weights:
    """The arrays whose names begin with a prefix, without it."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


# --- models ----------------------------------------------------------------------------------------------------


def store_model(extraction: NeuralExtraction) -> Result:
    """A model's arrays, how they are read, and how far it is from the agent's values at held-out states."""
    arrays = {f"weights/{name}": array for name, array in extraction.weights.items()}
    arrays |= {"curve": extraction.curve, "held_out": extraction.states, "residual": extraction.errors}
    model = extraction.model
    if isinstance(model, GridModel):
        form: dict[str, Any] = {"form": "grid", "points": model.points, "between": model.between}
    elif isinstance(model, Ensemble) and isinstance(model.members, NeuralModel):
        form = {"form": "ensemble", "members": model.size, "options": dataclasses.asdict(model.members.options)}
    else:
        assert isinstance(model, NeuralModel)
        form = {"form": "network", "options": dataclasses.asdict(model.options)}
    return Result(arrays, {"model": form, "notes": extraction.notes})


def load_model(stored: Result, space: ContinuousSpace) -> WorldModel:
    """The model that `store_model` left."""
    form = stored.data["model"]
    weights = {name: jnp.asarray(array) for name, array in below(stored.arrays, "weights/").items()}
    frame, box = Frame.of(space), ActionBox.of(space)
    actions = len(space.actions) if box is None else box.size
    if form["form"] == "grid":
        return GridModel(weights, frame, actions, form["points"], form["between"])
    if form["form"] == "ensemble":
        frames, boxes = jax.tree.map(lambda leaf: jnp.stack([leaf] * form["members"]), (frame, box))
        return Ensemble(NeuralModel.of(weights, frames, actions, Model(**form["options"]), boxes), frame, actions)
    return NeuralModel.of(weights, frame, actions, Model(**form["options"]), box)
