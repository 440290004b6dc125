"""A small world and the exact values of an agent in it, as others would hand them over."""

from __future__ import annotations

import numpy as np

from tests.making import make_goals
from wmlab.agents.exact.values import make_view
from wmlab.registry import agents, mdps

MAP = "....\n.#..\n...."
AT = ((0, 0), (0, 3), (2, 3))
DISCOUNT = 0.9


def exact_view(policy="optimal"):
    """The view of an exact agent: goals first, then states and actions."""
    kind = mdps["gridworld"]
    world = kind.run(kind.build({"map": MAP, "slip": {"straight": 0.8, "left": 0.2}}), 0)
    at = [world.space.index(cell) for cell in AT]
    goals = make_goals({"kind": "indicator"}, world.space, at, "on_arrival", 0)
    return make_view(agents["exact"].build({"discount": DISCOUNT, "policy": policy}), world, goals, 0)


def spec(q: str, policy: str = "greedy", **more: str) -> str:
    """An audit of that agent; `q` and `policy` as YAML."""
    parts = {
        "mdp": "{kind: unknown, states: {grid: [3, 4], walls: [[1, 1]]}, actions: [up, right, down, left]}",
        "goals": f"{{reward: {{kind: indicator}}, at: {[list(cell) for cell in AT]}}}",
        "agent": f"{{kind: external, q: {q}, policy: {policy}, discount: {DISCOUNT}}}",
        "extract": "{kind: lp, prior: {support: {kind: neighbours, of: 4, self: true}}}",
        "evaluate": "{fit: {}}",
    } | more
    return "wmlab: 1\nname: audit\n" + "".join(f"{name}: {text}\n" for name, text in parts.items())


def as_rows(table: np.ndarray, names, last: str) -> str:
    """A table [S, A, G] as a .csv."""
    lines = [f"state,action,goal,{last}"]
    for place in np.ndindex(table.shape):
        said = (f'"{axis[at]}"' for axis, at in zip(names, place, strict=True))
        lines.append(",".join([*said, repr(float(table[place]))]))
    return "\n".join(lines) + "\n"
