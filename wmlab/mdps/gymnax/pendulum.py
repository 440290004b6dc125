"""Pendulum-v1: a pendulum to swing up; 0 is upright."""

from __future__ import annotations

import math
from typing import Any

from wmlab.core.continuous.space import Variable
from wmlab.mdps.gymnax.declared import Control, Declared


def pack(gymnax: Any, xp: Any, state: Any) -> Any:
    return gymnax.EnvState(theta=state[0], theta_dot=state[1], last_u=xp.zeros(()), time=0)


def unpack(xp: Any, state: Any) -> Any:
    return xp.stack([state.theta, state.theta_dot])


def act(xp: Any, controls: Any) -> Any:
    return controls[0]


def height(xp: Any, states: Any) -> Any:
    """How high the tip is: 1 is upright."""
    return xp.cos(states[..., :1])


PENDULUM = Declared(
    module="gymnax.environments.classic_control.pendulum",
    name="Pendulum",
    variables=(Variable("theta", -math.pi, math.pi, "wrap"), Variable("speed", -8.0, 8.0, "clip")),
    starts=((-math.pi, math.pi), (-1.0, 1.0)),
    controls=(Control("torque", (-2, 0, 2), -2, 2),),
    horizon=200,
    pack=pack,
    unpack=unpack,
    act=act,
    derived=(Variable("height", -1.0, 1.0),),
    derive=height,
)
