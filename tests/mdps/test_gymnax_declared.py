"""Environments of gymnax whose state a spec declares: they step as gymnax does, or are refused with the reason."""

from __future__ import annotations

import importlib
import math
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from wmlab.errors import StageError
from wmlab.mdps.gymnax import catalogue
from wmlab.registry import Scope, mdps

KIND = mdps["gymnax"]
COUNT = 2_000
CIRCLE = {"range": [-math.pi, math.pi], "edge": "wrap"}
CAR = {
    "env": "MountainCarContinuous-v0",
    "state": {
        "x": {"path": "position", "range": [-1.2, 0.6], "edge": "clip"},
        "velocity": {"range": [-0.07, 0.07], "edge": "clip"},
    },
    "actions": {"push": [-1, 0, 0.5]},
}
SWIMMER = {
    "env": "Swimmer-misc",
    "state": {
        "x": {"path": "xy[0]", "usual": [-2, 2]},
        "y": {"path": "xy[1]", "usual": [-2, 2]},
        "vx": {"path": "xy_vel[0]", "usual": [-1, 1]},
        "vy": {"path": "xy_vel[1]", "usual": [-1, 1]},
    },
    "actions": {"right": [-1, 0, 1], "up": [-1, 1]},
    "reset": {"x": 0, "y": {"uniform": [-1, 1]}, "vx": 0, "vy": 0},
}
ACROBOT = {
    "env": "Acrobot-v1",
    "state": {
        "a": {"path": "joint_angle1", **CIRCLE},
        "b": {"path": "joint_angle2", **CIRCLE},
        "da": {"path": "velocity_1", "range": [-4 * math.pi, 4 * math.pi], "edge": "clip"},
        "db": {"path": "velocity_2", "range": [-9 * math.pi, 9 * math.pi], "edge": "clip"},
    },
    "derived": {"height": "-cos(a) - cos(a + b)"},
}
# What gymnax's own state is, made of ours; ours of its; its action of the values of our controls.
THEIRS = {
    "car": (
        *(CAR, "classic_control.continuous_mountain_car", "ContinuousMountainCar"),
        lambda state, own: own.replace(position=state[0], velocity=state[1]),
        lambda own: jnp.stack([own.position, own.velocity]),
        lambda controls: controls,
    ),
    "swimmer": (
        *(SWIMMER, "misc.swimmer", "Swimmer"),
        lambda state, own: own.replace(xy=state[:2], xy_vel=state[2:]),
        lambda own: jnp.concatenate([own.xy, own.xy_vel]),
        lambda controls: controls,
    ),
    "acrobot": (
        *(ACROBOT, "classic_control.acrobot", "Acrobot"),
        lambda state, own: own.replace(
            joint_angle1=state[0], joint_angle2=state[1], velocity_1=state[2], velocity_2=state[3]
        ),
        lambda own: jnp.stack([own.joint_angle1, own.joint_angle2, own.velocity_1, own.velocity_2]),
        lambda controls: controls[0].astype(int) + 1,
    ),
}


def make(data):
    options = KIND.build(data)
    assert list(KIND.check(options, Scope())) == []
    return KIND.run(options, 0)


def changed(data, **state):
    return data | {"state": {name: each for name, each in (data["state"] | state).items() if each is not None}}


@pytest.mark.parametrize("name", THEIRS)
def test_steps_from_anywhere_are_those_of_gymnax(name):
    data, module, cls, pack, unpack, act = THEIRS[name]
    ours = make(data)
    environment = getattr(importlib.import_module(f"gymnax.environments.{module}"), cls)()
    draw = np.random.default_rng(0)
    scale = np.array([variable.scale for variable in ours.space.variables])
    states = draw.uniform(scale[:, 0], scale[:, 1], (COUNT, len(scale))).astype(np.float32)
    actions = draw.integers(0, len(ours.space.actions), COUNT)
    controls = np.array(ours.space.control_values, np.float32)[actions]

    def one(state, given):
        own = environment.reset_env(jax.random.key(3), environment.default_params)[1]
        after = environment.step_env(jax.random.key(1), pack(state, own), act(given), environment.default_params)[1]
        return unpack(after)

    theirs = np.asarray(jax.jit(jax.vmap(one))(states, controls))
    moved = jax.jit(ours.dynamics.step)(states, jnp.asarray(actions), jnp.zeros((COUNT, 0)))
    np.testing.assert_allclose(ours.space.difference(np.asarray(moved), theirs), 0, atol=2e-6)
    assert ours.horizon == environment.default_params.max_steps_in_episode


def test_a_declared_acrobot_is_the_one_that_wmlab_knows():
    known, declared = make({"env": "Acrobot-v1"}), make(ACROBOT)
    states = np.random.default_rng(1).uniform(-3, 3, (500, 4)).astype(np.float32)
    actions = jnp.arange(500) % 3
    both = [world.dynamics.step(jnp.asarray(states), actions, jnp.zeros((500, 0))) for world in (known, declared)]
    np.testing.assert_allclose(both[0], both[1], atol=1e-6)
    np.testing.assert_allclose(known.space.full(states)[:, 4], declared.space.full(states)[:, 4], atol=1e-6)
    assert declared.space.names == ("a", "b", "da", "db")
    assert jax.tree.structure(declared.dynamics) == jax.tree.structure(make(ACROBOT).dynamics)


