"""What every simulator, goal set, view, task and dynamics promises: arrays are arguments, all else is hashed."""

from __future__ import annotations

import importlib
import pkgutil

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import wmlab
from tests.agents.external import linear
from tests.agents.pqn.conftest import make_goals, make_world
from tests.environments import world
from tests.extraction.test_contract import count_compilations
from tests.making import continuous_goals, unseen_task
from tests.making import make_goals as made_goals
from wmlab.agents.external import Options as ExternalOptions
from wmlab.agents.external.critic import critic_view
from wmlab.agents.external.network import network_view
from wmlab.agents.external.options import ExternalNetwork
from wmlab.agents.pqn import networks
from wmlab.agents.pqn.networks import agent_view, space_reader
from wmlab.agents.pqn.options import Network, Options
from wmlab.bench import loads
from wmlab.core.continuous.dynamics import Dynamics, Listed
from wmlab.core.continuous.ensemble import Ensemble
from wmlab.core.continuous.goals import Task, trained_task
from wmlab.core.continuous.grid import grid_of, grid_view
from wmlab.core.continuous.log import Log, in_logged_states
from wmlab.core.continuous.simulator import continuous_simulator
from wmlab.core.continuous.view import ContinuousView, Frame
from wmlab.core.finite.simulator import finite_goals, finite_simulator
from wmlab.core.goals import GoalSet
from wmlab.core.simulator import Simulator
from wmlab.extraction.continuous.ensemble import at_stakes, stacked
from wmlab.extraction.continuous.models import GridModel, fresh
from wmlab.extraction.continuous.options import Model
from wmlab.extraction.continuous.unroll import blurred
from wmlab.measure.continuous.yardstick_errors import SmoothContinuation
from wmlab.registry import WorldChoice, build, mdps

CAR = world("MountainCar-v0")
AT = {"reward": {"kind": "indicator", "radius": 0.1}, "at": [{"position": -1.0}, {"position": 0.4}]}
BASES = (Simulator, GoalSet, ContinuousView, Dynamics, Task)
OPTIONS = Options(network=Network(1, 4, encoding="normalised"))
STATES, ACTIONS = jnp.zeros((3, 2)), jnp.zeros(3, jnp.int32)


def network(seed: int) -> ContinuousView:
    aims = continuous_goals(AT, CAR.space, "normalised")
    reader = space_reader(CAR.space, OPTIONS)
    weights = networks.init(jax.random.key(seed), reader, aims, OPTIONS.network)
    return agent_view(weights, CAR.space, aims, OPTIONS)


def external(seed: int) -> ContinuousView:
    form = ExternalNetwork(1, 4, observation=("position", "velocity"))
    shapes = {"layer0.weight": (2, 4), "layer0.bias": (4,), "output.weight": (4, 6), "output.bias": (6,)}
    weights = {name: np.full(shape, seed, np.float32) for name, shape in shapes.items()}
    return network_view(weights, form, CAR.space, continuous_goals(AT, CAR.space), 0.9, "greedy")


def on_grid(seed: int) -> ContinuousView:
    q = np.random.default_rng(seed).random((2, 3, 25))
    return grid_view(q, grid_of(CAR.space, 5), CAR.space, continuous_goals(AT, CAR.space), 0.9, "greedy")


def written(seed: int) -> Dynamics:
    push = [-1, 0, seed + 1]
    return mdps["dynamics"].run(mdps["dynamics"].build({**loads.WRITTEN.data, "actions": {"push": push}}), 0).dynamics


def matched(seed: int) -> Dynamics:
    return GridModel({"change": jnp.full((25, 3, 2), 0.01 * seed)}, Frame.of(CAR.space), 3, 5)


def logged(seed: int) -> Log:
    states = np.random.default_rng(seed).uniform(-0.05, 0.05, (6, 2)).astype(np.float32)
    return Log(states, np.zeros(6, np.int32), states, np.arange(6) % 2 == 0)


def goal(seed: int) -> dict:
    return {"reach": {"position": 0.1 * seed}, "within": 0.1}


def critic(seed: int) -> ContinuousView:
    space = WorldChoice(linear.SPEC["mdp"]).space
    options = build(ExternalOptions, {name: each for name, each in linear.SPEC["agent"].items() if name != "kind"})
    weights = {name: np.asarray(each, np.float32) for name, each in linear.weights(apart=0.1 * seed).items()}
    return critic_view(weights, options, space, continuous_goals(linear.SPEC["goals"], space), "uniform")


