"""CleanRL's agents of actions from a box: the state dicts of an actor and of its critics, side by side in one file.

Shapes: k components of an action.
"""

from __future__ import annotations

import numpy as np

from wmlab.foreign.agents import Asked, ForeignAgent
from wmlab.foreign.fold import normalised
from wmlab.foreign.layers import Perceptron, chained, parts_of
from wmlab.foreign.spaces import Box
from wmlab.foreign.tensors import StateDict
from wmlab.limits import shorten
from wmlab.spec.check.array_headers import Unreadable

ACTOR = "0."  # torch.save((actor.state_dict(), qf1.state_dict(), qf2.state_dict()), file)
SCALE, BIAS = "action_scale", "action_bias"  # half the length of the box, and its middle
NOISE = {"noise": 0.2, "noise_clip": 0.5}  # what CleanRL's TD3 has by default
ASSUMED = "the file does not name the noise on TD3's targets: CleanRL's 0.2, cut at 0.5, is assumed (agent.actor)"


def is_actor_critic(state: StateDict) -> bool:
    return state.library == "torch" and {f"{ACTOR}{SCALE}", f"{ACTOR}{BIAS}"} <= state.tensors.keys()


def actor_critic_agent(state: StateDict, asked: Asked) -> ForeignAgent:
    """The agent of ddpg_continuous_action.py or td3_continuous_action.py."""
    own = state.below(ACTOR)
    if any(name.startswith("fc_logstd.") for name in own.tensors):
        raise Unreadable("its actor draws actions, by deviations squashed in CleanRL's own way: that is not read here")
    layers = {name: each for name, each in own.tensors.items() if name not in (SCALE, BIAS)}
    actor = perceptron(StateDict(layers, "torch", {}))
    half, middle = (own.tensors[name].numbers().ravel() for name in (SCALE, BIAS))
    critics = critics_of(state, actor, half, middle)
    ends = tuple(zip((middle - half).tolist(), (middle + half).tolist(), strict=True))
    twins = len(critics) > 1
    return ForeignAgent(
        source=f"CleanRL, {'TD3' if twins else 'DDPG'}",
        kind="torch",
        networks={f"critic{place}": critic for place, critic in enumerate(critics)} | {"actor": actor},
        activation=asked.activation or "relu",
        algorithm="TD3" if twins else "DDPG",
        actions=Box((len(ends),), tuple(low for low, _ in ends), tuple(high for _, high in ends)),
        chance=NOISE if twins else {},
        remarks=(
            f"its actions are from {' × '.join(f'[{low:g}, {high:g}]' for low, high in ends)}",
            *([ASSUMED] if twins else []),
        ),
    )


def perceptron(state: StateDict) -> Perceptron:
    return chained(state, parts_of(state))


def critics_of(state: StateDict, actor: Perceptron, half: np.ndarray, middle: np.ndarray) -> list[Perceptron]:
    """The critics, reading actions in [-1, 1]: theirs are in the box, of half its length [k] about its middle [k]."""
    count = actor.output.outputs
    if half.shape != (count,) or middle.shape != (count,) or not np.isfinite([half, middle]).all() or min(half) <= 0:
        raise Unreadable(f"{SCALE} and {BIAS} are no box of the {count} numbers that its actor gives")
    critics = []
    for place in dict.fromkeys(name.partition(".")[0] for name in state.tensors if not name.startswith(ACTOR)):
        critic = perceptron(state.below(f"{place}."))
        if critic.inputs != actor.inputs + count or critic.output.outputs != 1:
            raise Unreadable(f"'{shorten(place)}' does not read what its actor reads and an action, or gives no value")
        others = np.zeros(actor.inputs)
        critics.append(normalised(critic, np.append(others, -middle / half), np.append(others + 1, 1 / half)))
    if not critics:
        raise Unreadable("it holds an actor and no critic; wmlab needs values of actions, Q")
    return critics
