"""What plans are worth over all worlds that explain the values: the return that is certain, and what is possible.

The kernels that fit are a polytope for each state and action (`identify.fitting`), and any choice from them is a world.
What is certain of a task is its value in a game: one chooses actions, the other, against it, the worst fitting kernel
for each state and action. What is possible is the value where the other helps.

    certain   V(s) = max_a min_p  p.(r + gamma D V)
    possible  V(s) = max_a max_p  p.(r + gamma D V)

Both are found by strategy iteration: plan exactly in the world that is chosen, choose kernels anew for the values of
that plan, and so on until nothing is gained. Wherever that stops, the last programs bound how far V may be from a value
that holds: with c = max_s (V - T V)(s), V - c / (1 - gamma) is a lower bound, for T takes no more than gamma of what is
subtracted; likewise above. T is taken from the dual bounds of the programs, with their rounding.

Shapes: B views, S states, A actions, n problems, K candidates, w successors of a vertex.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from wmlab.core.finite.kernel import Kernel
from wmlab.core.finite.view import FiniteView
from wmlab.identify.fitting import FittingKernels, fitting_of
from wmlab.planning.finite import dense
from wmlab.planning.finite.values import Tasks, optimal_values

ROUNDS = 200  # plans at most; what is reported holds wherever it stops
SETTLED = 1e-12  # a gain of no more is none
TIES = 1e-12  # actions whose bounds differ by less are equally good
Side = Literal[-1, 1]  # of the one who chooses kernels: against the plan, or with it


@dataclass(frozen=True, eq=False)
class UncertainWorlds:
    """B worlds on the same states, known up to the kernels that fit; problems that are known need no program."""

    fitting: FittingKernels  # n problems, each of one of the B views
    allowed: np.ndarray  # int [n + known, K] candidates of all problems, padded with -1
    weights: np.ndarray  # [n + known, K] a kernel that fits
    problem: np.ndarray  # int [B, S, A] which of them a pair is

    @classmethod
    def of(cls, view: FiniteView, slack: float) -> UncertainWorlds:
        """The one world that a view leaves open."""
        fitting, problem = fitting_of(view, slack)
        return cls(fitting, fitting.allowed, fitting.weights, problem[None])

    def kernel(self, world: int, weights: np.ndarray) -> Kernel:
        """One of the worlds, with weights [n + known, K]; as wide for any weights, so that programs compile once."""
        problem = self.problem[world]
        states, width = len(problem), self.allowed.shape[1]
        most = min(width, self.fitting.targets.shape[1] + 2)  # a vertex has no more successors
        allowed, chances = self.allowed[problem], weights[problem]
        if states > dense.STATES and most < width:
            front = np.argpartition(-chances, most - 1, axis=-1)[..., :most]
            allowed, chances = (np.take_along_axis(each, front, axis=-1) for each in (allowed, chances))
            chances = chances / chances.sum(axis=-1, keepdims=True)
        first = np.take_along_axis(allowed, chances.argmax(axis=-1)[..., None], axis=-1)
        return Kernel(np.where(chances > 0, allowed, first).astype(np.int32), chances)


@dataclass(frozen=True, eq=False)
class Bounds:
    """Values that hold in every world that fits, or that none exceeds, and a policy with them."""

    value: np.ndarray  # [B, S]
    action: np.ndarray  # int [B, S]
    q: np.ndarray  # [B, S, A] bounds on what an action is worth before `value`, which are what actions are chosen by
    weights: np.ndarray  # [n + known, K] the kernels that were chosen
    rounds: int
    settled: bool


def bounds(worlds: UncertainWorlds, task: Tasks, side: Side, prefer: np.ndarray | None = None) -> Bounds:
    """What is certain (-1) or possible (1) of the one task; of equally good actions, the one to `prefer` [B, S, A]."""
    fitting, count = worlds.fitting, worlds.fitting.count
    weights, basis = worlds.weights.copy(), fitting.basis.copy()
    value = np.zeros((len(worlds.problem), task.reach.shape[1]))
    bound = np.zeros(len(weights))
    moving = np.arange(len(value))  # worlds in which something was gained
    rounds = 0
    while len(moving) and rounds < ROUNDS:
        rounds += 1
        for world in moving.tolist():
            value[world] = _planned(worlds.kernel(world, weights), task)
        mine = np.flatnonzero(np.isin(fitting.view, moving))
        cost = _costs(task, value, fitting)[mine]
        best = fitting.greatest(side * cost, mine, basis[mine])
        basis[mine], bound[mine] = best.basis, side * (best.bound + best.rounding)
        gain = best.value - side * (cost * weights[mine]).sum(axis=1)
        better = mine[gain > SETTLED]
        weights[better] = best.weights[gain > SETTLED]
        moving = np.unique(fitting.view[better])
    q = _q(worlds, task, value, bound, weights, count)
    held, action = _held(task, value, q, side, prefer)
    return Bounds(held, action, q, weights, rounds, not len(moving))


def _planned(kernel: Kernel, task: Tasks) -> np.ndarray:
    """V [S] of the best policy."""
    _, q = optimal_values(kernel, task.reward, task.continues, task.discounts)
    best: np.ndarray = q[0].max(axis=-1)
    return best


def _worth(task: Tasks, value: np.ndarray) -> np.ndarray:
    """What arriving in a state is worth, r + gamma D V: [B, S]."""
    worth: np.ndarray = task.reward + task.discount * task.continues * value
    return worth


def _costs(task: Tasks, value: np.ndarray, fitting: FittingKernels) -> np.ndarray:
    """The same of each candidate, [n, K]."""
    return _worth(task, value)[fitting.view[:, None], np.maximum(fitting.allowed, 0)]


def _q(
    worlds: UncertainWorlds, task: Tasks, value: np.ndarray, bound: np.ndarray, weights: np.ndarray, count: int
) -> np.ndarray:
    """Bounds [B, S, A] on what an action is worth before `value` [B, S]; known problems have no bound but a value."""
    q = bound[worlds.problem]
    known = worlds.problem >= count
    if known.any():
        world = np.nonzero(known)[0]
        problem = worlds.problem[known]
        worth = _worth(task, value)[world[:, None], np.maximum(worlds.allowed[problem], 0)]
        q[known] = (worth * weights[problem]).sum(axis=1)
    return q


def _held(
    task: Tasks, value: np.ndarray, q: np.ndarray, side: Side, prefer: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Values [B, S] moved by as much as the bounds q [B, S, A] ask for, so that they hold; and the actions [B, S]."""
    good = q >= q.max(axis=-1, keepdims=True) - TIES
    action = np.where(good, q if prefer is None else prefer, -np.inf).argmax(axis=-1)
    best = np.take_along_axis(q, action[..., None], axis=-1)[..., 0] if side < 0 else q.max(axis=-1)
    goes_on = task.continues > 0  # nobody counts on the values of states that end an episode
    short = np.where(goes_on, np.maximum(side * (best - value), 0.0), 0.0)
    margin = short.max(axis=-1, keepdims=True) / (1.0 - task.discount)
    held = np.where(goes_on, value + side * margin, best + side * task.discount * margin)
    return np.clip(held, 0.0, 1.0), action


