"""How fast P-learning is here: updates per second at the paper's settings and at those for a laptop.

The agents have random weights, which cost as much as trained ones. Of the work only what the loss needs is counted:
the agent once at the state, once at every state that is reached, and its gradient where a return ends; the model
three times at each step. Then how long an ensemble takes beside one model: members share the batch, as in a fit that a
spec asks for, or have a batch each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from wmlab.agents.pqn import networks
from wmlab.agents.pqn.networks import agent_view, space_reader
from wmlab.agents.pqn.options import Network
from wmlab.agents.pqn.options import Options as Agent
from wmlab.bench import loads
from wmlab.bench.loads import fastest
from wmlab.bench.pqn import Speed, matmul_peak
from wmlab.core.continuous.goals import continuous_goals
from wmlab.core.continuous.view import ContinuousView
from wmlab.extraction.continuous import ensemble, estimators, fit
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
MEMBERS = (5, 10)
ENSEMBLES = {
    "small: 2x64, batch 256": FitCase(
        "car",
        Network(2, 64, encoding="normalised"),
        FitOptions(model=replace(SCALED, width=64), batch=256, goals="all"),
    ),
    **{name: case for name, case in CASES.items() if "laptop" in name},
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
    return view, updates(fit.advance, state, view, options)


def updates(advance: Any, state: Any, data: Any, options: FitOptions) -> Callable[[], Any]:
    """One update after the other from a state, which they eat; the first of them compiles."""

    def update() -> Any:
        nonlocal state
        state, stats = advance(state, data, jnp.int32(1), estimators.objective, options)
        return jax.block_until_ready((state, stats))

    update()
    return update


def compare_ensembles(seconds: float = 5.0, turns: int = 10) -> Iterator[str]:
    """How long an update of several models takes, in that of one; all of a case by turns, as others may be at work."""
    for name, case in ENSEMBLES.items():
        view, alone = prepare(case)
        work = [alone, *(together(view, case.options, count, shared) for count in MEMBERS for shared in (True, False))]
        times = np.array([[fastest(one, seconds / turns) for one in work] for _ in range(turns)])
        best = times.min(axis=0)
        ratios = "   ".join(
            f"{count} models: {shared / best[0]:5.2f} times one's, with a batch each {each / best[0]:5.2f}"
            for count, shared, each in zip(MEMBERS, best[1::2], best[2::2], strict=True)
        )
        yield f"{name:48} {1 / best[0]:8.2f} updates/s   {ratios}"


def together(view: ContinuousView, options: FitOptions, members: int, shared: bool) -> Callable[[], Any]:
    """Updates of an ensemble whose members share the batch, or have as large a one each."""
    share = ensemble.share_of(options, members) if shared else options
    keys = jax.random.split(jax.random.key(1), members)
    models = ensemble.stacked([fresh(key, view.frame, view.actions, options.model) for key in keys])
    views = ensemble.MemberViews(view, jnp.ones((members, view.goals)))
    state = ensemble.begin_all(models, share, jax.random.key_data(keys))
    return updates(ensemble.advance_all, state, views, share)


def operations(case: FitCase, view: ContinuousView) -> int:
    """Multiplications and additions that one update needs."""
    agent, options = case.agent, case.options
    outputs = view.actions * (1 if agent.goal == "input" else view.goals)
    per_state = (agent.depth - 1) * agent.width**2 + agent.width * (view.frame.size + outputs)
    per_row = options.model.width * (options.model.width + 2 * view.frame.size + view.actions)
    return 2 * options.batch * ((options.reach + 2) * per_state + 3 * options.reach * per_row)


def main() -> None:
    """Print the speed of every case, and how long ensembles take."""
    for line in chain(measure(), compare_ensembles()):
        print(line, flush=True)
