"""The three FourRooms of the paper, for tests."""

from __future__ import annotations

from typing import Any

from wmlab.core.finite.world import FiniteWorld
from wmlab.registry import mdps

MAP = """
###########
#....#....#
#....#....#
#.........#
#....#....#
###.###.###
#....#....#
#.........#
#....#....#
#....#....#
###########
"""

TELEPORTS = [
    {"from": [4, 4], "to": {"rows": [6, 9], "columns": [6, 9]}},
    {"from": [4, 6], "to": {"rows": [6, 9], "columns": [1, 4]}},
    {"from": [6, 4], "to": {"rows": [1, 4], "columns": [6, 9]}},
    {"from": [6, 6], "to": {"rows": [1, 4], "columns": [1, 4]}},
]
VARIANTS: dict[str, dict[str, Any]] = {
    "deterministic": {},
    "windy": {"slip": {"straight": 0.5, "left": 0.25, "right": 0.25}},
    "teleporting": {"teleports": TELEPORTS},
}


def fourrooms(variant: str) -> FiniteWorld:
    kind = mdps["gridworld"]
    world: FiniteWorld = kind.run(kind.build({"map": MAP, "horizon": 200, **VARIANTS[variant]}), 0)
    return world
