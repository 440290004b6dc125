"""Where each action leads on a map.

Shapes: S free cells in row-major order, A actions, K successors.
"""

from __future__ import annotations

import numpy as np

from wmlab.core.finite.kernel import Kernel
from wmlab.core.finite.space import FiniteSpace
from wmlab.mdps.gridworld.cells import cells_of, exits_of
from wmlab.mdps.gridworld.options import DIRECTIONS, Options, Slip

STEPS = np.array([(-1, 0), (0, 1), (1, 0), (0, -1), (0, 0)])
STAY = 4
TURNS = (0, -1, 1, None)  # straight, left, right, stay: as `Slip.chances` has them


def kernel(options: Options, where: FiniteSpace) -> Kernel:
    """Where each action leads from each cell."""
    meant = np.array([STAY if action == "stay" else DIRECTIONS.index(action) for action in options.actions])
    moves = np.stack([np.full_like(meant, STAY) if turn is None else (meant + turn) % 4 for turn in TURNS], axis=1)
    moves = np.where((meant == STAY)[:, None], STAY, moves)  # [A, 4]
    beyond = _destinations(options, where)
    successors = beyond[:, moves]  # [S, A, 4]
    chances = np.broadcast_to(_slips(options, where)[:, None, :], successors.shape)
    if options.winds:
        successors, chances = _blown(options, where, beyond, successors, chances)
    moving = Kernel.merged(successors, chances)
    jumps = [(cells_of(jump.from_, where), cells_of(jump.to, where)) for jump in options.teleports]
    return _with_teleports(moving, {int(state): targets for states, targets in jumps for state in states})


def _destinations(options: Options, where: FiniteSpace) -> np.ndarray:
    """The state one step on in each direction, and in place: [S, 5]. A wall, the edge and a closed side hold."""
    assert where.cells is not None
    bordered = np.pad(where.lookup, 1, constant_values=-1)
    at = where.cells[:, None, :] + STEPS + 1
    beyond = bordered[at[..., 0], at[..., 1]]
    beyond[:, :STAY][~exits_of(options, where)] = -1
    return np.where(beyond < 0, np.arange(where.size)[:, None], beyond)


def _slips(options: Options, where: FiniteSpace) -> np.ndarray:
    """Chances of going straight, left, right and nowhere in each cell, [S, 4]."""
    chances = np.tile(np.array(Slip(1.0).chances), (where.size, 1))
    for slip in sorted(options.slips, key=lambda each: each.at is not None):  # the one without a place lies below
        chances[cells_of(slip.at, where)] = slip.chances
    return chances


def _winds(options: Options, where: FiniteSpace) -> tuple[np.ndarray, np.ndarray]:
    """The direction that the wind blows to in each cell, int [S], and its chance [S]."""
    towards, chances = np.full(where.size, STAY), np.zeros(where.size)
    for wind in sorted(options.winds, key=lambda each: each.at is not None):
        cells = cells_of(wind.at, where)
        towards[cells], chances[cells] = DIRECTIONS.index(wind.to), wind.chance
    return towards, chances


def _blown(
    options: Options, where: FiniteSpace, beyond: np.ndarray, successors: np.ndarray, chances: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Successors and their chances [S, A, 8]: those without a gust, then those with one."""
    towards, gusts = _winds(options, where)
    pushed = beyond[successors, towards[:, None, None]]
    gust = gusts[:, None, None]
    either = [chances * (1 - gust), chances * gust]
    return np.concatenate([successors, pushed], axis=-1), np.concatenate(either, axis=-1)


def _with_teleports(moving: Kernel, jumps: dict[int, np.ndarray]) -> Kernel:
    width = max([moving.width, *(len(targets) for targets in jumps.values())])
    extra = ((0, 0), (0, 0), (0, width - moving.width))
    successors = np.pad(moving.successors, extra, mode="edge")
    successors[..., moving.width :] = moving.successors[..., :1]
    probabilities = np.pad(moving.probabilities, extra)
    for state, targets in jumps.items():
        successors[state] = targets[0]
        successors[state, :, : len(targets)] = targets
        probabilities[state] = 0.0
        probabilities[state, :, : len(targets)] = 1.0 / len(targets)
    return Kernel(successors, probabilities)


def max_successors(options: Options, where: FiniteSpace) -> int:
    """The most cells that a move or a teleport may lead to."""
    turns = (_slips(options, where) > 0).sum(axis=1)
    gusts = _winds(options, where)[1]
    both = np.where((gusts > 0) & (gusts < 1), 2, 1)
    return max([int((turns * both).max()), *(len(cells_of(jump.to, where)) for jump in options.teleports)])
