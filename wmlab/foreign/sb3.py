"""Agents of Stable-Baselines3: a .zip with tensors and a JSON that tells how they were trained.

Its JSON keeps Python objects as pickles, under ":serialized:", and beside them what they print. The pickles are never
looked at; what is printed is enough.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

from wmlab.foreign.agents import Asked, Block, ForeignAgent, network_of
from wmlab.foreign.archives import Archive
from wmlab.foreign.layers import Perceptron, chained, parts_of
from wmlab.foreign.spaces import Box, Discrete, Other, Parts, Space, space_of
from wmlab.foreign.tensors import StateDict
from wmlab.foreign.torch_file import torch_tensors
from wmlab.limits import DESCRIPTION_BYTES, shorten
from wmlab.spec.check.array_headers import Unreadable

LARGEST = 100  # that a learnt number may be of which the exponential is taken
VARIABLES = "pytorch_variables.pth"
DATA, POLICY, VERSION = "data", "policy.pth", "_stable_baselines3_version"
ACTIVATIONS = {"ReLU": "relu", "Tanh": "tanh", "SiLU": "silu", "ELU": "elu", "GELU": "gelu"}


def is_sb3(archive: Archive) -> bool:
    return DATA in archive.parts and POLICY in archive.parts


def sb3_agent(archive: Archive, asked: Asked) -> ForeignAgent:
    """An agent of Stable-Baselines3 or of its contributions."""
    told = described(archive)
    state = torch_tensors(archive.open(POLICY))
    observation, actions = space_of(told.get("observation_space")), space_of(told.get("action_space"))
    algorithm, networks, remarks = networks_of(state, told, actions, asked)
    hindsight = "her_replay_buffer" in text_of(told.get("replay_buffer_class"), "__module__")
    version = archive.read(VERSION, 100).decode("ascii", "replace").strip() if VERSION in archive.parts else "?"
    discount = told.get("gamma")
    if not isinstance(discount, (int, float)) or not 0 <= discount < 1:
        raise Unreadable(f"its discount is {shorten(str(discount))}, and wmlab needs one below 1")
    agent = ForeignAgent(
        source=f"Stable-Baselines3 {shorten(version, 20)}, {algorithm}{' with HER' if hindsight else ''}",
        kind="sb3",
        networks=networks,
        activation=asked.activation or activation_of(told),
        algorithm=algorithm,
        discount=float(discount),
        reads=blocks_of(observation),
        actions=actions,
        hindsight=hindsight,
        chance=chance_of(algorithm, told, archive),
        remarks=remarks,
    )
    require_inputs(agent)
    return agent


def described(archive: Archive) -> dict[str, Any]:
    """What the JSON says."""
    text = archive.read(DATA, DESCRIPTION_BYTES)
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        raise Unreadable(f"its '{DATA}' is no JSON; save the agent again") from None
    if not isinstance(told, dict):
        raise Unreadable(f"its '{DATA}' does not describe an agent; save the agent again")
    return told


def text_of(entry: Any, key: str) -> str:
    """A text beside a pickle; empty where there is none."""
    return str(entry.get(key, "")) if isinstance(entry, dict) else ""


def activation_of(told: dict[str, Any]) -> str:
    """The activation between layers: ReLU, unless policy_kwargs names another."""
    kwargs = told.get("policy_kwargs")
    printed = text_of(kwargs, "activation_fn")
    if not printed:
        return "relu"
    word = printed.rpartition(".")[2].strip("'>\" ")
    if word not in ACTIVATIONS:
        known = ", ".join(ACTIVATIONS)
        raise Unreadable(f"its activation is {shorten(printed)}, and wmlab knows {known}; --activation says another")
    return ACTIVATIONS[word]


def networks_of(
    state: StateDict, told: dict[str, Any], actions: Space, asked: Asked
) -> tuple[str, dict[str, Perceptron], tuple[str, ...]]:
    """The algorithm, its networks by name, and what is to be said of them."""
    words = {name.partition(".")[0] for name in state.tensors}
    if "mlp_extractor" in words or {"action_net", "value_net"} <= words:
        raise Unreadable("PPO and A2C keep values of states alone; wmlab needs values of actions, Q")
    extra = [name for name in state.tensors if ".features_extractor." in name and "target" not in name]
    if extra:
        raise Unreadable(f"it reads its observations through a network of its own ('{shorten(extra[0])}')")
    if "q_net" in words:
        network, remarks = network_of(state.below("q_net."), asked)
        return "DQN", {"q": network}, remarks
    if "quantile_net" in words:
        return "QR-DQN", *quantile_network(state, actions, asked)
    if "critic" in words and "actor" in words:
        return actor_critic(state)
    raise Unreadable(f"none of DQN, QR-DQN, DDPG, TD3 and SAC has networks called {', '.join(sorted(words)[:6])}")


def quantile_network(state: StateDict, actions: Space, asked: Asked) -> tuple[dict[str, Perceptron], tuple[str, ...]]:
    """QR-DQN's outputs are quantile by quantile, the actions of each side by side."""
    if not isinstance(actions, Discrete):
        raise Unreadable("its actions are not counted, and QR-DQN's are")
    last = [
        tensor.shape
        for name, tensor in state.tensors.items()
        if re.fullmatch(r"quantile_net\.quantile_net\.\d+\.bias", name)
    ]
    outputs = last[-1][0] if last else 0
    if outputs % actions.count or not outputs:
        raise Unreadable(f"{outputs} outputs are not quantiles of {actions.count} actions")
    quantiles = outputs // actions.count
    own = Asked(asked.network, asked.value, asked.advantage, quantiles, asked.activation, asked.norm_place)
    network, remarks = network_of(state.below("quantile_net."), own)
    return {"q": network}, remarks


