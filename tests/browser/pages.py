"""Pages to look at, of made-up results with names that are attacks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tests.report.sample import document
from wmlab.report.data import Explorer, ExplorerAxis, PlaneExplorer, ReportData, SuiteRow
from wmlab.report.diff import DiffPage, FigureRow, render_difference
from wmlab.report.differences import ClaimDifference, Compared, MetricDifference, ValueDifference
from wmlab.report.render import render, render_suite
from wmlab.report.runs import RunRow, render_runs

EVIL = "</script><script>document.title='run'</script><img src=x onerror=\"document.title='run'\">"
MAP = ("#####", "#..##", "#...#", "##..#", "#####")
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 30"><rect width="40" height="30" fill="#0072b2"/></svg>'


def explorer() -> Explorer:
    """Seven cells, four actions, two goals, one unseen; every number is different."""
    cells = np.array([(row, column) for row, line in enumerate(MAP) for column, mark in enumerate(line) if mark == "."])
    states, actions, goals, kept = len(cells), 4, 2, 3
    random = np.random.default_rng(0)

    def numbers(*shape: int) -> np.ndarray:
        return random.random(shape).astype(np.float32)

    after = np.stack([random.permutation(states)[:kept] for _ in range(states * actions)]).reshape(
        states, actions, kept
    )
    after[0, 0, 2] = -1  # fewer next states than elsewhere
    low = numbers(states, actions, kept) / 2
    arrays = {
        "next": after.astype(np.int32),
        "model": numbers(states, actions, kept),
        "truth": numbers(states, actions, kept),
        "low": low,
        "high": low + numbers(states, actions, kept) / 2,
        "left_out": np.arange(states * actions, dtype=np.int32).reshape(states, actions) % 2,
        "tv": numbers(states, actions),
        "residual": numbers(states, actions),
        "nullity": np.arange(states * actions, dtype=np.int32).reshape(states, actions) % 3,
        "visits": np.arange(states, dtype=np.int32) * 10,
        "q": numbers(goals, states, actions),
        "v": numbers(goals, states),
        f"plan/{EVIL}/value": numbers(states),
        f"plan/{EVIL}/step": np.arange(states, dtype=np.int32) % actions,
        f"oracle/{EVIL}/value": numbers(states),
        f"oracle/{EVIL}/step": np.ones(states, np.int32),
    }
    names = tuple(EVIL if place == 3 else f"({row}, {column})" for place, (row, column) in enumerate(cells))
    marks = {EVIL: {"reach": (6,), "avoid": (1,)}}
    shape = (len(MAP), len(MAP[0]))
    directions = ("up", "right", "down", "left")
    about = {"marks": marks, "trained": ((2,), (4, 5)), "place": EVIL}
    return Explorer(names, directions, cells, shape, ("first", EVIL), (EVIL,), arrays, **about)


def planes() -> PlaneExplorer:
    """Three variables that can be chosen, of four; numbers differ everywhere, and the model moves far too much."""
    axes = (
        ExplorerAxis("angle", -np.pi, np.pi, 5, 3, 0, periodic=True),
        ExplorerAxis(EVIL, -2.0, 2.0, 7, 3, 1),
        ExplorerAxis("third", 0.0, 1.0, 3, 1, 3),
    )
    points, goals, actions, variables, knots, starts = 5 * 7 * 3, 2, 3, 4, 6, 9
    random = np.random.default_rng(0)

    def numbers(*shape: int, around: float = 0.0, spread: float = 1.0) -> np.ndarray:
        return (around + spread * random.normal(size=shape)).astype(np.float32)

    arrays = {
        "q": numbers(goals, actions, points),
        "v": numbers(goals, points),
        "exact/q": numbers(goals, actions, points),
        "exact/v": numbers(goals, points),
        "move/truth": numbers(actions, variables, points, around=0.05, spread=0.01),
        "move/error": numbers(actions, variables, points, around=0.2, spread=1.0),
        "usual": np.full(variables, 0.05, np.float32),
        "td/truth": numbers(goals, actions, points, spread=1e-5),
        "td/model": numbers(goals, actions, points, spread=1e-5),
        "ends": random.random((goals, points)) < 0.2,
        "starts": numbers(starts, variables),
        "steps_between": np.int32(20),
        "horizon": np.int32(100),
        "way/truth": numbers(goals, starts, knots, 3),
        "way/model": numbers(goals, starts, knots, 3),
        "steps/truth": np.arange(goals * starts, dtype=np.int32).reshape(goals, starts) + 20,
        "steps/model": np.full((goals, starts), 100, np.int32),
        "visits": random.random((4, 4, 4)),
    }
    names = ("angle", EVIL, "fixed", "third")
    return PlaneExplorer(axes, names, ("left", "none", "right"), ("one", EVIL), arrays, {"fixed": 0.5}, place=EVIL)


def sweep(followed: bool = True) -> dict[str, Any]:
    """Results over three axes, one with a name that is an attack, of two seeds; one metric was followed."""
    axes = {"depth": [1, 2], "width": [16, 64, 256], EVIL: ["a", EVIL]}
    random = np.random.default_rng(0)
    metrics: dict[str, Any] = {}
    for place in np.ndindex(2, 3, 2):
        where = {name: values[at] for (name, values), at in zip(axes.items(), place, strict=True)}
        for name in ("wm.tv", EVIL):
            if place == (1, 2, 0) and name == "wm.tv":
                continue  # a hole
            values = random.random((2, 4)).round(6) + 0.1  # [seed, checkpoint]
            columns = {"mean": values.mean(axis=0), "se_over_seeds": values.std(axis=0) / 2}
            entry = {"metric": name, "where": where, "values": [*values[:, -1]], "n": 2}
            entry |= {key: float(column[-1]) for key, column in columns.items()}
            if followed and name == "wm.tv":
                entry["curve"] = {key: [*column] for key, column in columns.items()}
                entry["curve"] |= {"values": values.tolist(), "n": [2] * 4}
            metrics[f"{place}/{name}"] = entry
    hole = {"depth": 2, "width": 256, EVIL: "a"}
    return {
        "spec": EVIL,
        "profile": "p",
        "title": EVIL,
        "seeds": [0, 7],
        "steps": [1000, 2000, 4000, 8000],
        "axes": {name: {"values": values, "paths": []} for name, values in axes.items()},
        "metrics": metrics,
        "claims": [],
        "missing": [{"where": hole, "seeds": [0, 7]}],
    }


def write_sweep(folder: Path, results: dict[str, Any]) -> Path:
    return written(folder / "sweep.html", render(ReportData(results))["index.html"])


def write_compared(folder: Path) -> Path:
    """A page and two others: one differs in everything, the other in one metric and by a name that is an attack."""
    here, there = sweep(), sweep()
    for name, entry in there["metrics"].items():
        if name.endswith("wm.tv"):
            entry["mean"] += 0.25
            entry["curve"]["mean"] = [value + 0.25 for value in entry["curve"]["mean"]]
    changed = [name for name in there["metrics"] if name.endswith("wm.tv")]
    pairs = [
        MetricDifference(name, (here["metrics"][name]["mean"], there["metrics"][name]["mean"]), ((0.1, 0.4),))
        for name in changed
    ]
    other = {**here, "metrics": {**here["metrics"], changed[0]: {**here["metrics"][changed[0]], "mean": 9.0}}}
    few = (MetricDifference(changed[0], (here["metrics"][changed[0]]["mean"], 9.0), (None,)),)
    value = ValueDifference("agent.discount", (0.9, EVIL), ("maze.yaml:6", "--set agent.discount=…"))
    claim = ClaimDifference(EVIL, ("holds", "fails"))
    compared = (
        Compared("maze (smoke)", "an earlier run", there, (value,), tuple(pairs), 11, (claim,)),
        Compared(EVIL, "another spec", other, (), few, 22),
    )
    return written(folder / "compared.html", render(ReportData(here, others=compared))["index.html"])


def write_report(folder: Path, shown: Explorer | PlaneExplorer) -> Path:
    results = {"spec": EVIL, "profile": "p", "title": EVIL, "seeds": [0], "metrics": {}, "claims": []}
    name = "planes.html" if isinstance(shown, PlaneExplorer) else "report.html"
    return written(folder / name, render(ReportData(results, explorer=shown))["index.html"])


def write_experiment(folder: Path) -> Path:
    """A whole page: claims, figures, settings, the plan, and an explorer."""
    return write_files(folder / "experiment", render(replace(document(), explorer=explorer())))


def write_suite(folder: Path) -> Path:
    """Two specs with the same figures, and one that was not run."""
    rows = [SuiteRow(name, "laptop", f"../{name}.html", document().results) for name in ("windy", EVIL)]
    return write_files(folder / "suite", render_suite([*rows, SuiteRow("later", "laptop", "")], title=EVIL))


def write_files(folder: Path, files: Mapping[str, bytes]) -> Path:
    for name, content in files.items():
        written(folder / name, content)
    return folder / "index.html"


def write_runs(folder: Path, count: int = 30) -> Path:
    """Runs with pictures beside the page, one of them with a name that is an attack."""
    written(folder / "figures" / "map.svg", SVG)
    rows = [
        RunRow(
            id=f"run{place:04d}",
            spec=EVIL if place == 5 else f"spec{place % 7}",
            profile=("smoke", "laptop", "paper")[place % 3],
            started=f"2026-02-{28 - place % 28:02d}T10:00:00+00:00",
            state="died" if place == 2 else "done",
            changed="agent.discount=0.5 seeds=3" if place % 4 == 1 else "",
            seeds=place % 5 + 1,
            held=None if place == 2 else place % 6,
            failed=int(place % 9 == 4),
            seconds=None if place == 2 else 3.0 * (place * 7 % 11),
            machine="somewhere",
            commit="0123abc dirty",
            link="report.html" if place != 2 else "",
            picture="figures/map.svg" if place != 2 else "",
        )
        for place in range(count)
    ]
    return written(folder / "index.html", render_runs(rows))


def write_diff(folder: Path) -> Path:
    """Three sides, one with a name that is an attack."""
    blue, red = SVG, SVG.replace(b"0072b2", b"d55e00")
    page = DiffPage(
        ("run abcdefg: maze (smoke)", f"run hijklmn: {EVIL}", "run opqrstu: maze (smoke, agent.discount=0.5)"),
        values=(
            ValueDifference(
                "agent.discount", (0.9, 0.9, 0.5), ("maze.yaml:6", "maze.yaml:6", "--set agent.discount=0.5")
            ),
            ValueDifference("extract.prior", (None, EVIL, None), (None, "other.yaml:12", None)),
        ),
        metrics=(
            MetricDifference("wm.tv", (0.0123, 0.0456, 0.0123), ((0.01, 0.05), (-0.01, 0.01))),
            MetricDifference("goals=4/unseen.one_unsafe.ratio", (0.99, 0.98, 0.97), ((-0.05, 0.03), (-0.06, 0.02))),
            MetricDifference("fit.residual", (1e-9, 2e-7, None), (None, None)),
        ),
        same_metrics=12,
        claims=(
            ClaimDifference("one_unsafe", ("holds", "fails", "holds")),
            ClaimDifference(EVIL, (None, "shown", None)),
        ),
        figures=(FigureRow("map-one_unsafe", (blue, red, blue)), FigureRow("curve", (blue, None, red))),
        same_figures=2,
    )
    return written(folder / "diff.html", render_difference(page))


def written(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path
