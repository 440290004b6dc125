"""CartPole-v1: a pole on a cart. Without an end of its own, the pole may fall and swing all the way round."""

from __future__ import annotations

import math
from typing import Any

from wmlab.core.continuous.space import Variable
from wmlab.mdps.gymnax.declared import Control, Declared


def pack(gymnax: Any, xp: Any, state: Any) -> Any:
    return gymnax.EnvState(x=state[0], x_dot=state[1], theta=state[2], theta_dot=state[3], time=0)


def unpack(xp: Any, state: Any) -> Any:
    return xp.stack([state.x, state.x_dot, state.theta, state.theta_dot])


def act(xp: Any, controls: Any) -> Any:
    return (controls[0] > 0).astype(xp.int32)


CART_POLE = Declared(
    module="gymnax.environments.classic_control.cartpole",
    name="CartPole",
    variables=(
        Variable("x", usual=(-2.4, 2.4)),
        Variable("x_dot", usual=(-3.0, 3.0)),
        Variable("theta", -math.pi, math.pi, "wrap"),
        Variable("theta_dot", usual=(-4.0, 4.0)),
    ),
    starts=((-0.05, 0.05),) * 4,
    controls=(Control("push", (-1, 1), -1, 1, only=True),),
    horizon=500,
    pack=pack,
    unpack=unpack,
    act=act,
)
