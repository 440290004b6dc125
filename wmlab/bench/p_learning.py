"""How fast P-learning is here: updates per second at the paper's settings and at those for a laptop.

The agents have random weights, which cost as much as trained ones. Of the work only what the loss needs is counted:
the agent once at the state, once at every state that is reached, and its gradient where a return ends; the model
three times at each step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from wmlab.agents.pqn import networks
from wmlab.agents.pqn.networks import agent_view, space_reader
from wmlab.agents.pqn.options import Network
from wmlab.agents.pqn.options import Options as Agent
from wmlab.bench import loads
from wmlab.bench.loads import fastest
from wmlab.bench.pqn import Speed, matmul_peak
from wmlab.core.continuous.goals import continuous_goals
from wmlab.core.continuous.view import ContinuousView
from wmlab.extraction.continuous import estimators, fit
from wmlab.extraction.continuous.models import fresh
from wmlab.extraction.continuous.options import FitOptions, Model
from wmlab.stages.continuous.records import world_of

SCALED = Model(encoding="normalised")
CAR_HEADS = Network(3, 256, encoding="normalised")
ARM_HEADS = Network(4, 512, activation="silu", encoding="sincos")


@dataclass(frozen=True)
class FitCase:
    """An agent and a fit to it."""

    world: str
    agent: Network
    options: FitOptions


CASES = {
    "MountainCar, paper: 4x1024, batch 4096": FitCase(
        "car", Network(4, 1024, goal="input", encoding="raw"), FitOptions(batch=4096)
    ),
    "MountainCar, laptop: 3x256, batch 1024, 1 step": FitCase(
        "car", CAR_HEADS, FitOptions(model=SCALED, batch=1024, goals="all")
    ),
    "MountainCar, laptop: 3x256, batch 1024, 5 steps": FitCase(
        "car", CAR_HEADS, FitOptions(model=SCALED, batch=1024, horizon=5)
    ),
    "Reacher, paper: 6x2048, batch 1024": FitCase(
        "arm", Network(6, 2048, goal="input", encoding="raw"), FitOptions(batch=1024, states="reset")
    ),
    "Reacher, laptop: 4x512, batch 1024, 1 step": FitCase(
        "arm", ARM_HEADS, FitOptions(model=SCALED, batch=1024, goals="all")
    ),
    "Reacher, laptop: 4x512, batch 1024, 10 steps": FitCase(
        "arm", ARM_HEADS, FitOptions(model=SCALED, batch=1024, horizon=10)
    ),
}


def measure(seconds: float = 5.0) -> Iterator[Speed]:
    """The speed of every case, each fitted for about that long."""
    for name, case in CASES.items():
        view, update = prepare(case)
        peak, best = matmul_peak(), fastest(update, seconds)
        rate = f"{1 / best:8.2f} updates/s"
        yield Speed(f"{name:48}", rate, operations(case, view) / best, max(peak, matmul_peak()))


def prepare(case: FitCase) -> tuple[ContinuousView, Callable[[], Any]]:
    """An agent with random weights, and one update after the other of a fit to it; the first of them compiles."""
    agent, options = Agent(network=case.agent), case.options
    space = world_of(loads.CAR if case.world == "car" else loads.ARM, 0).space
    asked = loads.POSITIONS if case.world == "car" else loads.FINGERTIPS
    reader = space_reader(space, agent)
    goals = continuous_goals(asked, space, reader.encoding)
    weights = networks.init(jax.random.key(0), reader, goals, case.agent)
    view = agent_view(weights, space, goals, agent, "reset" if options.states == "reset" else "uniform")
    model = fresh(jax.random.key(1), view.frame, view.actions, options.model)
    state = fit.begin(model, options, jax.random.key_data(jax.random.key(2)))

    def update() -> Any:
        nonlocal state
        state, stats = fit.advance(state, view, jnp.int32(1), estimators.objective, options)
        return jax.block_until_ready((state, stats))

    update()
    return view, update


def operations(case: FitCase, view: ContinuousView) -> int:
    """Multiplications and additions that one update needs."""
    agent, options = case.agent, case.options
    outputs = view.actions * (1 if agent.goal == "input" else view.goals)
    per_state = (agent.depth - 1) * agent.width**2 + agent.width * (view.frame.size + outputs)
    per_row = options.model.width * (options.model.width + 2 * view.frame.size + view.actions)
    return 2 * options.batch * ((options.reach + 2) * per_state + 3 * options.reach * per_row)


def main() -> None:
    """Print the speed of every case."""
    for speed in measure():
        print(speed, flush=True)
