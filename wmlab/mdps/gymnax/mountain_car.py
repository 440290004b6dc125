"""MountainCar-v0: a car too weak for its hill. The left wall stops it."""

from __future__ import annotations

from typing import Any

from wmlab.core.continuous.space import Variable
from wmlab.mdps.gymnax.declared import Control, Declared


def pack(gymnax: Any, xp: Any, state: Any) -> Any:
    return gymnax.EnvState(position=state[0], velocity=state[1], time=0)


def unpack(xp: Any, state: Any) -> Any:
    return xp.stack([state.position, state.velocity])


def act(xp: Any, controls: Any) -> Any:
    return controls[0].astype(xp.int32) + 1


MOUNTAIN_CAR = Declared(
    module="gymnax.environments.classic_control.mountain_car",
    name="MountainCar",
    variables=(Variable("position", -1.2, 0.6, "clip"), Variable("velocity", -0.07, 0.07, "clip")),
    starts=((-0.6, -0.4), (0.0, 0.0)),
    controls=(Control("push", (-1, 0, 1), -1, 1, only=True),),
    horizon=200,
    pack=pack,
    unpack=unpack,
    act=act,
)
