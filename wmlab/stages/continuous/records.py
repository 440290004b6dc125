"""Between stored arrays and the records of continuous worlds.

Shapes: C checkpoints, N states, d variables.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import jax.numpy as jnp
import numpy as np

from wmlab.agents.pqn.options import Options
from wmlab.agents.pqn.view import agent_view
from wmlab.core.continuous.goals import continuous_goals
from wmlab.core.continuous.grid import Grid
from wmlab.core.continuous.grid_view import grid_view
from wmlab.core.continuous.points import goal_points
from wmlab.core.continuous.space import ContinuousSpace
from wmlab.core.continuous.view import ContinuousView, Frame
from wmlab.core.continuous.world import ContinuousWorld
from wmlab.core.randomness import generator
from wmlab.core.simulator import GoalSet
from wmlab.extraction.continuous.extract import NeuralExtraction
from wmlab.extraction.continuous.grids import GridModel
from wmlab.extraction.continuous.models import NeuralModel
from wmlab.extraction.continuous.options import Fit, Model
from wmlab.extraction.continuous.residual import WorldModel
from wmlab.registry import build, mdps
from wmlab.runtime.result import Result
from wmlab.stages.continuous.external import NetworkAgent, load_network

STARTS = 512  # where a spec says where evaluation starts, and not how often
Weights = dict[str, np.ndarray]


def world_of(mdp: Mapping[str, Any], seed: int) -> ContinuousWorld:
    kind = mdps[mdp["kind"]]
    world: ContinuousWorld = kind.run(kind.build(mdp), seed)
    return world


def space_of(mdp: Mapping[str, Any]) -> ContinuousSpace:
    """The variables and actions of a world, and nothing of what the actions do."""
    kind = mdps[mdp["kind"]]
    space: ContinuousSpace = kind.traits.space(kind.build(mdp))
    return space


def states_of(said: str | int, space: ContinuousSpace, count: int, purpose: str) -> np.ndarray:
    """States [N, d] as a spec says: `uniform` or `reset`, `count` of them, or a number of resets.

    They are the same for every seed: what is compared, is compared on the same states.
    """
    number = count if isinstance(said, str) else said
    return space.sample(generator(0, purpose), number, "uniform" if said == "uniform" else "reset")


# --- agents ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TrainedAgent:
    """A trained agent: its weights at each checkpoint that was kept, its goals and its options."""

    space: ContinuousSpace
    goals: GoalSet
    labels: tuple[str, ...]  # [G]
    options: Options
    checkpoints: tuple[Weights, ...]  # [C], or the last alone

    @property
    def discount(self) -> float:
        return self.options.discount

    @property
    def policy(self) -> Literal["greedy", "uniform"]:
        return self.options.policy

    def view(self, states: Literal["uniform", "reset"] = "reset", checkpoint: int = -1) -> ContinuousView:
        """What an extraction may see of it; `states` says where it looks."""
        return agent_view(self.checkpoints[checkpoint], self.space, self.goals, self.options, states)


@dataclass(frozen=True, eq=False)
class TableAgent:
    """An agent whose values are a table on a grid of states; it has no checkpoints but the last."""

    space: ContinuousSpace
    goals: GoalSet
    labels: tuple[str, ...]  # [G]
    grid: Grid
    q: np.ndarray  # [G, A, N]
    discount: float
    policy: Literal["greedy", "uniform"]

    def view(self, states: Literal["uniform", "reset"] = "reset", checkpoint: int = -1) -> ContinuousView:
        """What an extraction may see of it; `states` says where it looks."""
        return grid_view(self.q, self.grid, self.space, self.goals, self.discount, self.policy, states)


Agent = TrainedAgent | TableAgent | NetworkAgent


def view_for(options: Fit, agent: Agent, checkpoint: int = -1) -> ContinuousView:
    """What an extraction with these options sees of an agent, with states where it looks for them."""
    view = agent.view(options.states, checkpoint)
    box = view.params["box"]
    for name, ends in options.bounds.items():
        box = box.at[agent.space.names.index(name)].set(jnp.array(ends, jnp.float32))
    return dataclasses.replace(view, params={**view.params, "box": box})


def aims_of(goals: Mapping[str, Any], space: ContinuousSpace, options: Options) -> GoalSet:
    """Training goals, written for networks the way these read states."""
    encoding = options.network.encoding
    assert encoding != "one_hot"
    return continuous_goals(goals, space, encoding)


def load_agent(agent: Result, space: ContinuousSpace) -> Agent:
    """The agent that a training left; it carries its own goals and options."""
    if "grid" in agent.data:
        return _load_table(agent, space)
    if "network" in agent.data:
        return load_network(agent, space)
    options: Options = build(Options, {key: value for key, value in agent.data["agent"].items() if key != "kind"})
    each = (below(agent.arrays, f"checkpoints/{index}/") for index in range(len(agent.data["steps"])))
    checkpoints = tuple(weights for weights in each if weights)
    goals = agent.data["asked"]
    labels = goal_points(goals, space).labels
    return TrainedAgent(space, aims_of(goals, space, options), labels, options, checkpoints)


def _load_table(agent: Result, space: ContinuousSpace) -> TableAgent:
    goals, asked = agent.data["asked"], agent.data["agent"]
    labels = goal_points(goals, space).labels
    grid = Grid(*(tuple(agent.data["grid"][part]) for part in ("shape", "low", "high", "periodic")))
    policy: Literal["greedy", "uniform"] = "uniform" if asked["policy"] == "uniform" else "greedy"
    aims, q = continuous_goals(goals, space), agent.arrays["q"]
    return TableAgent(space, aims, labels, grid, q, asked["discount"], policy)


def below(arrays: Mapping[str, np.ndarray], prefix: str) -> Weights:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


# --- models ----------------------------------------------------------------------------------------------------


def store_model(found: NeuralExtraction) -> Result:
    """A model's arrays, how they are read, and how far it is from the agent's values at held-out states."""
    arrays = {f"weights/{name}": array for name, array in found.weights.items()}
    arrays |= {"curve": found.curve, "held_out": found.states, "residual": found.errors}
    model = found.model
    if isinstance(model, GridModel):
        form: dict[str, Any] = {"form": "grid", "points": model.points, "between": model.between}
    else:
        form = {"form": "network", "options": dataclasses.asdict(model.options)}
    return Result(arrays, {"model": form, "notes": found.notes})


def load_model(stored: Result, space: ContinuousSpace) -> WorldModel:
    import jax.numpy as jnp

    form = stored.data["model"]
    weights = {name: jnp.asarray(array) for name, array in below(stored.arrays, "weights/").items()}
    frame, actions = Frame.of(space), len(space.actions)
    if form["form"] == "grid":
        return GridModel(weights, frame, actions, form["points"], form["between"])
    return NeuralModel(weights, frame, actions, Model(**form["options"]))