def test_a_state_of_whole_numbers_is_a_table():
    world = make({"env": "Breakout-MinAtar", "state": {"pos": {"integers": [0, 9]}}, "actions": {"move": [0, 1, 2]}})
    paddle = np.arange(10)
    expected = np.stack([paddle, np.maximum(paddle - 1, 0), np.minimum(paddle + 1, 9)], axis=1)
    assert world.kernel.successors[..., 0].tolist() == expected.tolist()
    assert world.space.names[3] == "pos=3"


def test_where_episodes_start_may_be_said_of_known_environments_too():
    starts = make({"env": "Pendulum-v1", "reset": {"theta": 0, "speed": {"uniform": [-2, 2]}}}).space.starts
    assert starts == ((0, 0), (-2, 2))
    assert make({"env": "Pendulum-v1"}).space.starts == ((-math.pi, math.pi), (-1, 1))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (changed(CAR, velocity=None), r"gymnax takes x from .* alone to .*; declare velocity under state, too"),
        (
            changed(CAR, x={"path": "position", "range": [-0.8, 0.6], "edge": "clip"}),
            r"state.x is said to end at -0.8 and 0.6, and gymnax takes it to -0\..*; widen its range",
        ),
        (
            changed(SWIMMER, x={"path": "xy", "usual": [-2, 2]}),
            r"state.x: xy is no number of Swimmer-misc, for xy has the shape \[2\]",
        ),
        (changed(SWIMMER, x={"path": "xy[2]", "usual": [-2, 2]}), r"xy\[2\] is no number of Swimmer-misc"),
        (SWIMMER | {"actions": {"right": [-2, 2], "up": [0]}}, r"have one component for each of \[-1, 1\], \[-1, 1\]"),
        (
            {"env": "FrozenLake-misc", "state": {"position": {"integers": [0, 15]}}, "actions": {"move": [0, 1]}},
            r"gymnax draws position of FrozenLake-misc at random.*; write this world as mdp.kind dynamics",
        ),
        (
            {"env": "Breakout-MinAtar", "state": {"pos": {"integers": [0, 9]}}, "actions": {"move": [7]}},
            "actions of Breakout-MinAtar have one component of whole numbers from 0 to 2",
        ),
    ],
)
def test_a_state_that_does_not_tell_what_gymnax_does_is_refused_before_anything_runs(data, message):
    with pytest.raises(StageError, match=message):
        make(data)


@pytest.mark.parametrize(
    ("data", "path", "message"),
    [
        ({"env": "Swimmer-misc"}, ("env",), "gymnax environment 'Swimmer-misc' has no declared state"),
        ({"env": "Swimer-misc"}, ("env",), "gymnax has no environment 'Swimer-misc'"),
        (CAR | {"actions": None}, ("env",), "wmlab does not know the actions of 'MountainCarContinuous-v0'"),
        (
            changed(CAR, velocity={"path": "velocty", "range": [-1, 1], "edge": "clip"}),
            ("state", "velocity", "path"),
            "the state of MountainCarContinuous-v0 has no 'velocty'",
        ),
        (
            changed(CAR, speed={"range": [-1, 1], "edge": "clip"}),
            ("state", "speed"),
            "the state of MountainCarContinuous-v0 has no 'speed'",
        ),
        (
            changed(CAR, velocity={"path": "position", "range": [-1, 1], "edge": "clip"}),
            ("state", "velocity", "path"),
            "position is x already",
        ),
        (
            changed(CAR, x={"path": "position[a]", "range": [-1, 1], "edge": "clip"}),
            ("state", "x", "path"),
            "'position[a]' is no path into gymnax's state",
        ),
        (
            changed(CAR, x={"path": "position", "range": [-1, 1]}),
            ("state", "x", "edge"),
            "what happens at the ends of the range?",
        ),
        (CAR | {"reset": {"x": 0}}, ("reset",), "nothing said about 'velocity'"),
        (
            {"env": "Pendulum-v1", "derived": {"h": "theta"}},
            ("derived",),
            "derived variables need a state that the spec declares; Pendulum-v1 has its own",
        ),
    ],
)
def test_a_mistake_is_told_at_its_place_without_importing_gymnax(data, path, message):
    assert [(found.path, found.message) for found in KIND.check(KIND.build(data), Scope())] == [(path, message)]


def test_what_gymnax_has_is_read_from_its_sources():
    registered = set(importlib.import_module("gymnax").registered_envs)
    assert set(catalogue.environment_files()) == registered
    for name in sorted(registered - {"MNISTBandit-bsuite"}):  # that one loads a data set
        environment = importlib.import_module("gymnax").make(name)[0]
        state = jax.eval_shape(lambda env=environment: env.reset_env(jax.random.key(0), env.default_params)[1])
        assert set(catalogue.fields(name)) == set(vars(state)) - {"time"}, name


def test_the_catalogue_needs_no_jax():
    code = "import sys; from wmlab.mdps.gymnax import table; assert len(table()) > 20; sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
