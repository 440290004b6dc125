"""How fast P-learning is here: updates per second at the paper's settings and at those for a laptop.

The agents have random weights, which cost as much as trained ones. Of the work only what the loss needs is counted:
the agent once at the state, once at every state that is reached, and its gradient where a return ends; the model
three times at each step.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jax import Array

from wmlab.agents.pqn import networks
from wmlab.agents.pqn.options import Network
from wmlab.agents.pqn.options import Options as Agent
from wmlab.agents.pqn.view import agent_view, space_reader
from wmlab.bench import mountaincar
from wmlab.bench.pqn import Speed, matmul_peak
from wmlab.core.continuous.space import ContinuousSpace, Variable
from wmlab.core.continuous.view import ContinuousView
from wmlab.core.goals import GoalSet
from wmlab.core.programs import pytree
from wmlab.extraction.continuous import estimators, fit
from wmlab.extraction.continuous.models import fresh
from wmlab.extraction.continuous.options import FitOptions, Model

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
        yield measure_case(name, case, seconds)


def measure_case(name: str, case: FitCase, seconds: float) -> Speed:
    """Fit for a while; the fastest update counts, as the fastest peak."""
    view, state = prepare(case)
    one = jnp.int32(1)
    state, stats = fit.advance(state, view, one, estimators.objective, case.options)  # compiles
    jax.block_until_ready(stats)
    peak, best, began = matmul_peak(), float("inf"), time.perf_counter()
    while time.perf_counter() - began < seconds:
        before = time.perf_counter()
        state, stats = fit.advance(state, view, one, estimators.objective, case.options)
        jax.block_until_ready((state, stats))
        best = min(best, time.perf_counter() - before)
    peak = max(peak, matmul_peak())
    return Speed(f"{name:48}", f"{1 / best:8.2f} updates/s", operations(case, view) / best, peak)


def prepare(case: FitCase) -> tuple[ContinuousView, fit.State]:
    """An agent with random weights, and a fit that has not begun."""
    agent = Agent(network=case.agent)
    space, goals = (car(), mountaincar.goals()) if case.world == "car" else (arm(), fingertip_goals())
    weights = networks.init(jax.random.key(0), space_reader(space, agent), goals, case.agent)
    view = agent_view(weights, space, goals, agent, case.options.states)
    model = fresh(jax.random.key(1), view.frame, view.actions, case.options.model)
    return view, fit.begin(model, case.options, jax.random.key_data(jax.random.key(2)))


def operations(case: FitCase, view: ContinuousView) -> int:
    """Multiplications and additions that one update needs."""
    agent, options = case.agent, case.options
    outputs = view.actions * (1 if agent.goal == "input" else view.goals)
    per_state = (agent.depth - 1) * agent.width**2 + agent.width * (view.frame.size + outputs)
    per_row = options.model.width * (options.model.width + 2 * view.frame.size + view.actions)
    return 2 * options.batch * ((options.reach + 2) * per_state + 3 * options.reach * per_row)


# --- loads: the states and goals of the paper's worlds; what actions do plays no part ------------------------------


def car() -> ContinuousSpace:
    """MountainCar's states."""
    variables = (Variable("position", -1.2, 0.6, "clip"), Variable("velocity", -0.07, 0.07, "clip"))
    names = ("left", "none", "right")
    return ContinuousSpace(variables, names, ("force",), ((-1.0,), (0.0,), (1.0,)), ((-0.6, -0.4), (0.0, 0.0)))


def arm() -> ContinuousSpace:
    """Reacher's states, and its nine pairs of torques."""
    angles = tuple(Variable(name, -math.pi, math.pi, "wrap") for name in ("theta1", "theta2"))
    speeds = tuple(Variable(name, usual=(-1.0, 1.0)) for name in ("omega1", "omega2"))
    torques = tuple((first, second) for first in (-1.0, 0.0, 1.0) for second in (-1.0, 0.0, 1.0))
    starts = ((-math.pi, math.pi),) * 2 + ((-1.0, 1.0),) * 2
    return ContinuousSpace(angles + speeds, tuple(map(str, torques)), ("torque1", "torque2"), torques, starts)


@pytree
class FingertipGoals(GoalSet):
    """Places for the fingertip; arriving within 0.2 pays 1 and ends the episode."""

    def arrive(self, state: Array) -> tuple[Array, Array]:
        reached = (((self.features - self.achieved(state)) ** 2).sum(axis=-1) < 0.2**2).astype(jnp.float32)
        return reached, 1 - reached

    def reward_of(self, state: Array, features: Array) -> tuple[Array, Array]:
        reward, continues = dataclasses.replace(self, features=features[None]).arrive(state)
        return reward[0], continues[0]

    def achieved(self, state: Array) -> Array:
        return jnp.stack([jnp.cos(state[:2]).sum(), jnp.sin(state[:2]).sum()])

    def encode(self, features: Array) -> Array:
        return features


def fingertip_goals() -> FingertipGoals:
    """Four places on the unit circle."""
    places = jnp.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    return FingertipGoals(places, jnp.array([1.0, 1.0]), jnp.array([0.0, 0.0]), 4, 2)


def main() -> None:
    """Print the speed of every case."""
    for speed in measure():
        print(speed, flush=True)
