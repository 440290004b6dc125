"""Exact values in large worlds as flat as a map, by factorising sparse linear systems: far quicker than iterating.

Where states can be put in a line with all their successors near, as those of a map can, the factors of I - gamma D P
have few entries: 3 million for 100 000 cells. A row (one reward function) comes near its optimum by sweeps, so that one
or two factorisations are enough to arrive; a policy that differs in few states from one whose factors are there is
solved with those. Rows are solved side by side, and no bit depends on how many are.

Shapes: R rows, S states, A actions, K successors.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from wmlab.core.container import usable_cores
from wmlab.core.finite.kernel import Kernel, row_ends
from wmlab.planning.finite.bellman import PATIENCE, RESIDUAL, TIES

LARGE = 5_000  # states: below, iterating takes a second or two, most of it to compile, and values keep every bit
FLAT = 4.0  # times the root of S: as far as a successor may be in line. A map has 1 to 2, a random graph 20 and more
CROWD = 64  # successors that all actions of a state may have together
SIDE_BY_SIDE = 4 << 30  # bytes of factors that are held at once, of several rows
PER_STATE = 1 << 10  # bytes of one row's factors and of what they are made from: measured in mazes, rounded up
NEWS = 25  # sweeps between two looks at whether news has reached all states
CYCLE, CYCLES = 100, 100  # sweeps between two improvements of a policy, and how often at most
SETTLING = 5  # states: where no more change their action in a cycle, a system is worth factorising
SWIFT, FURTHEST = 4, 64  # policies before one looks further ahead, and how many sweeps at most
KRYLOV = 30  # states in which a policy may differ from the one that the factors are of: it takes a step for each
CLOSE = 1e-14  # a residual, relative to the largest value, that needs no further correction


@dataclass(frozen=True, eq=False)
class Flat:
    """A kernel whose states can be put in a line with all successors near."""

    kernel: Kernel

    @property
    def size(self) -> int:
        return self.kernel.size

    @cached_property
    def table(self) -> Any:
        """All transitions, sparse [A S, S]: those of the first action, then those of the second."""
        from scipy.sparse import csr_array

        successors, probabilities = (
            np.ascontiguousarray(np.swapaxes(part, 0, 1)).ravel()
            for part in (self.kernel.successors, self.kernel.probabilities)
        )
        ends = row_ends(self.size * self.kernel.actions, self.kernel.width)
        return csr_array((probabilities, successors, ends), (self.size * self.kernel.actions, self.size))


def flat(kernel: Kernel) -> Flat | None:
    """The kernel of a world that is large and flat enough; None of any other."""
    large = kernel.size >= LARGE and kernel.actions * kernel.width <= CROWD
    return Flat(kernel) if large and _reach(kernel) <= FLAT * np.sqrt(kernel.size) else None


def _matrix(successors: np.ndarray, weights: np.ndarray) -> Any:
    """A sparse array [n, n] of successors and their weights, both [n, k]; a successor may come up twice."""
    from scipy.sparse import csr_array

    size, width = successors.shape
    return csr_array((weights.ravel(), successors.ravel(), row_ends(size, width)), (size, size))


def _reach(kernel: Kernel) -> int:
    """How far from a state a successor stands at most, once states are put in line to be near each other."""
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    listed = kernel.successors.reshape(kernel.size, -1)  # [S, A K]
    place = np.empty(kernel.size, np.int64)
    place[reverse_cuthill_mckee(_matrix(listed, np.ones(listed.shape, np.int8)))] = np.arange(kernel.size)
    return int(np.abs(place[listed] - place[:, None]).max())


# --- all rows ------------------------------------------------------------------------------------------------------


def policy_values(
    world: Flat, policy: np.ndarray, reward: np.ndarray, continues: np.ndarray, discount: np.ndarray
) -> np.ndarray:
    """Q [R, S, A] of policies [R, S, A], for rewards and continue flags [R, S] and discounts [R]."""
    found = np.empty(policy.shape)

    def solve(index: int) -> None:
        row = Row(world, reward[index], discount[index] * continues[index], discount[index])
        found[index] = row.q(System.of_chances(row, policy[index]).solution()).T

    _side_by_side(solve, len(policy), world)
    return found


def optimal_values(
    world: Flat, reward: np.ndarray, continues: np.ndarray, discount: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The best policy (one-hot; of equal actions the first) and its Q, both [R, S, A]."""
    shape = (len(reward), world.size, world.kernel.actions)
    policy, found = np.zeros(shape), np.empty(shape)

    def solve(index: int) -> None:
        row = Row(world, reward[index], discount[index] * continues[index], discount[index])
        action, q = best_policy(row, approach(row))
        found[index] = q.T
        np.put_along_axis(policy[index], action[:, None], 1.0, axis=1)

    _side_by_side(solve, len(reward), world)
    return policy, found


