"""Critics of any size with random weights: what they take of memory does not depend on what they say."""

from __future__ import annotations

import numpy as np

from tests.making import continuous_goals, goals_section
from wmlab.agents.external import Options
from wmlab.agents.external.critic import CriticView, critic_view
from wmlab.agents.external.expect import part_shapes
from wmlab.agents.external.parts import parts_of
from wmlab.core.continuous.points import goal_points
from wmlab.registry import WorldChoice, build

TD3 = {"noise": 0.2, "noise_clip": 0.5}
SAC = {"deviation": True, "entropy": 0.1}


def wide_critics(side: int = 20, width: int = 576, depth: int = 2, critics: int = 2, actor: dict = TD3) -> CriticView:
    """The view of critics and an actor for side x side goals, in a square where actions are pushes in any direction."""
    square = {"x": {"range": [-1, 1], "edge": "clip"}, "y": {"range": [-1, 1], "edge": "clip"}}
    pushes = {"dx": {"range": [-1, 1]}, "dy": {"range": [-1, 1]}}
    world = {"kind": "dynamics", "state": square, "actions": pushes, "next": {"x": "x + 0.1 * dx", "y": "y + 0.1 * dy"}}
    line = {"linspace": [-1, 1, side]}
    goals = {"reward": {"kind": "gaussian", "sigma": 0.2}, "at": {"x": line, "y": line}, "terminate": "never"}
    read = {"inputs": ["state", "goal", "achieved", "action"], "observation": ["x", "y"], "wanted": ["x", "y"]}
    network = {"depth": depth, "width": width, "goal": "input", **read}
    q = {"file": "wide.npz", "network": network} | ({"critics": {"count": critics}} if critics > 1 else {})
    options, space = build(Options, {"q": q, "actor": actor, "discount": 0.9}), WorldChoice(world).space
    points, rng = goal_points(goals_section(goals), space), np.random.default_rng(0)
    shapes = {
        name: shape for part in parts_of(options, space) for name, shape in part_shapes(part, space, points).items()
    }
    weights = {name: (rng.normal(size=shape) / np.sqrt(shape[0])).astype(np.float32) for name, shape in shapes.items()}
    return critic_view(weights, options, space, continuous_goals(goals, space), "uniform")
