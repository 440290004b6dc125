"""Acrobot-v1: two links that hang, with a motor between them; the height of the tip is derived."""

from __future__ import annotations

import math
from typing import Any

from wmlab.core.continuous.space import Variable
from wmlab.mdps.gymnax.declared import Control, Declared


def pack(gymnax: Any, xp: Any, state: Any) -> Any:
    return gymnax.EnvState(
        joint_angle1=state[0], joint_angle2=state[1], velocity_1=state[2], velocity_2=state[3], time=0
    )


def unpack(xp: Any, state: Any) -> Any:
    return xp.stack([state.joint_angle1, state.joint_angle2, state.velocity_1, state.velocity_2])


def act(xp: Any, controls: Any) -> Any:
    return controls[0].astype(xp.int32) + 1


def height(xp: Any, states: Any) -> Any:
    """How high the tip is above the pivot: the second angle is measured from the first link."""
    first, second = states[..., :1], states[..., 1:2]
    return -xp.cos(first) - xp.cos(first + second)


ACROBOT = Declared(
    module="gymnax.environments.classic_control.acrobot",
    name="Acrobot",
    variables=(
        Variable("theta1", -math.pi, math.pi, "wrap"),
        Variable("theta2", -math.pi, math.pi, "wrap"),
        Variable("omega1", -4 * math.pi, 4 * math.pi, "clip"),
        Variable("omega2", -9 * math.pi, 9 * math.pi, "clip"),
    ),
    starts=((-0.1, 0.1),) * 4,
    controls=(Control("torque", (-1, 0, 1), -1, 1, only=True),),
    horizon=500,
    pack=pack,
    unpack=unpack,
    act=act,
    derived=(Variable("height", -2.0, 2.0),),
    derive=height,
)
