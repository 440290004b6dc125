"""Results as a FourRooms run would leave them, made up but of the right shape and size."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from wmlab.report.data import Cell, GridMap, KindEdge, PlanRows, ReportData, ResolvedRow, StageRow

MAP = """\
###########
#....#....#
#....#....#
#.........#
#....#....#
###.###.###
#....#....#
#.........#
#....#....#
#....#....#
###########"""
GOALS = [5, 10, 20, 68]
SEEDS = [0, 1, 2]
STEPS = [1_600_000, 3_200_000, 4_800_000, 6_400_000, 8_000_000]
DISCOUNT = 0.99
R_STAR = {"one_unsafe": 0.8712345678901234, "teleport_unsafe": 0.8534567890123456}


def free_cells() -> list[Cell]:
    """The cells that are no wall, row by row."""
    return [(r, c) for r, line in enumerate(MAP.splitlines()) for c, mark in enumerate(line) if mark == "."]


def distances(target: Cell, avoid: tuple[Cell, ...]) -> dict[Cell, int]:
    """Steps to the target from each cell, never entering what is unsafe."""
    free = set(free_cells()) - set(avoid)
    found, queue = {target: 0}, deque([target])
    while queue:
        row, column = queue.popleft()
        for near in ((row - 1, column), (row, column + 1), (row + 1, column), (row, column - 1)):
            if near in free and near not in found:
                found[near] = found[row, column] + 1
                queue.append(near)
    return found


def way(start: Cell, target: Cell, avoid: tuple[Cell, ...], order: tuple[int, ...]) -> tuple[Cell, ...]:
    """A shortest way; `order` says which of two equally short turns is taken."""
    steps, here = distances(target, avoid), start
    cells = [here]
    while here != target:
        near = [(here[0] - 1, here[1]), (here[0], here[1] + 1), (here[0] + 1, here[1]), (here[0], here[1] - 1)]
        here = min((near[turn] for turn in order), key=lambda cell: steps.get(cell, 999))
        cells.append(here)
    return tuple(cells)


def grid_map(title: str, target: Cell, avoid: tuple[Cell, ...], paths: dict[str, tuple[Cell, ...]]) -> GridMap:
    """V* = discount to the power of the distance, on the FourRooms map."""
    cells, steps = free_cells(), distances(target, avoid)
    lines = MAP.splitlines()
    return GridMap(
        title=title,
        shape=(11, 11),
        cells=np.array(cells),
        walls=tuple((r, c) for r in range(11) for c in range(11) if lines[r][c] == "#"),
        values=np.array([0.0 if cell in avoid else DISCOUNT ** max(0, steps.get(cell, 999) - 1) for cell in cells]),
        target=(target,),
        avoid=avoid,
        paths=paths,
        note="goals = 20, seed 0: R* 0.8712, Rᵂᴹ 0.8711.",
    )


def maps() -> tuple[GridMap, ...]:
    """One map where both policies go the same way, and one where they part and one of them jumps."""
    one = ((5, 3),)
    same = way((1, 1), (9, 1), one, (0, 1, 2, 3))
    ports = ((4, 4), (4, 6), (6, 4), (6, 6))
    jump = (*way((1, 1), (4, 3), (), (0, 1, 2, 3)), (8, 8), (9, 8), (9, 9))
    ways = {"optimal": way((1, 1), (9, 9), ports, (1, 2, 0, 3)), "model": jump}
    return (
        grid_map("one_unsafe", (9, 1), one, {"optimal": same, "model": same}),
        grid_map("teleport_unsafe", (9, 9), ports, ways),
    )


def entry(metric: str, where: dict[str, Any], values: list[float | None], curve: np.ndarray | None = None) -> dict:
    """A metric with its mean and standard error over the seeds that finished."""
    known = [value for value in values if value is not None]
    n = len(known)
    record: dict[str, Any] = {"metric": metric, "where": where, "values": values, "n": n}
    record["mean"] = float(np.mean(known)) if n else None
    record["se_over_seeds"] = float(np.std(known, ddof=1) / np.sqrt(n)) if n > 1 else None
    if curve is not None:
        error = curve.std(axis=0, ddof=1) / np.sqrt(len(curve)) if len(curve) > 1 else np.full(curve.shape[1], np.nan)
        record["curve"] = {
            "values": curve.tolist(),
            "mean": curve.mean(axis=0).tolist(),
            "se_over_seeds": [None if np.isnan(value) else float(value) for value in error],
            "n": [len(curve)] * curve.shape[1],
        }
    return record