def _side_by_side(work: Callable[[int], None], rows: int, world: Flat) -> None:
    """The same for each row, as many at once as there are cores and room: the work on arrays leaves Python alone."""
    room = SIDE_BY_SIDE // (PER_STATE * world.size)
    with ThreadPoolExecutor(max(1, min(usable_cores(), rows, room))) as pool:
        list(pool.map(work, range(rows)))


# --- one row -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Row:
    """One reward function in a flat world."""

    world: Flat
    reward: np.ndarray  # [S]  r(s')
    ahead: np.ndarray  # [S]  gamma D(s')
    discount: float

    def q(self, value: np.ndarray) -> np.ndarray:
        """Q [A, S] of values [S]."""
        arrived = self.reward + self.ahead * value
        return np.asarray(self.world.table @ arrived).reshape(-1, self.world.size)


def approach(row: Row) -> np.ndarray:
    """Values [S] near the optimum.

    Every state starts with what the usual reward is worth for ever. Until news of another one has reached all states,
    policies have nothing to go by, and each sweep takes the best action. Then a cycle is one improvement of the policy
    and many sweeps with it, which are quicker, until few states change their action.
    """
    value = _spread(row)
    action = np.full(row.world.size, -1)
    for _ in range(CYCLES):
        q = row.q(value)
        better = q.argmax(axis=0)
        changed = np.count_nonzero(better != action)
        action, value = better, q.max(axis=0)
        if changed <= SETTLING:
            break
        system = System.of_actions(row, action)
        for _ in range(CYCLE):
            value = system.swept(value)
    return value