def boxed() -> Dynamics:
    said = {name: each for name, each in linear.SPEC["mdp"].items() if name != "kind"}
    return mdps["dynamics"].run(mdps["dynamics"].build(said), 0).dynamics


def alike_elsewhere(seed: int) -> GoalSet:
    goals = made_goals({"kind": "indicator"}, make_world().space, [seed, 4], "on_arrival", seed)
    return finite_goals(goals, np.array([seed, 4]), alike=True)


# One maker for each final class: two seeds give two records whose arrays differ, or might.
MAKERS = {
    "FiniteSimulator": lambda seed: finite_simulator(make_world(reset=seed)),
    "ContinuousSimulator": lambda seed: continuous_simulator(CAR),
    "NumberedGoals": lambda seed: finite_goals(make_goals(seed, 4)),
    "IndicatorElsewhere": lambda seed: finite_goals(make_goals(seed, 4), np.array([seed, 4])),
    "AlikeElsewhere": alike_elsewhere,
    "ContinuousGoals": lambda seed: continuous_goals({**AT, "at": [{"position": 0.1 * seed}]}, CAR.space),
    "PQNView": network,
    "ExternalView": external,
    "GridView": on_grid,
    "CriticView": critic,
    "StakedView": lambda seed: at_stakes(network(seed), jnp.full(network(seed).goals, 0.5 + seed)),
    "BlurredView": lambda seed: blurred(network(seed), jax.random.key(seed), 0.1, 2),
    "LoggedView": lambda seed: in_logged_states(network(seed), logged(seed)),
    "GymnaxDynamics": lambda seed: CAR.dynamics,
    "WrittenDynamics": written,
    "Listed": lambda seed: Listed(boxed(), jnp.full((2, 2), 0.1 * seed)),
    "NeuralModel": lambda seed: fresh(jax.random.key(seed), Frame.of(CAR.space), 3, Model(width=4)),
    "GridModel": matched,
    "Ensemble": lambda seed: Ensemble(
        stacked([MAKERS["NeuralModel"](seed), MAKERS["NeuralModel"](seed + 2)]), Frame.of(CAR.space), 3
    ),
    "SmoothContinuation": lambda seed: SmoothContinuation(CAR.dynamics, CAR.space),
    "ReachAvoid": lambda seed: unseen_task(goal(seed), CAR.space),
    "TrainedGoal": lambda seed: trained_task(continuous_goals(AT, CAR.space), seed),
}


def use(record):
    """Everything that a program asks of a record."""
    key = jax.random.key(0)
    if isinstance(record, Simulator):
        state = record.start(key)
        after = record.step(key, state, jnp.int32(0))
        return record.reset(key), record.encode(after), record.place(after)
    if isinstance(record, GoalSet):
        first = record.features[0]
        state = jnp.int32(0) if jnp.issubdtype(first.dtype, jnp.integer) else jnp.zeros(2)
        return record.arrive(state), record.reward_of(state, first), record.encode(first), record.value_range(0.9)
    if isinstance(record, ContinuousView):
        one, every = jnp.zeros((3, 1), int), record.all_goals(3)
        return record.sample(key, 3), record.backup(STATES, one), record.values_at(STATES, every)
    if isinstance(record, Dynamics):
        return record.draw(key, STATES, ACTIONS)
    return record.arrive(STATES)


def final_classes() -> set[str]:
    for module in pkgutil.walk_packages(wmlab.__path__, "wmlab."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    todo, final = list(BASES), set()
    while todo:
        for child in todo.pop().__subclasses__():
            todo.append(child)
            if not child.__abstractmethods__ and child.__module__.startswith("wmlab."):
                final.add(child)
    assert all(not child.__subclasses__() for child in final), "a class is abstract or final, never half"
    return {child.__name__ for child in final}


def test_every_final_class_is_tried_here():
    assert final_classes() == set(MAKERS)


@pytest.mark.parametrize("name", MAKERS)
def test_records_that_differ_in_their_arrays_alone_share_one_program(name):
    first, second = (MAKERS[name](seed) for seed in (0, 1))
    assert type(first).__name__ == name
    one, other = jax.tree.structure(first), jax.tree.structure(second)
    assert one == other and hash(one) == hash(other)
    program = jax.jit(use)
    program(first)
    with count_compilations() as compiled:
        program(second)
    assert compiled == []
