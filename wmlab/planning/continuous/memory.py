"""How much memory a plan on a grid takes, known before anything runs."""

from __future__ import annotations

import math
from collections.abc import Iterator

from wmlab.core.continuous.space import ContinuousSpace
from wmlab.core.memory import gib, physical_memory
from wmlab.registry import Finding


def check_memory(
    sizes: int | dict[str, int], space: ContinuousSpace, outcomes: int, path: tuple[str, ...]
) -> Iterator[Finding]:
    """Whether planning fits into this machine's memory."""
    count = math.prod(sizes if isinstance(sizes, int) else sizes[name] for name in space.names)
    needed, there = planning_bytes(count, space.size, len(space.actions), outcomes), physical_memory()
    if needed > there:
        message = f"{count:.3g} points and {len(space.actions)} actions need {gib(needed)} GiB, and there are "
        fits = int(_largest(space, outcomes, there))
        yield Finding(path, message + f"{gib(there)}", f"{fits} points along each variable would fit")


def planning_bytes(count: int, axes: int, actions: int, outcomes: int = 1) -> int:
    """Memory that planning takes at its peak: the table of where each action leads, thrice while it is made and
    handed over, a policy's share of it, and values.

    `count` grid points; each outcome is a corner, a fraction for each axis and a weight, of four bytes each.
    """
    outcome = 4 * (2 + axes)
    table = actions * (outcomes * outcome + 8)
    return count * (3 * table + outcomes * (outcome + 8) + 4 * actions + 64)


def _largest(space: ContinuousSpace, outcomes: int, there: int) -> float:
    each = planning_bytes(1, space.size, len(space.actions), outcomes)
    return math.floor((there / each) ** (1 / space.size))
