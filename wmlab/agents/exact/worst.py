"""The worst that errors of a given size can do: how Q is moved against a method.

An error of epsilon at a state and an action moves Q(s, a) itself and, through the policy, the column M(s). Where
different goals take different actions, the errors of these actions add up in that column.

Each function gives moves of Q, [R, S, A], by epsilon in l1 over rows for every state and action; to lose rank, by
less where less is enough.

Shapes: R rows (goal x discount x policy), S states, A actions, N = S A pairs, T targets.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from wmlab.core.finite.view import FiniteView
from wmlab.errors import StageError

RIVALS = 4  # columns that a pair is moved to, tried one by one: the nearest may be out of reach
ROUNDS = 20  # of moving and looking again, at most


def reach_of(view: FiniteView) -> np.ndarray:
    """How far M(s) moves in each row with Q(s, a), [R, S, A]."""
    return (view.discount[:, None] * view.continues)[..., None] * view.policy


# --- column matching: bring Q(s, a) and a wrong column together, and take the right one away -------------------------


def against_column_matching(view: FiniteView, epsilon: float) -> np.ndarray:
    """Every Q(s, a) moves to the column next to its own; two columns move so that one pair is mistaken, if any can be.

    Distances are in l1, so that a step of epsilon towards a column saves epsilon in whichever rows are not yet level
    with it: M moves first, in the rows that the policy lets it, and Q(s, a) in those that are left.
    """
    rows, states, actions = view.q.shape
    pair, own, rival = _targets(view)
    state, action = np.divmod(pair, actions)
    apart = (view.backup[:, rival] - view.backup[:, own]).T  # [T, R]
    sign, room = np.where(apart < 0, -1.0, 1.0), np.abs(apart)
    reach = np.moveaxis(reach_of(view), 0, -1)  # [S, A, R]
    furthest = reach[own].argmax(axis=-1)[..., None] == np.arange(rows)  # [T, A, R]
    away = -epsilon * sign[:, None] * furthest
    towards = np.empty_like(away)
    for act in range(actions):
        spent = _fill(room, reach[rival, act], epsilon)
        towards[:, act] = -sign * spent
        room = np.maximum(room - spent * reach[rival, act], 0.0)
    itself = sign * _fill(room, np.ones_like(room), epsilon)
    for moves, column in ((away, own), (towards, rival)):  # where the pair starts in a state whose column moves
        same = np.flatnonzero(state == column)
        moves[same, action[same]] = itself[same]

    def distance(moves: np.ndarray, column: np.ndarray) -> np.ndarray:
        moved = view.backup[:, column].T + (reach[column] * moves).sum(axis=1)
        return np.abs(view.q[:, state, action].T + itself - moved).sum(axis=1)

    best = (distance(away, own) - distance(towards, rival)).argmax()
    nearest = np.unique(pair, return_index=True)[1]
    moved = itself[nearest].T.reshape(view.q.shape)
    moved[:, own[best]], moved[:, rival[best]] = away[best].T, towards[best].T
    moved[:, state[best], action[best]] = itself[best]
    return moved


def _targets(view: FiniteView) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pairs, the columns that explain them, and others next to these, the nearest first: all int [T]."""
    from scipy.spatial import cKDTree

    columns = np.ascontiguousarray(view.backup.T)  # [S, R]
    states = len(columns)
    if states < 2:
        raise StageError("no values can be moved to another column: there is one state alone")
    tree, rivals = cKDTree(columns), min(RIVALS, states - 1)
    _, own = tree.query(view.q.reshape(view.rows, -1).T, p=1)
    _, near = tree.query(columns, k=rivals + 1, p=1)  # [S, K + 1], itself among them unless others coincide with it
    others = np.argsort(near == np.arange(states)[:, None], axis=1, kind="stable")[:, :rivals]
    near = np.take_along_axis(near, others, axis=1)
    return np.repeat(np.arange(len(own)), rivals), np.repeat(own, rivals), near[own].ravel()


def _fill(room: np.ndarray, reach: np.ndarray, budget: float) -> np.ndarray:
    """How a budget is spent over rows, [T, R]: where it reaches furthest first, in each as far as there is room.

    What is left over goes where it reaches least.
    """
    order = np.argsort(-reach, axis=1, kind="stable")
    limit = np.zeros_like(room)
    np.divide(room, reach, out=limit, where=reach > 0)
    limit = np.take_along_axis(limit, order, axis=1)
    spent = np.clip(budget - (np.cumsum(limit, axis=1) - limit), 0.0, limit)
    spent[:, -1] += budget - spent.sum(axis=1)
    amounts = np.empty_like(spent)
    np.put_along_axis(amounts, order, spent, axis=1)
    return amounts


# --- the pseudo-inverse: P' - P = M+ (dQ - dM P'), so that errors are put where M+ makes most of them ----------------


