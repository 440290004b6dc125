"""Declared gymnax environments step exactly as gymnax does."""

from __future__ import annotations

import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.environments import world
from wmlab.mdps import gymnax
from wmlab.mdps.gymnax.library import Later, module_of_gymnax
from wmlab.registry import Scope

acrobot, cartpole, mountain_car, pendulum, reacher = (
    module_of_gymnax(f"gymnax.environments.{name}")
    for name in (
        *("classic_control.acrobot", "classic_control.cartpole", "classic_control.mountain_car"),
        *("classic_control.pendulum", "misc.reacher"),
    )
)

COUNT = 10_000


def vector(*fields):
    return lambda state: jnp.stack([getattr(state, field) for field in fields])


# environment: gymnax's own, its state from ours, ours from its, its action from the values of our controls
THEIRS = {
    "MountainCar-v0": (
        mountain_car.MountainCar(),
        lambda s: mountain_car.EnvState(position=s[0], velocity=s[1], time=0),
        vector("position", "velocity"),
        lambda push: {-1: 0, 0: 1, 1: 2}[push],
    ),
    "Reacher-misc": (
        reacher.Reacher(),
        lambda s: reacher.EnvState(angles=s[:2], angle_vels=s[2:], goal_xy=jnp.ones(2), time=0.0),
        lambda state: jnp.concatenate([state.angles, state.angle_vels]),
        lambda *torques: torques,
    ),
    "Pendulum-v1": (
        pendulum.Pendulum(),
        lambda s: pendulum.EnvState(theta=s[0], theta_dot=s[1], last_u=jnp.zeros(()), time=0),
        vector("theta", "theta_dot"),
        lambda torque: torque,
    ),
    "CartPole-v1": (
        cartpole.CartPole(),
        lambda s: cartpole.EnvState(x=s[0], x_dot=s[1], theta=s[2], theta_dot=s[3], time=0),
        vector("x", "x_dot", "theta", "theta_dot"),
        lambda push: {-1: 0, 1: 1}[push],
    ),
    "Acrobot-v1": (
        acrobot.Acrobot(),
        lambda s: acrobot.EnvState(joint_angle1=s[0], joint_angle2=s[1], velocity_1=s[2], velocity_2=s[3], time=0),
        vector("joint_angle1", "joint_angle2", "velocity_1", "velocity_2"),
        lambda torque: {-1: 0, 0: 1, 1: 2}[torque],
    ),
}


@pytest.mark.parametrize("name", THEIRS)
def test_ten_thousand_steps_are_those_of_gymnax(name):
    ours = world(name)
    environment, pack, unpack, act = THEIRS[name]
    draw = np.random.default_rng(0)
    scale = np.array([variable.scale for variable in ours.space.variables])
    states = draw.uniform(scale[:, 0], scale[:, 1], (COUNT, len(scale))).astype(np.float32)
    actions = draw.integers(0, len(ours.space.actions), COUNT)
    table = jnp.array([act(*map(int, values)) for values in ours.space.control_values])

    def one(state, action):
        return unpack(environment.step_env(jax.random.key(1), pack(state), action, environment.default_params)[1])

    theirs = np.asarray(jax.jit(jax.vmap(one))(states, table[actions]))
    found = jax.jit(ours.dynamics.step)(states, jnp.asarray(actions), jnp.zeros((COUNT, 0)))
    np.testing.assert_allclose(ours.space.difference(np.asarray(found), theirs), 0, atol=2e-6)


@pytest.mark.parametrize("name", THEIRS)
def test_episodes_start_where_gymnax_resets_them(name):
    ours = world(name)
    environment, _, unpack, _ = THEIRS[name]
    keys = jax.random.split(jax.random.key(0), COUNT)
    begun = jax.jit(jax.vmap(lambda key: unpack(environment.reset_env(key, environment.default_params)[1])))(keys)
    begun, box = np.asarray(begun), np.array(ours.space.starts)
    width = box[:, 1] - box[:, 0]
    np.testing.assert_allclose(begun.min(axis=0), box[:, 0], atol=0.005 * width.max())
    np.testing.assert_allclose(begun.max(axis=0), box[:, 1], atol=0.005 * width.max())
    assert ours.horizon == environment.default_params.max_steps_in_episode


def test_the_wall_stops_the_car_and_angles_stay_on_the_circle():
    car, arm = world("MountainCar-v0").dynamics, world("Reacher-misc").dynamics
    stopped = car.step(jnp.array([[-1.19, -0.05]]), jnp.array([0]), jnp.zeros((1, 0)))
    np.testing.assert_allclose(stopped, [[-1.2, 0]])
    turned = arm.step(jnp.array([[3.14, 0, 1.0, 0]]), jnp.array([4]), jnp.zeros((1, 0)))
    np.testing.assert_allclose(turned[0, 0], 3.19 - 2 * np.pi, atol=1e-6)


def test_a_world_made_twice_is_one_program():
    first, second = world("Reacher-misc").dynamics, world("Reacher-misc", horizon=7).dynamics
    assert jax.tree.structure(first) == jax.tree.structure(second)


@pytest.mark.parametrize(
    ("options", "path", "message", "hint"),
    [
        ({"env": "Catch-bsuite"}, ("env",), "gymnax environment 'Catch-bsuite' has no declared state", "say state"),
        ({"env": "MountainCar"}, ("env",), "gymnax has no environment 'MountainCar'", "did you mean"),
        (
            {"env": "Reacher-misc", "actions": {"torque1": (0,), "torque3": (0,)}},
            ("actions", "torque3"),
            "Reacher has no action component 'torque3'",
            "did you mean 'torque",
        ),
        (
            {"env": "MountainCar-v0", "actions": {"push": (-1, 0.5)}},
            ("actions", "push", 1),
            "0.5 is not possible; push is -1, 0 or 1",
            "",
        ),
    ],
)
def test_a_wrong_environment_or_action_is_one_clear_finding(options, path, message, hint):
    found = list(gymnax.check(gymnax.Options(**options), Scope()))[0]
    assert (found.path, found.message) == (path, message) and (found.hint or "").startswith(hint)


def test_an_environment_is_imported_without_what_only_pictures_need():
    """Plain `import gymnax` takes three times as long: it imports seaborn, and that pandas."""
    asked = (
        "import sys; from wmlab.mdps.gymnax.library import module_of_gymnax;"
        " module_of_gymnax('gymnax.environments.misc.pong'); print('pandas' in sys.modules, 'seaborn' in sys.modules)"
    )
    said = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert said.stdout.split() == ["False", "False"]


def test_a_module_for_pictures_is_imported_when_it_is_asked_for_something(monkeypatch):
    later = Later("colorsys")
    monkeypatch.setitem(sys.modules, "colorsys", later)
    assert not hasattr(later, "__path__")
    assert sys.modules["colorsys"] is later
    assert later.rgb_to_hsv(1, 1, 1) == (0.0, 0.0, 1)
    assert sys.modules["colorsys"] is not later
