"""Makes ferry_q.npz: the Q-table of a ferry that knows its harbour, in plain NumPy and without wmlab.

`python specs/examples/data/ferry_q.py`. An order is followed with probability 0.9, and otherwise the ferry stays where
it is; in the middle row a current carries it eastwards with probability 0.3, whatever the order. The file has only Q.

Shapes: S cells, A orders, G goals.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

ROWS, COLUMNS, CURRENT = 5, 6, 2
ORDERS = ((-1, 0), (0, 1), (1, 0), (0, -1))  # north, east, south, west
GOALS = ((0, 0), (0, 5), (4, 0), (4, 5), (2, 1), (2, 4), (1, 2), (3, 3))
DISCOUNT = 0.95


def cell(row: int, column: int) -> int:
    """The number of a cell; the quay stops whoever would leave the harbour."""
    return min(max(row, 0), ROWS - 1) * COLUMNS + min(max(column, 0), COLUMNS - 1)


def kernel() -> np.ndarray:
    """What orders do: probabilities of the next cell [S, A, S]."""
    chances = np.zeros((ROWS * COLUMNS, len(ORDERS), ROWS * COLUMNS))
    for row in range(ROWS):
        for column in range(COLUMNS):
            here, drift = cell(row, column), 0.3 if row == CURRENT else 0.0
            for order, (down, right) in enumerate(ORDERS):
                chances[here, order, cell(row, column + 1)] += drift
                chances[here, order, cell(row + down, column + right)] += (1 - drift) * 0.9
                chances[here, order, here] += (1 - drift) * 0.1
    return chances


def values() -> np.ndarray:
    """Q of the best policy for each goal [G, S, A]: arriving pays 1 and ends the trip."""
    chances = kernel()
    pay = np.zeros((len(GOALS), ROWS * COLUMNS))
    pay[np.arange(len(GOALS)), [cell(*goal) for goal in GOALS]] = 1
    q = np.zeros((len(GOALS), ROWS * COLUMNS, len(ORDERS)))
    for _ in range(2000):
        worth = pay + DISCOUNT * (1 - pay) * q.max(axis=-1)  # of arriving in each cell
        q = np.einsum("sat,gt->gsa", chances, worth)
    return q


if __name__ == "__main__":
    np.savez_compressed(Path(__file__).with_name("ferry_q.npz"), q=values())