# --- of one view -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Guarantee:
    """What is certain and what is possible of one task, and the policies that go for it."""

    certain: np.ndarray  # [S]
    possible: np.ndarray  # [S]
    cautious: np.ndarray  # int [S] the action whose return is certain
    hopeful: np.ndarray  # int [S] the action whose return is possible
    open: np.ndarray  # [S] how much more the cautious action is worth in the best fitting kernel than in the worst
    worst: Kernel  # of the cautious actions: [S, 1, w]
    least: np.ndarray  # [S, A] the least l1 residual, which slack is added to
    rounds: int
    settled: bool


def guarantee(view: FiniteView, task: Tasks, slack: float) -> Guarantee:
    """What is certain and what is possible of one task, over all kernels that fit within `slack` of the best."""
    worlds = UncertainWorlds.of(view, slack)
    possible = bounds(worlds, task, 1)
    certain = bounds(worlds, task, -1, prefer=possible.q)
    states, cautious = np.arange(len(certain.action[0])), certain.action[0]
    problem = worlds.problem[0, states, cautious]
    fitting = worlds.fitting
    cost = _costs(task, certain.value, fitting)[problem]
    best = fitting.greatest(cost, problem, fitting.basis[problem])
    worst = worlds.kernel(0, certain.weights)
    return Guarantee(
        certain=certain.value[0],
        possible=possible.value[0],
        cautious=cautious,
        hopeful=possible.action[0],
        open=np.maximum(best.value - (cost * certain.weights[problem]).sum(axis=1), 0.0),
        worst=Kernel(worst.successors[states, cautious][:, None], worst.probabilities[states, cautious][:, None]),
        least=fitting.least[worlds.problem[0]],
        rounds=certain.rounds + possible.rounds,
        settled=certain.settled and possible.settled,
    )


def least_slack(view: FiniteView, kernel: Kernel, least: np.ndarray) -> float:
    """The slack from which on a kernel counts as a fit, beyond least residuals [S, A]; infinite off the support."""
    residual = np.abs(kernel.expect(view.backup) - view.q).sum(axis=0)  # [S, A]
    if view.support is not None:
        support = view.support if view.support.ndim == 3 else view.support[:, None]
        listed = (kernel.successors[..., None] == support[..., None, :]).any(axis=-1)  # [S, A, K]
        if not (listed | (kernel.probabilities == 0)).all():
            return float("inf")
    return max(float((residual - least).max()), 0.0)