def actor_critic(state: StateDict) -> tuple[str, dict[str, Perceptron], tuple[str, ...]]:
    """The actor and the critics of DDPG, TD3 and SAC; SAC's actor has the means of its actions as outputs."""
    heads = sorted({name.split(".")[1] for name in state.tensors if name.startswith("critic.qf")})
    networks = {
        f"critic{place}": chained(critic, parts_of(critic))
        for place, head in enumerate(heads)
        for critic in (state.below(f"critic.{head}."),)
    }
    actor = state.below("actor.")
    squashed = any(name.startswith("latent_pi.") for name in actor.tensors)
    if squashed:
        spread = StateDict({n: t for n, t in actor.tensors.items() if not n.startswith("mu.")}, "torch", {})
        networks["actor_deviation"] = chained(spread, parts_of(spread))
        actor = StateDict({n: t for n, t in actor.tensors.items() if not n.startswith("log_std.")}, "torch", {})
    networks["actor"] = chained(actor, parts_of(actor))
    return "SAC" if squashed else "TD3" if len(heads) > 1 else "DDPG", networks, ()


def chance_of(algorithm: str, told: dict[str, Any], archive: Archive) -> dict[str, float | bool]:
    """How an actor's actions vary where values of them are learnt: TD3's noise; SAC's draws, and their entropy."""
    if algorithm in ("TD3", "DDPG"):
        noise, clip = (told.get(f"target_{word}") for word in ("policy_noise", "noise_clip"))
        if not isinstance(noise, (int, float)) or not isinstance(clip, (int, float)) or not noise > 0 or not clip > 0:
            return {}
        return {"noise": float(noise), "noise_clip": float(clip)}
    if algorithm != "SAC":
        return {}
    return {"deviation": True, "entropy": entropy_of(told, archive)}


def entropy_of(told: dict[str, Any], archive: Archive) -> float:
    """What a unit of entropy is worth: a number, or the last one that was learnt."""
    fixed = told.get("ent_coef")
    if isinstance(fixed, (int, float)) and math.isfinite(fixed) and fixed >= 0:
        return float(fixed)
    learnt = torch_tensors(archive.open(VARIABLES)).tensors if VARIABLES in archive.parts else {}
    for name, value_of in (("log_ent_coef", math.exp), ("ent_coef_tensor", float)):
        found = learnt[name].numbers().ravel() if name in learnt and math.prod(learnt[name].shape) == 1 else [math.nan]
        number = float(found[0])
        if math.isfinite(number) and number < LARGEST:
            return max(0.0, value_of(number))
    raise Unreadable("it does not say what a unit of entropy is worth (ent_coef)")


def blocks_of(observation: Space) -> tuple[Block, ...]:
    """What a network reads, in order: Stable-Baselines3 goes through a dictionary in the order that it has."""
    if isinstance(observation, Parts):
        return tuple(Block(name, space) for name, space in observation.spaces.items())
    return (Block("observation", observation),)


def require_inputs(agent: ForeignAgent) -> None:
    """The spaces are as wide as the networks."""
    widths = []
    for block in agent.reads:
        if isinstance(block.space, Other):
            raise Unreadable(f"'{shorten(block.name)}' is read as {shorten(block.space.text)}, which is not known here")
        widths.append(block.space.size if isinstance(block.space, Box) else block.space.count)
    own = agent.actions.size if isinstance(agent.actions, Box) else 0
    for name, network in agent.networks.items():
        expected = sum(widths) + (own if name.startswith("critic") else 0)
        if network.inputs != expected:
            raise Unreadable(f"its spaces have {expected} numbers, and its network reads {network.inputs}")
    counted = agent.actions.count if isinstance(agent.actions, Discrete) else None
    if agent.q is not None and agent.q.output.outputs != counted:
        raise Unreadable(f"its network has {agent.q.output.outputs} outputs, and its space {counted} actions")
