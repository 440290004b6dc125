"""How finite worlds scale: exact values and extraction in mazes of 10³ to 10⁵ states, and the LP against a loop.

Each maze is measured in a process of its own, so that its peak memory is its own. Values are held against those of
the C++ solver mdpsolver, where it is installed (the extra `bench`).
"""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import itertools
import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterable
from typing import Any

import numpy as np

ROOMS = 8  # along each side of the map; walls between rooms have one door each
SIDES = (4, 12, 39)  # cells along a side of a room: about 10³, 10⁴ and 10⁵ states
GOALS = 8
DISCOUNT = 0.99
TOLERANCE = 1e-10  # of mdpsolver: how far its values may still be from optimal


def maze(room: int) -> str:
    """A map of rooms in a grid, each joined to its neighbours by a door."""
    step = room + 1
    size = ROOMS * step + 1
    free = np.ones((size, size), bool)
    free[::step] = free[:, ::step] = False
    middle = np.arange(step // 2, size, step)
    inner = np.arange(step, size - 1, step)
    # Doors wander from wall to wall, so that no two rooms look the same from their doors.
    for i, wall in enumerate(inner):
        for j, door in enumerate(middle):
            shift = (3 * i + 5 * j) % (room - 1) - (room - 1) // 2
            free[wall, door + shift] = free[door - shift, wall] = True
    return "\n".join("".join("." if cell else "#" for cell in row) for row in free)


def world_and_goals(room: int) -> tuple[Any, Any]:
    """A windy maze and its perturbed goals."""
    from wmlab.registry import RewardChoice, mdps
    from wmlab.sections.experiment import GoalsSection
    from wmlab.stages.finite.records import goals_of

    mdp = {"map": maze(room), "slip": {"straight": 0.5, "left": 0.25, "right": 0.25}}
    world = mdps["gridworld"].run(mdps["gridworld"].build(mdp), 0)
    noise = {"kind": "uniform", "low": -1.0, "high": 0.0, "seed": 0}
    reward = RewardChoice({"kind": "indicator", "noise": noise})
    return world, goals_of(GoalsSection(reward, {"first": GOALS, "shuffle": 0}), world.space, 0)


def measure_maze(room: int) -> dict[str, float]:
    """Seconds and memory of one windy maze: world, exact values, extraction, and the model's error."""
    from wmlab.extraction.options import candidates_of
    from wmlab.measure.finite.context import FiniteContext
    from wmlab.measure.finite.errors import model_error
    from wmlab.registry import agents, extractions

    clock = [time.perf_counter()]
    world, goals = world_and_goals(room)
    clock.append(time.perf_counter())
    view = agents["exact"].run(agents["exact"].build({"discount": DISCOUNT}), world, goals, 0)
    clock.append(time.perf_counter())
    method = extractions["lp"]
    prior = {"support": {"kind": "neighbours", "of": 4, "self": True}}
    options = method.build({"prior": prior})
    extracted = method.run(dataclasses.replace(view, support=candidates_of(options.prior, view.space)), options, 0)
    clock.append(time.perf_counter())
    build, values, extraction = np.diff(clock)
    error = model_error(FiniteContext(view, extracted.kernel, world))
    return {
        "states": world.space.size,
        "build": build,
        "values": values,
        "extraction": extraction,
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "tv": error["wm.tv"]["value"],
        "l1_max": error["wm.l1_max"]["value"],
    }


def print_mazes(rooms: Iterable[int]) -> None:
    """Print a row for each maze, measured in a process of its own."""
    print(f"windy mazes, {GOALS} perturbed goals, exact agent, LP on the 4 neighbours and the state itself")
    print(f"{'states':>9} {'build':>8} {'values':>8} {'extract':>8} {'peak':>9} {'wm.tv':>8} {'wm.l1_max':>9}")
    for room in rooms:
        row = measured_apart("measure_maze", room)
        print(
            f"{row['states']:>9.0f} {row['build']:>6.1f} s {row['values']:>6.1f} s {row['extraction']:>6.1f} s"
            f" {row['memory']:>5.2f} GiB {row['tv']:>8.1e} {row['l1_max']:>9.1e}",
            flush=True,
        )


def measured_apart(what: str, room: int) -> dict[str, float]:
    """What a function of this module measures, in another process."""
    command = [sys.executable, "-m", "wmlab.bench.finite", what, str(room)]
    measured: dict[str, float] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return measured


def measure_mdpsolver(room: int) -> dict[str, float]:
    """The values of one goal by the C++ solver mdpsolver, on the same kernel, beside ours."""
    from wmlab.planning.finite.values import optimal_values

    mdpsolver: Any = importlib.import_module("mdpsolver")  # optional, and without types
    world, goals = world_and_goals(room)
    rows = goals.reward[:1], goals.continues[:1], np.array([DISCOUNT])
    optimal_values(world.kernel, *rows)  # compiles
    clock = time.perf_counter()
    _, q = optimal_values(world.kernel, *rows)
    ours = time.perf_counter() - clock
    size, actions = world.kernel.size, world.kernel.actions
    # It knows no ends of episodes: what arrives at the goal goes on to one more state, which pays nothing for ever.
    onward = np.where(goals.continues[0, world.kernel.successors] == 0, size, world.kernel.successors)
    earned = (world.kernel.probabilities * goals.reward[0, world.kernel.successors]).sum(axis=-1)
    model = mdpsolver.model()
    model.mdp(
        discount=DISCOUNT,
        rewards=[*earned.tolist(), [0.0] * actions],
        tranMatProbs=[*_lists(world.kernel.probabilities, world.kernel), [[1.0]] * actions],
        tranMatColumns=[*_lists(onward, world.kernel), [[size]] * actions],
    )
    clock = time.perf_counter()
    model.solve(algorithm="mpi", update="gs", tolerance=TOLERANCE)
    theirs = time.perf_counter() - clock
    found = np.array(model.getValueVector())[:size]
    return {"ours": ours, "theirs": theirs, "gap": float(np.abs(found - q[0].max(axis=-1)).max())}


def _lists(parts: np.ndarray, kernel: Any) -> list[list[list[Any]]]:
    """Parts [S, A, K] of transitions as lists, those of probability 0 left out."""
    there = kernel.probabilities > 0
    flat = parts[there].tolist()
    ends = np.concatenate([[0], np.cumsum(there.sum(axis=-1))]).tolist()
    pairs = [flat[first:last] for first, last in itertools.pairwise(ends)]
    return [pairs[first : first + kernel.actions] for first in range(0, len(pairs), kernel.actions)]


def measure_lp(goals: int = 20) -> dict[str, float]:
    """The 272 programs of teleporting four rooms: all at once, and one by one through SciPy."""
    from scipy.optimize import linprog

    from wmlab.registry import extractions

    view = fourrooms_view(goals)
    method = extractions["lp"]
    method.run(view, method.build({}), 0)
    clock = time.perf_counter()
    extracted = method.run(view, method.build({}), 0)
    ours = time.perf_counter() - clock
    rows, states = view.backup.shape
    cost = np.r_[np.zeros(states), np.ones(2 * rows)]
    table = np.block([[view.backup, np.eye(rows), -np.eye(rows)], [np.ones((1, states)), np.zeros((1, 2 * rows))]])
    clock = time.perf_counter()
    optima = [
        linprog(cost, A_eq=table, b_eq=np.r_[view.q[:, s, a], 1.0], method="highs").fun
        for s in range(states)
        for a in range(view.q.shape[2])
    ]
    loop = time.perf_counter() - clock
    return {"ours": ours, "loop": loop, "gap": float(np.abs(extracted.residual.ravel() - optima).max())}


def fourrooms_view(goals: int) -> Any:
    """An exact agent in teleporting four rooms."""
    from wmlab.registry import RewardChoice, agents, mdps
    from wmlab.sections.experiment import GoalsSection
    from wmlab.stages.finite.records import goals_of

    rows = ["###########", "#....#....#", "#....#....#", "#.........#", "#....#....#", "###.###.###"]
    rows += ["#....#....#", "#.........#", "#....#....#", "#....#....#", "###########"]
    corners = {(4, 4): (6, 6), (4, 6): (6, 1), (6, 4): (1, 6), (6, 6): (1, 1)}
    jumps = [
        {"from": list(cell), "to": {"rows": [row, row + 3], "columns": [column, column + 3]}}
        for cell, (row, column) in corners.items()
    ]
    world = mdps["gridworld"].run(mdps["gridworld"].build({"map": "\n".join(rows), "teleports": jumps}), 0)
    asked = GoalsSection(RewardChoice({"kind": "indicator"}), {"first": goals, "shuffle": 0})
    return agents["exact"].run(agents["exact"].build({"discount": 0.99}), world, goals_of(asked, world.space, 0), 0)


def print_mdpsolver(room: int) -> None:
    """Print how long one goal takes by another solver, where it is installed."""
    if importlib.util.find_spec("mdpsolver") is None:
        print("\nmdpsolver is not installed, so that values are not held against it: pip install 'wmlab[bench]'")
        return
    row = measured_apart("measure_mdpsolver", room)
    print("\nvalues of one goal in the largest of them, on the same kernel")
    print(f"ours {row['ours']:.2f} s, mdpsolver (modified policy iteration, Gauss-Seidel) {row['theirs']:.2f} s")
    print(f"largest difference {row['gap']:.1e}")


def main() -> None:
    """Print the tables."""
    print_mazes(SIDES)
    print_mdpsolver(SIDES[-1])
    lp = measure_lp()
    print("\n272 programs (68 unknowns, 20 goals) of teleporting four rooms")
    print(f"all at once {lp['ours']:.3f} s, SciPy one by one {lp['loop']:.3f} s: {lp['loop'] / lp['ours']:.1f} times")
    print(f"largest difference of the optima {lp['gap']:.1e}")


if __name__ == "__main__":
    measures = {"measure_maze": measure_maze, "measure_mdpsolver": measure_mdpsolver}
    print(json.dumps(measures[sys.argv[1]](int(sys.argv[2]))))