def against_pseudo_inverse(view: FiniteView, epsilon: float) -> np.ndarray:
    """The moves that take M+ Q(s, a) furthest from what it was, for the pair where they take it furthest.

    Where P' goes says in which rows errors count, and these errors say where P' goes: repeated while it goes further.
    """
    inverse = np.linalg.pinv(view.backup)  # [S, R]
    believed = view.q.reshape(view.rows, -1).T @ inverse.T  # [N, S]
    column = inverse[:, np.abs(inverse).sum(axis=0).argmax()]  # [S]: where an error in one row takes P' furthest
    prices = np.sign(column) @ inverse  # [R]: what an error in each row counts
    target = _most_exposed(view, prices, believed, column)
    model, furthest, moves = believed[target], 0.0, np.zeros_like(view.q)
    for _ in range(ROUNDS):
        tried = epsilon * _pushed(view, prices, model, target)
        moved = replace(view, q=view.q + tried)
        model = np.linalg.pinv(moved.backup) @ moved.q.reshape(view.rows, -1)[:, target]
        off = model - believed[target]
        if np.abs(off).sum() <= furthest * (1 + 1e-12):
            break
        furthest, moves = np.abs(off).sum(), tried
        prices = np.sign(off) @ inverse
    return moves


def _most_exposed(view: FiniteView, prices: np.ndarray, believed: np.ndarray, column: np.ndarray) -> int:
    """The pair, of N, to which errors at these prices [R] do most; believed successors are [N, S].

    Of equals, the one from whose successors least is taken by a step along the column [S]: where less than nothing is
    left, probabilities add up to more than one in size, and errors of M weigh more.
    """
    counts = np.abs(prices)[:, None, None] * reach_of(view)  # [R, S, A]
    most = counts.max(axis=0)  # [S, A]
    pairs, weight = np.arange(len(believed)), np.abs(believed)
    state, action = np.divmod(pairs, view.q.shape[2])
    own = counts[np.abs(prices).argmax(), state, action]  # what the pair's own move takes back, if it leads home
    exposed = weight @ most.sum(axis=1) - weight[pairs, state] * (most[state, action] + own)
    taken = np.maximum(-believed * column, 0.0).sum(axis=1)
    return int(np.where(exposed >= exposed.max() * (1 - 1e-9), -taken, -np.inf).argmax())


def _pushed(view: FiniteView, prices: np.ndarray, model: np.ndarray, target: int | None = None) -> np.ndarray:
    """Moves by 1 in one row each, [R, S, A]: dQ up where it counts for the target, and dM down, weighed by a model [S].

    What no policy takes moves as the target does.
    """
    rows, states, actions = view.q.shape
    counts = np.abs(prices)[:, None, None] * reach_of(view)
    top = int(np.abs(prices).argmax())
    taken = counts.max(axis=0) > 0  # [S, A]
    row = np.where(taken, counts.argmax(axis=0), top)
    up = np.where(prices < 0, -1.0, 1.0)[row]
    size = np.where(taken, -up * np.where(model < 0, -1.0, 1.0)[:, None], up)
    if target is not None:
        place = np.divmod(target, actions)
        row[place], size[place] = top, np.where(prices[top] < 0, -1.0, 1.0)
    return np.where(np.arange(rows)[:, None, None] == row, size, 0.0)


# --- the rank of M: M + dM is singular where dM x = -M x for some x --------------------------------------------------


def against_rank(view: FiniteView, epsilon: float) -> np.ndarray:
    """The moves of at most epsilon that make M singular, where as many rows as states allow it; else the nearest to it.

    x starts as the column of M+ that is longest, and is then what M + dM shrinks most.
    """
    inverse = np.linalg.pinv(view.backup)  # [S, R]
    direction = inverse[:, np.abs(inverse).sum(axis=0).argmax()]  # x [S]
    best, moves = np.inf, np.zeros_like(view.q)
    for _ in range(ROUNDS):
        tried = epsilon * _pushed(view, np.sign(direction) @ inverse, direction)
        shift = (reach_of(view) * tried).sum(axis=-1)  # dM [R, S]
        needed = _share_needed(inverse @ shift)
        if needed >= best * (1 - 1e-12):
            break
        best, moves = needed, tried
        direction = np.linalg.svd(view.backup + min(1.0, needed) * shift)[2][-1]
    return min(1.0, best) * moves


def _share_needed(change: np.ndarray) -> float:
    """The least t at which I + t change [S, S] is singular; infinite where there is none."""
    values = np.linalg.eigvals(change)
    real = values.real[(np.abs(values.imag) <= 1e-9 * np.abs(values).max(initial=0.0)) & (values.real < 0)]
    return float(-1.0 / real.min()) if len(real) else np.inf