def metrics(seeds: list[int] = SEEDS) -> dict[str, Any]:
    """Errors that fall with goals and training, returns that rise towards the optimum."""
    random = np.random.default_rng(0)
    found: dict[str, Any] = {}

    def add(goals: int, metric: str, curve: np.ndarray) -> None:
        record = entry(metric, {"goals": goals}, curve[:, -1].tolist(), curve)
        found[f"goals={goals}/{metric}"] = record

    for rank, goals in enumerate(GOALS):
        progress = np.linspace(0.3, 1, len(STEPS))
        noise = lambda size: random.normal(0, size, (len(seeds), len(STEPS)))  # noqa: E731
        add(goals, "wm.mse", 0.012 * np.exp(-(1.2 + rank) * 1.7 * progress + noise(0.15)))
        add(goals, "wm.tv", 0.3 * np.exp(-(1.2 + rank) * progress + noise(0.08)))
        add(goals, "agent.return", 0.85 * progress**0.3 + noise(0.004))
        for goal, best in R_STAR.items():
            ratio = 1 - (1 - 0.35 * progress) * np.exp(-1.9 * rank) * np.abs(1 + noise(0.15)) * 0.6
            add(goals, f"unseen.{goal}.r_wm", best * ratio)
            add(goals, f"unseen.{goal}.ratio", ratio)
            found[f"goals={goals}/unseen.{goal}.r_star"] = entry(
                f"unseen.{goal}.r_star", {"goals": goals}, [best] * len(seeds)
            )
        found[f"goals={goals}/ident.rank"] = entry("ident.rank", {"goals": goals}, [float(goals)] * len(seeds))
        found[f"goals={goals}/ident.rank"]["by"] = {"discount": {"0.99": float(goals)}}
    return found


def claim(name: str, metric: str, where: dict, test: dict | None, measured: Any, bound: Any, **more: Any) -> dict:
    """One evaluated claim, as results.json keeps it; it holds unless `more` says otherwise."""
    place = {axis: label for axis, label in where.items() if axis != "step"}
    holds = None if test is None else True
    case = {"where": place, "step": "final", "seed": None, "measured": measured, "bound": bound, "holds": holds}
    return {
        "id": name,
        "metric": metric,
        "where": where,
        "statistic": "mean",
        "paper": None,
        "measured": measured,
        "bound": bound,
        "test": test,
        "cases": [case],
        "holds": holds,
        "source": "App. F.4",
        **more,
    }


def claims(found: dict[str, Any]) -> list[dict[str, Any]]:
    """The claims of the teleporting spec, and one that is only shown."""

    def mean(name: str) -> float:
        return found[name]["mean"]

    one, two = mean("goals=20/unseen.one_unsafe.ratio"), mean("goals=20/unseen.teleport_unsafe.ratio")
    half = 0.5 * mean("goals=5/wm.mse")
    each = [
        {
            "where": {"goals": goals},
            "step": step,
            "seed": seed,
            "measured": 0.9 + 0.01 * seed,
            "bound": 1.000001,
            "holds": True,
        }
        for goals in GOALS
        for step in range(len(STEPS))
        for seed in SEEDS
    ]
    ratio, at_20, at_68 = "unseen.{}.ratio", {"goals": 20}, {"goals": 68}
    fewer = {"at_most": {"metric": "wm.mse", "where": {"goals": 5}, "times": 0.5}}
    earlier = {"at_most": {"metric": "wm.mse", "where": {"step": "first"}, "times": 0.5}}
    first = 0.5 * found["goals=68/wm.mse"]["curve"]["mean"][0]
    return [
        claim("one_unsafe", ratio.format("one_unsafe"), at_20, {"at_least": 0.98}, one, 0.98, paper=0.999),
        claim("teleport_unsafe", ratio.format("teleport_unsafe"), at_20, {"at_least": 0.97}, two, 0.97, paper=0.999),
        claim("goals_help", "wm.mse", at_20, fewer, mean("goals=20/wm.mse"), half),
        claim("training_helps", "wm.mse", {**at_68, "step": "final"}, earlier, mean("goals=68/wm.mse"), first),
        claim(
            "never_above_optimal",
            ratio.format("one_unsafe"),
            {"goals": "all", "step": "all"},
            {"at_most": 1.000001},
            0.99998,
            1.000001,
            statistic="each_seed",
            cases=each,
            source="ours",
        ),
        claim("total_variation", "wm.tv", at_68, None, mean("goals=68/wm.tv"), None, paper=1.2e-4),
    ]


