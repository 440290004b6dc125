"""Reacher-misc: two joints, each turned by its own torque; the fingertip is where both arms end."""

from __future__ import annotations

import math
from typing import Any

from wmlab.core.continuous.space import Variable
from wmlab.mdps.gymnax.declared import Control, Declared


def pack(gymnax: Any, xp: Any, state: Any) -> Any:
    return gymnax.EnvState(angles=state[:2], angle_vels=state[2:], goal_xy=xp.zeros(2), time=0.0)


def unpack(xp: Any, state: Any) -> Any:
    return xp.concatenate([state.angles, state.angle_vels])


def act(xp: Any, controls: Any) -> Any:
    return controls


def fingertip(xp: Any, states: Any) -> Any:
    """x and y of states [..., 4]: both angles are measured from the same axis."""
    angles = states[..., :2]
    return xp.stack([xp.cos(angles).sum(axis=-1), xp.sin(angles).sum(axis=-1)], axis=-1)


REACHER = Declared(
    module="gymnax.environments.misc.reacher",
    name="Reacher",
    variables=(
        Variable("theta1", -math.pi, math.pi, "wrap"),
        Variable("theta2", -math.pi, math.pi, "wrap"),
        Variable("omega1", usual=(-2.0, 2.0)),
        Variable("omega2", usual=(-2.0, 2.0)),
    ),
    starts=((-math.pi, math.pi), (-math.pi, math.pi), (-1.0, 1.0), (-1.0, 1.0)),
    controls=(Control("torque1", (-1, 0, 1), -1, 1), Control("torque2", (-1, 0, 1), -1, 1)),
    horizon=100,
    pack=pack,
    unpack=unpack,
    act=act,
    derived=(Variable("x", -2.0, 2.0), Variable("y", -2.0, 2.0)),
    derive=fingertip,
)
