"""Environments of gymnax whose state is declared here, with names.

A declaration imports neither JAX nor gymnax: its functions get what they need handed in.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from wmlab.core.continuous.space import Derive, Variable


@dataclass(frozen=True)
class Control:
    """One component of an action."""

    name: str
    values: tuple[float, ...]  # what it takes unless the spec says otherwise
    low: float
    high: float
    only: bool = False  # no other values than these are possible

    def allows(self, value: float) -> bool:
        return value in self.values if self.only else self.low <= value <= self.high


@dataclass(frozen=True)
class DeclaredEnvironment:
    """A gymnax environment with a named state."""

    module: str  # where gymnax has it
    name: str  # its class there
    variables: tuple[Variable, ...]  # [d]
    starts: tuple[tuple[float, float], ...]  # [d] gymnax resets uniformly in this box
    controls: tuple[Control, ...]  # [k]
    horizon: int
    pack: Callable[[Any, Any, Any], Any]  # (gymnax module, xp, state [d]) -> gymnax's state
    unpack: Callable[[Any, Any], Any]  # (xp, gymnax's state) -> [d]
    act: Callable[[Any, Any], Any]  # (xp, controls [k]) -> gymnax's action
    derived: tuple[Variable, ...] = ()
    derive: Derive | None = None


def circle(name: str) -> Variable:
    """An angle."""
    return Variable(name, -math.pi, math.pi, "wrap")


def height_of_acrobot(xp: Any, states: Any) -> Any:
    """How high the tip is above the pivot: the second angle is measured from the first link."""
    first, second = states[..., :1], states[..., 1:2]
    return -xp.cos(first) - xp.cos(first + second)


def height_of_pendulum(xp: Any, states: Any) -> Any:
    """How high the tip is: 1 is upright."""
    return xp.cos(states[..., :1])


def fingertip(xp: Any, states: Any) -> Any:
    """x and y of states [..., 4]: both angles are measured from the same axis."""
    angles = states[..., :2]
    return xp.stack([xp.cos(angles).sum(axis=-1), xp.sin(angles).sum(axis=-1)], axis=-1)


ENVIRONMENTS = {
    # Two links that hang, with a motor between them; the height of the tip is derived.
    "Acrobot-v1": DeclaredEnvironment(
        module="gymnax.environments.classic_control.acrobot",
        name="Acrobot",
        variables=(
            circle("theta1"),
            circle("theta2"),
            Variable("omega1", -4 * math.pi, 4 * math.pi, "clip"),
            Variable("omega2", -9 * math.pi, 9 * math.pi, "clip"),
        ),
        starts=((-0.1, 0.1),) * 4,
        controls=(Control("torque", (-1, 0, 1), -1, 1, only=True),),
        horizon=500,
        pack=lambda gymnax, xp, state: gymnax.EnvState(
            joint_angle1=state[0], joint_angle2=state[1], velocity_1=state[2], velocity_2=state[3], time=0
        ),
        unpack=lambda xp, state: xp.stack([state.joint_angle1, state.joint_angle2, state.velocity_1, state.velocity_2]),
        act=lambda xp, controls: controls[0].astype(xp.int32) + 1,
        derived=(Variable("height", -2.0, 2.0),),
        derive=height_of_acrobot,
    ),
    # A pole on a cart. Without an end of its own, the pole may fall and swing all the way round.
    "CartPole-v1": DeclaredEnvironment(
        module="gymnax.environments.classic_control.cartpole",
        name="CartPole",
        variables=(
            Variable("x", usual=(-2.4, 2.4)),
            Variable("x_dot", usual=(-3.0, 3.0)),
            circle("theta"),
            Variable("theta_dot", usual=(-4.0, 4.0)),
        ),
        starts=((-0.05, 0.05),) * 4,
        controls=(Control("push", (-1, 1), -1, 1, only=True),),
        horizon=500,
        pack=lambda gymnax, xp, state: gymnax.EnvState(
            x=state[0], x_dot=state[1], theta=state[2], theta_dot=state[3], time=0
        ),
        unpack=lambda xp, state: xp.stack([state.x, state.x_dot, state.theta, state.theta_dot]),
        act=lambda xp, controls: (controls[0] > 0).astype(xp.int32),
    ),
    # A car too weak for its hill. The left wall stops it.
    "MountainCar-v0": DeclaredEnvironment(
        module="gymnax.environments.classic_control.mountain_car",
        name="MountainCar",
        variables=(Variable("position", -1.2, 0.6, "clip"), Variable("velocity", -0.07, 0.07, "clip")),
        starts=((-0.6, -0.4), (0.0, 0.0)),
        controls=(Control("push", (-1, 0, 1), -1, 1, only=True),),
        horizon=200,
        pack=lambda gymnax, xp, state: gymnax.EnvState(position=state[0], velocity=state[1], time=0),
        unpack=lambda xp, state: xp.stack([state.position, state.velocity]),
        act=lambda xp, controls: controls[0].astype(xp.int32) + 1,
    ),
    # A pendulum to swing up; 0 is upright.
    "Pendulum-v1": DeclaredEnvironment(
        module="gymnax.environments.classic_control.pendulum",
        name="Pendulum",
        variables=(circle("theta"), Variable("speed", -8.0, 8.0, "clip")),
        starts=((-math.pi, math.pi), (-1.0, 1.0)),
        controls=(Control("torque", (-2, 0, 2), -2, 2),),
        horizon=200,
        pack=lambda gymnax, xp, state: gymnax.EnvState(theta=state[0], theta_dot=state[1], last_u=xp.zeros(()), time=0),
        unpack=lambda xp, state: xp.stack([state.theta, state.theta_dot]),
        act=lambda xp, controls: controls[0],
        derived=(Variable("height", -1.0, 1.0),),
        derive=height_of_pendulum,
    ),
    # Two joints, each turned by its own torque; the fingertip is where both arms end.
    "Reacher-misc": DeclaredEnvironment(
        module="gymnax.environments.misc.reacher",
        name="Reacher",
        variables=(
            circle("theta1"),
            circle("theta2"),
            Variable("omega1", usual=(-2.0, 2.0)),
            Variable("omega2", usual=(-2.0, 2.0)),
        ),
        starts=((-math.pi, math.pi), (-math.pi, math.pi), (-1.0, 1.0), (-1.0, 1.0)),
        controls=(Control("torque1", (-1, 0, 1), -1, 1), Control("torque2", (-1, 0, 1), -1, 1)),
        horizon=100,
        pack=lambda gymnax, xp, state: gymnax.EnvState(
            angles=state[:2], angle_vels=state[2:], goal_xy=xp.zeros(2), time=0.0
        ),
        unpack=lambda xp, state: xp.concatenate([state.angles, state.angle_vels]),
        act=lambda xp, controls: controls,
        derived=(Variable("x", -2.0, 2.0), Variable("y", -2.0, 2.0)),
        derive=fingertip,
    ),
}
