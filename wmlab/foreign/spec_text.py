"""The first spec of an agent from elsewhere, as text: all that its file says, and a word where it says nothing.

A word such as `how_near_counts` is no number: `wmlab validate` points at it until somebody writes one.
"""

from __future__ import annotations

import json
import re
from typing import Any

from wmlab.errors import visible
from wmlab.foreign.agents import ForeignAgent
from wmlab.foreign.layers import Perceptron
from wmlab.foreign.wiring import Number, Wiring
from wmlab.sections.forms import NAME

PLAIN = re.compile(r"[A-Za-z_][\w.+-]*")
NUMBERS = re.compile(r"(null|true|false|\.inf|\.nan)", re.IGNORECASE)
GOALS = 27  # at most, on a grid of them
LINE = 112  # characters
RADIUS, DISCOUNT, PAYS, STATE = "how_near_counts", "its_discount", "what_arriving_pays", "which_state_pays"


def flow(value: Any) -> str:
    """A value as YAML in one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{flow(key)}: {flow(each)}" for key, each in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(flow, value)) + "]"
    if isinstance(value, float):
        return f"{value:.9g}"
    if isinstance(value, str) and PLAIN.fullmatch(value) and not NUMBERS.fullmatch(value):
        return value
    return json.dumps(value, ensure_ascii=True)


def wrapped(start: str, mapping: dict[str, Any]) -> list[str]:
    """A mapping in as few lines as it needs, each beginning below the first entry."""
    if not mapping:
        return [start + "{}"]
    lines, indent = [start + "{"], " " * (len(start) + 1)
    for place, (key, value) in enumerate(mapping.items()):
        entry = f"{flow(key)}: {flow(value)}" + ("}" if place == len(mapping) - 1 else ",")
        if place and len(lines[-1]) + len(entry) > LINE:
            lines.append(indent + entry)
        else:
            lines[-1] += entry if not place else f" {entry}"
    return lines


def network_options(network: Perceptron, activation: str, wiring: Wiring, acts: bool = False) -> dict[str, Any]:
    """What a spec says of a network; what is a default is left out. `acts`: whether it reads an action, too."""
    widths = network.widths
    said: dict[str, Any] = {"depth": len(widths), "width": widths[0] if len({*widths}) == 1 else list(widths)}
    if network.normed:
        said |= {"norm": "layer", "epsilon": network.epsilon}
        said |= {"norm_place": "after"} if network.norm_place == "after" else {}
    said |= {"activation": activation} if activation != "relu" else {}
    if wiring.states is not None:
        return said | {"encoding": "one_hot"}
    action = ("action",) if acts else ()
    if wiring.inputs:
        said |= {"goal": "input", "inputs": (*wiring.inputs, *action)}
    elif acts:
        said |= {"inputs": ("state", "action")}
    said |= {"observation": [number.name for number in wiring.state]}
    return said | ({"wanted": wiring.wanted} if wiring.inputs else {})


def agent_lines(agent: ForeignAgent, wiring: Wiring, weights: str, probe: str, discount: float | None) -> list[str]:
    """The section `agent`."""
    network = agent.q or agent.critics[0]
    options = network_options(network, agent.activation, wiring, acts=agent.q is None)
    lines = ["agent:", "  kind: external", "  q:", f"    file: {flow(weights)}", *wrapped("    network: ", options)]
    if agent.q is None:
        lines += [f"    critics: {flow(critics_of(agent))}", *wrapped("  actor: ", actor_of(agent, wiring))]
    return [
        *lines,
        f"  discount: {DISCOUNT if discount is None else flow(float(discount))}",
        f"  check: {{file: {flow(probe)}}}",
    ]


def critics_of(agent: ForeignAgent) -> dict[str, Any]:
    """How many critics there are; of two, TD3 and SAC take the least."""
    count = len(agent.critics)
    return {"count": count, "combine": "first"} if count == 1 else {"count": count}


def actor_of(agent: ForeignAgent, wiring: Wiring) -> dict[str, Any]:
    """What a spec says of an actor; where its network is as the critic's but for the action, nothing of that."""
    network, critic = agent.networks["actor"], agent.critics[0]
    alike = (network.widths, network.normed, network.norm_place) == (critic.widths, critic.normed, critic.norm_place)
    own = {} if alike else {"network": network_options(network, agent.activation, wiring)}
    return own | dict(agent.chance)