def _spread(row: Row) -> np.ndarray:
    """Values [S] once every state that can hear of an unusual reward has: a sweep takes news one step further."""
    start = float(np.median(row.reward)) / (1 - row.discount)
    value = np.full(row.world.size, start)
    for _ in range(int(4 * np.sqrt(row.world.size)) // NEWS + 1):  # enough to cross a map of so many cells
        before = np.abs(value - start)
        for _ in range(NEWS):
            value = row.q(value).max(axis=0)
        after = np.abs(value - start)
        heard = TIES * float(after.max())
        if not ((before <= heard) & (after > heard)).any():
            break
    return value


def best_policy(row: Row, value: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The best action [S] in each state, and Q [A, S] of always taking it: policy iteration from values [S]."""
    action = factorised = np.full(row.world.size, -1)
    factors: Any = None
    q = row.q(value)
    for count in range(500):
        better = greedy(_looking_ahead(row, q, count))
        gain = float((q.max(axis=0) - value).max())
        idle = count >= PATIENCE and gain <= 10 * RESIDUAL * float(np.abs(q).max())
        if (better == action).all() or idle:
            break
        action = better
        if np.count_nonzero(action != factorised) > KRYLOV:
            factors = None  # makes room for those of this policy
        system = System.of_actions(row, action, factors)
        value = system.solution(value)
        factorised = factorised if system.factors is factors else action
        factors, q = system.factors, row.q(value)
    return action, q


def _looking_ahead(row: Row, q: np.ndarray, count: int) -> np.ndarray:
    """Q [A, S] after further sweeps, the more the longer it takes: what is new goes that many states at a time."""
    for _ in range(min(1 << count >> SWIFT, FURTHEST)):
        q = row.q(q.max(axis=0))
    return q


def greedy(q: np.ndarray) -> np.ndarray:
    """The best action [S] of Q [A, S]; of equally good ones the first, by the rule of `bellman.greedy`."""
    best = q.max(axis=0)
    good = q >= best - TIES * np.maximum(np.abs(best), 1e-3 * np.abs(q).max())
    return np.asarray(good.argmax(axis=0))


@dataclass(eq=False)
class System:
    """V = P (r + gamma D V) of one policy; factors may be those of a policy before."""

    row: Row
    step: Any  # P, sparse [S, S]
    factors: Any = None  # of I - gamma P D: SciPy's SuperLU, or None

    @classmethod
    def of_actions(cls, row: Row, action: np.ndarray, factors: Any = None) -> System:
        """That of taking one action [S] in each state."""
        kernel = row.world.kernel
        pairs = np.arange(kernel.size) * kernel.actions + action
        lists = (part.reshape(-1, kernel.width) for part in (kernel.successors, kernel.probabilities))
        return cls(row, _matrix(*(np.take(part, pairs, axis=0) for part in lists)), factors)

    @classmethod
    def of_chances(cls, row: Row, chances: np.ndarray) -> System:
        """That of a policy [S, A]."""
        kernel = row.world.kernel
        weights = kernel.probabilities * chances[..., None]
        return cls(row, _matrix(*(part.reshape(kernel.size, -1) for part in (kernel.successors, weights))))

    def swept(self, value: np.ndarray) -> np.ndarray:
        """P (r + gamma D V), [S], of values [S]."""
        return np.asarray(self.step @ (self.row.reward + self.row.ahead * value))

    def solution(self, guess: np.ndarray | None = None) -> np.ndarray:
        """V [S], corrected until nothing is left but rounding; near a guess [S], with the factors that are there."""
        if self.factors is not None and guess is not None:
            value, done = self._corrected(guess, KRYLOV)
            if done:
                return value
        self._factorise()
        return self._corrected(self.factors.solve(self.step @ self.row.reward), 1)[0]

    def _factorise(self) -> None:
        from scipy.sparse import csc_array, csr_array, eye_array
        from scipy.sparse.linalg import splu

        step = self.step
        onward = csr_array((step.data * self.row.ahead[step.indices], step.indices, step.indptr), step.shape)
        matrix = csc_array(eye_array(len(self.row.ahead)) - onward)
        matrix.eliminate_zeros()
        # Its diagonal dominates: it is a safe pivot, and leaves the order to what keeps factors small.
        self.factors = splu(matrix, diag_pivot_thresh=0.0)

    def _corrected(self, value: np.ndarray, steps: int) -> tuple[np.ndarray, bool]:
        """V [S] with what its residual says added, as long as that helps; whether it came to an end."""
        before = np.inf
        for _ in range(20):
            lacking = self.swept(value) - value
            left, scale = float(np.abs(lacking).max()), float(np.abs(value).max())
            if left <= CLOSE * scale or left > before / 2:
                return value, left <= RESIDUAL * scale
            value, before = value + self._correction(lacking, steps, CLOSE * scale), left
        return value, False

    def _correction(self, lacking: np.ndarray, steps: int, close: float) -> np.ndarray:
        """What to add to values that lack so much [S]: by the factors, and in further steps by what they miss."""
        if steps == 1:
            return np.asarray(self.factors.solve(lacking))
        from scipy.sparse.linalg import LinearOperator, gmres

        shape = self.step.shape
        system = LinearOperator(shape, lambda value: value - self.step @ (self.row.ahead * value), dtype=float)
        nearly = LinearOperator(shape, self.factors.solve, dtype=float)
        return np.asarray(gmres(system, lacking, M=nearly, rtol=0.0, atol=close, restart=steps, maxiter=1)[0])