def results(**changes: Any) -> dict[str, Any]:
    """The content of results.json."""
    found = metrics()
    return {
        "spec": "fourrooms_teleporting",
        "profile": "laptop",
        "title": "How many goals until an agent's values give away where the teleports lead?",
        "seeds": SEEDS,
        "axes": {"goals": {"paths": ["goals.at.first"], "values": GOALS}},
        "steps": STEPS,
        "metrics": found,
        "claims": claims(found),
        "assumptions": {
            "mdp.map": "the paper names two doors, (5,3) and (3,5); the other two are their mirror images",
            "mdp.reset": "start distribution not given",
            "goals.at.shuffle": "the paper's permutation is not given",
        },
        "failures": [],
        "report": {
            "curves": {
                "metrics": ["wm.mse", "unseen.one_unsafe.r_wm", "unseen.teleport_unsafe.r_wm"],
                "one_line_per": "goals",
            },
            "maps": {"where": {"goals": 20}, "goals": ["one_unsafe", "teleport_unsafe"]},
        },
        "provenance": {
            "wmlab": "0.1.0",
            "jax": "0.10.2",
            "device": "cpu (x86_64)",
            "spec_sha256": "9f2c" * 16,
            "started": "2025-03-14T09:26:53+00:00",
            "seconds": 764.2,
        },
        **changes,
    }


def resolved() -> tuple[ResolvedRow, ...]:
    """A part of the resolved spec, with what the profile changes."""
    file = "specs/fourrooms_teleporting.yaml"
    return (
        ResolvedRow("mdp.kind", "gridworld", f"{file}:7"),
        ResolvedRow("mdp.map", MAP + "\n", f"{file}:8"),
        ResolvedRow("mdp.actions", ["up", "right", "down", "left"], f"{file}:20"),
        ResolvedRow("mdp.horizon", 200, f"{file}:27"),
        ResolvedRow("agent.network.depth", 2, f"{file}:109", True, 4),
        ResolvedRow("agent.network.width", 128, f"{file}:109", True, 1024),
        ResolvedRow("agent.network.goal", "head", f"{file}:109", True, "input"),
        ResolvedRow("agent.optimiser.rate", 1e-3, f"{file}:110", True, 1e-4),
        ResolvedRow("agent.hindsight", None, f"{file}:111", True, {"strategy": "future", "k": 4}),
        ResolvedRow("agent.steps", 8_000_000, f"{file}:112", True, 10_000_000),
        ResolvedRow("agent.discount", 0.99, f"{file}:36"),
        ResolvedRow("extract.tie_break", "vertex", "default"),
        ResolvedRow("seeds", 3, f"{file}:114", True, 10),
    )


def plan(seeds: int = 3, points: int = 4) -> PlanRows:
    """Stages of a sweep: one oracle, then training, tracking, extraction and measurement for each point and seed."""
    stages = [StageRow("oracle", "oracle", "done", 0.8, "ab12" * 16)]
    for kind, seconds in (("train", 58.3), ("extract", 0.9), ("track", 3.1), ("measure", 0.2)):
        for index in range(seeds * points):
            label = f"{kind} goals={GOALS[index % 4]} seed={index // points}"
            stages.append(StageRow(label, kind, "done", seconds + 0.01 * index, f"{index:04x}" * 16))
    stages.append(StageRow("aggregate", "aggregate", "done", 0.1, "ef56" * 16))
    pairs = (
        ("train", "extract"),
        ("train", "track"),
        ("oracle", "track"),
        ("oracle", "measure"),
        ("extract", "measure"),
        ("track", "aggregate"),
        ("measure", "aggregate"),
    )
    return PlanRows(tuple(stages), tuple(KindEdge(a, b, seeds * points) for a, b in pairs))


def document(**changes: Any) -> ReportData:
    """A whole report; `changes` go into its results."""
    return ReportData(results(**changes), resolved(), plan(), maps())