def actions_of(wiring: Wiring) -> str:
    """Names of actions, or ranges of the components of those from a box."""
    if not wiring.box:
        return flow(wiring.actions)
    return flow({name: {"range": list(ends)} for name, ends in zip(wiring.actions, wiring.box, strict=True)})


def variable(number: Number) -> dict[str, Any]:
    if number.bounded:
        return {"range": [number.low, number.high], "edge": "clip"}
    return {"usual": [-1, 1]}


def world_lines(wiring: Wiring) -> list[str]:
    """The section `mdp`: what is there and what can be done, and nothing of what it does."""
    if wiring.states is not None:
        return ["mdp:", "  kind: unknown", f"  states: {wiring.states}", f"  actions: {flow(wiring.actions)}"]
    return [
        "mdp:",
        "  kind: unknown               # say dynamics, and `next`, to hold the model against the truth",
        "  state:",
        *(f"    {flow(number.name)}: {flow(variable(number))}" for number in wiring.state),
        f"  actions: {actions_of(wiring)}",
    ]


def goal_lines(agent: ForeignAgent, wiring: Wiring, within: float | None) -> list[str]:
    """The section `goals`, as far as it is known: that of hindsight pays 0 near the goal and -1 elsewhere."""
    if wiring.states is not None:
        return ["goals:", "  reward: {kind: indicator}", f"  at: [{STATE}]"]
    if not wiring.inputs:
        return ["goals:", f"  reward: {{kind: expression, pays: {PAYS}}}", "  terminate: never"]
    ends = {number.name: (number.low, number.high) if number.bounded else (-1.0, 1.0) for number in wiring.state}
    each = max(2, int(GOALS ** (1 / len(wiring.wanted)) + 1e-9))
    at = {name: {"linspace": [*map(float, ends.get(name, (-1.0, 1.0))), each]} for name in wiring.wanted}
    radius = RADIUS if within is None else flow(float(within))
    never = "  terminate: never" + (
        "            # HER keeps the ends that were stored, whatever goal it gives them" * agent.hindsight
    )
    return [
        "goals:",
        f"  reward: {{kind: indicator, radius: {radius}, there: 0, elsewhere: -1}}",
        f"  at: {flow(at)}",
        never,
    ]


def spec_text(
    name: str,
    agent: ForeignAgent,
    wiring: Wiring,
    weights: str,
    probe: str,
    discount: float | None,
    within: float | None,
) -> str:
    """A whole spec."""
    assert re.match(NAME, name)
    lines = [
        f"# {visible(agent.source)}, as wmlab import read it.",
        "wmlab: 1",
        f"name: {name}",
        *world_lines(wiring),
        *goal_lines(agent, wiring, within),
        *agent_lines(agent, wiring, weights, probe, discount),
        "extract: {kind: p_learning, preset: quick}" if wiring.states is None else "extract: {kind: lp}",
        "evaluate: {fit: {}, identify: {}}",
    ]
    return "\n".join(lines) + "\n"


def fragment_text(agent: ForeignAgent, wiring: Wiring, weights: str, probe: str, discount: float | None) -> str:
    """The agent alone, for a spec that extends it."""
    head = [f"# {visible(agent.source)}, as wmlab import read it: say `extends` in the spec of its world.", "wmlab: 1"]
    return "\n".join([*head, *agent_lines(agent, wiring, weights, probe, discount)]) + "\n"
