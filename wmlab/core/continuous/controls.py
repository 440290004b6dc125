"""Actions from a box: named components, each anywhere in its range, and lists of such actions where one is needed.

Shapes: k components, A actions of a list.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

LISTED = 16  # actions that stand for a box where values are looked at under each of a list
PARTS = {1: 5, 2: 3, 3: 2, 4: 2}  # of a component's range in which errors are told apart, by the number of components

Ends = tuple[tuple[float, float], ...]  # [k] lowest and highest value of each component


def cloud(count: int, size: int) -> np.ndarray:
    """Points [count, size] spread evenly over [-1, 1]^size, the centre first and then outwards.

    A Kronecker sequence on powers of the generalised golden ratio: even in any number of dimensions, for any count.
    """
    ratio = 2.0
    for _ in range(64):
        ratio = (1 + ratio) ** (1 / (size + 1))
    steps = ratio ** -np.arange(1, size + 1)
    points = 2 * ((0.5 + np.arange(1, count)[:, None] * steps) % 1.0) - 1
    points = np.concatenate([np.zeros((1, size)), points])
    return points[np.argsort(np.abs(points).max(axis=1), kind="stable")]


def spread_over(ends: Ends, count: int = LISTED) -> np.ndarray:
    """Actions [A, k] that are spread evenly over a box, its middle first."""
    low, high = np.array(ends, float).T
    return (low + high) / 2 + (high - low) / 2 * cloud(count, len(ends))


def lattice(ends: Ends, points: int) -> np.ndarray:
    """Actions [points^k, k] on a lattice over a box, its corners included, the last component varying fastest."""
    axes = [np.linspace(low, high, points) for low, high in ends]
    return np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=-1)


def named_actions(components: Sequence[str], values: np.ndarray) -> tuple[str, ...]:
    """'dx=0.5, dy=-1' of each of the actions [A, k]."""
    return tuple(
        ", ".join(f"{name}={value:.3g}" for name, value in zip(components, row, strict=True)) for row in values
    )


@dataclass(frozen=True)
class Region:
    """A part of a box of actions."""

    name: str
    ends: Ends


def regions_of(components: Sequence[str], ends: Ends) -> tuple[Region, ...]:
    """The parts of a box that errors are told apart by: a product of parts of each component's range, of at most
    four components; others are taken over all of their range."""
    told = min(len(ends), max(PARTS))
    cuts = [np.linspace(low, high, (PARTS[told] if place < told else 1) + 1) for place, (low, high) in enumerate(ends)]
    axes = [list(itertools.pairwise(map(float, cut))) for cut in cuts]
    named = components[:told]
    return tuple(
        Region(
            ", ".join(f"{name} {low:.3g} to {high:.3g}" for name, (low, high) in zip(named, parts, strict=False)), parts
        )
        for parts in itertools.product(*axes)
    )
