"""How long it takes to plan over every kernel that fits and to rank goals to add, with its programs beside HiGHS."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from wmlab.bench.finite import fourrooms_view, maze

ROOM = 12  # cells along a side of a room: about 10⁴ states
GOALS, CANDIDATES = 8, 8  # in that maze
SLACK = 1e-9
WIND = {"straight": 0.5, "left": 0.25, "right": 0.25}


def windy_world(drawn: str) -> Any:
    """A windy world on a map."""
    from wmlab.registry import mdps

    return mdps["gridworld"].run(mdps["gridworld"].build({"map": drawn, "slip": WIND}), 0)


def views(world: Any, goals: int, further: int) -> tuple[Any, Any]:
    """Exact values of the first goals of a permutation, and of those that come next; with the four neighbours."""
    from wmlab.registry import RewardChoice, agents
    from wmlab.sections.experiment import GoalsSection
    from wmlab.stages.finite.records import goals_of

    asked = GoalsSection(RewardChoice({"kind": "indicator"}), {"first": goals + further, "shuffle": 0})
    made = goals_of(asked, world.space, 0)
    parts = []
    for some in (slice(0, goals), slice(goals, None)):
        chosen = dataclasses.replace(
            made, reward=made.reward[some], continues=made.continues[some], labels=made.labels[some]
        )
        view = agents["exact"].run(agents["exact"].build({"discount": 0.99}), world, chosen, 0)
        parts.append(dataclasses.replace(view, support=world.space.neighbours(4, True)))
    return parts[0], parts[1]


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    clock = time.perf_counter()
    found = work()
    return time.perf_counter() - clock, found


def measure(name: str, view: Any, further: Any = None, count: int = 0) -> None:
    """Print how long one unseen goal takes, the first time and again, and how long a ranking of candidates takes."""
    from wmlab.identify.design import PresentGoals, certain_returns
    from wmlab.identify.guarantee import guarantee
    from wmlab.planning.finite.values import Tasks, returns

    size = view.q.shape[1]
    task = Tasks.of(size, [[size - 1]], [[size // 2]], 0.99)
    first, _ = timed(lambda: guarantee(view, task, SLACK))
    again, found = timed(lambda: guarantee(view, task, SLACK))
    certain, possible = (float(returns(value[None], task)[0]) for value in (found.certain, found.possible))
    ranked = "-"
    if count:
        goals = PresentGoals.of(view, SLACK)
        seconds, _ = timed(lambda: certain_returns(goals.with_each(further, count), [task], None))
        ranked = f"{seconds:.1f} s for {count}"
    print(
        f"{name:<28} {size:>7} {first:>8.1f} s {again:>6.1f} s {found.rounds:>6} {certain:>9.4f} {possible:>9.4f}"
        f"   {ranked}",
        flush=True,
    )


def measure_programs(goals: int = 20) -> None:
    """Print how the programs of teleporting four rooms compare with HiGHS one by one."""
    from scipy.optimize import linprog

    from wmlab.identify.fitting import fitting_of

    view = fourrooms_view(goals)
    fitting, problem = fitting_of(view, SLACK)
    cost = np.random.default_rng(0).random(view.q.shape[1])
    every, worth = np.arange(fitting.count), np.broadcast_to(cost, fitting.allowed.shape)
    ours, found = timed(lambda: fitting.greatest(worth, every, fitting.basis))
    rows, states = view.backup.shape
    table = np.block([[view.backup, np.eye(rows), -np.eye(rows)], [np.ones((1, states)), np.zeros((1, 2 * rows))]])
    spent = np.r_[np.zeros(states), np.ones(2 * rows)][None]
    tight = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    fixed: dict[str, Any] = {"A_eq": table, "A_ub": spent, "method": "highs", "options": tight}
    aim = -np.r_[cost, np.zeros(2 * rows)]

    def one_by_one() -> np.ndarray:
        return np.stack(
            [
                linprog(aim, b_ub=[budget], b_eq=np.r_[target, 1.0], **fixed).x[:states]
                for target, budget in zip(
                    fitting.targets[problem].reshape(-1, rows), fitting.budget[problem.ravel()], strict=True
                )
            ]
        )

    def over(weights: np.ndarray, some: np.ndarray) -> float:
        """By how much the worst of kernels [k, S], of problems int [k], misses the values by more than it may."""
        missed = np.abs(weights @ view.backup.T - fitting.targets[some]).sum(axis=1)
        return float((missed - fitting.budget[some]).max())

    loop, theirs = timed(one_by_one)
    gap = float(np.abs(found.value[problem.ravel()] - theirs @ cost).max())
    print(
        f"\n{problem.size} programs ({fitting.count} different, 68 unknowns, {goals} goals) of teleporting four rooms"
    )
    print(f"all at once {ours:.3f} s, HiGHS one by one {loop:.3f} s; largest difference of the optima {gap:.1e}")
    certified, own = float((found.bound - found.value).max()), over(found.weights, every)
    print(
        f"ours are within {certified:.1e} of what duality allows; kernels miss values by {own:.1e} more than they may,"
        f" those of HiGHS by {over(theirs, problem.ravel()):.1e}"
    )


def main() -> None:
    """Print the tables."""
    rooms = ["###########", "#....#....#", "#....#....#", "#.........#", "#....#....#", "###.###.###"]
    rooms += ["#....#....#", "#.........#", "#....#....#", "#....#....#", "###########"]
    print("one unseen goal: what is certain and what is possible; and what candidates for a further goal would add")
    print(
        f"{'world':<28} {'states':>7} {'first':>10} {'again':>8} {'rounds':>6} {'certain':>9} {'possible':>9}   ranking"
    )
    measure("four rooms, windy, 1 goal", *views(windy_world("\n".join(rooms)), 1, 67), count=67)
    for goals in (5, 20, 68):
        measure(f"four rooms, teleporting, {goals}", fourrooms_view(goals))
    measure(f"maze, windy, {GOALS} goals", *views(windy_world(maze(ROOM)), GOALS, CANDIDATES), count=CANDIDATES)
    measure_programs()
