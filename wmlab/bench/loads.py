"""What benchmarks work on: MountainCar and Reacher with four goals each, as a spec says them; and a clock."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import jax

from wmlab.registry import WorldChoice, build
from wmlab.sections.experiment import GoalsSection

CAR = WorldChoice({"kind": "gymnax", "env": "MountainCar-v0"})
ARM = WorldChoice({"kind": "gymnax", "env": "Reacher-misc"})
# MountainCar once more, written as expressions.
WRITTEN = WorldChoice(
    {
        "kind": "dynamics",
        "state": {
            "position": {"range": [-1.2, 0.6], "edge": "clip"},
            "velocity": {"range": [-0.07, 0.07], "edge": "clip"},
        },
        "actions": {"push": [-1, 0, 1]},
        "let": {"rolling": "clip(velocity + 0.001 * push - 0.0025 * cos(3 * position), -0.07, 0.07)"},
        "next": {
            "position": "position + rolling",
            "velocity": "where(next(position) <= -1.2 and rolling < 0, 0, rolling)",
        },
        "reset": {"position": {"uniform": [-0.6, -0.4]}, "velocity": 0},
        "horizon": 200,
    }
)
POSITIONS: GoalsSection = build(
    GoalsSection, {"reward": {"kind": "indicator", "radius": 0.1}, "at": {"position": {"linspace": [-1.2, 0.6, 4]}}}
)
FINGERTIPS: GoalsSection = build(
    GoalsSection,
    {
        "reward": {"kind": "indicator", "radius": 0.2},
        "at": [{"x": 1, "y": 0}, {"x": -1, "y": 0}, {"x": 0, "y": 1}, {"x": 0, "y": -1}],
    },
)


def fastest(work: Callable[[], Any], seconds: float) -> float:
    """The least seconds that some work takes, done again and again for about so long."""
    best, began = float("inf"), time.perf_counter()
    while time.perf_counter() - began < seconds or best == float("inf"):
        before = time.perf_counter()
        jax.block_until_ready(work())
        best = min(best, time.perf_counter() - before)
    return best
