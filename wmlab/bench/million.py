"""A maze of a million states: exact values of eight goals, and the world model that is read out of them."""

from __future__ import annotations

from wmlab.bench.finite import print_mazes

SIDE = 127  # cells along a side of a room: 1 025 x 1 025 places, walls included


def main() -> None:
    """Print the table."""
    print_mazes([SIDE])
