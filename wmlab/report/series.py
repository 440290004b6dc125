"""What the figures show, taken from stored metrics as the spec's `report` section asks."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wmlab.registry.metrics import axis_label, meaning
from wmlab.report.data import Results
from wmlab.report.text import compact, number, point

ERRORS = ("wm", "q", "fit", "compare")  # metrics that fall by orders of magnitude; returns do not
WIDE_RANGE = 30  # beyond this ratio between largest and smallest, a logarithmic axis shows more
MOST_LINES = 12  # more cannot be told apart
MOST_HEATMAPS = 24  # of one metric: more are not looked at one by one


@dataclass(frozen=True)
class Line:
    """One curve: its value at each checkpoint, and the ends of its band where there is one."""

    label: str
    x: tuple[float, ...]
    mean: tuple[float | None, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]
    n: int | None = None  # seeds, or points of a relation, at the last checkpoint
    panel: str = ""  # of several panels, the one it is drawn in


@dataclass(frozen=True)
class MetricCurves:
    """A metric over training, one line for each point of the sweep."""

    metric: str
    place: str  # the axes held fixed
    x_label: str
    y_label: str
    lines: tuple[Line, ...]
    reference: float | None  # the optimal return beside which a model's return is seen
    left_out: int = 0

    @property
    def panels(self) -> tuple[str, ...]:
        """The panels beside each other, by what their lines have in common."""
        return tuple(dict.fromkeys(line.panel for line in self.lines))


BASELINES = {"r_regression": "planned in a model of the data", "r_combined": "trained values, combined"}


@dataclass(frozen=True)
class Bars:
    """Optimal return against the return of the policy planned in the model, over one axis."""

    goal: str
    x_label: str
    labels: tuple[str, ...]
    best: tuple[tuple[float | None, float | None], ...]  # mean, s.e. of R*
    model: tuple[tuple[float | None, float | None], ...]  # mean, s.e. of R^WM
    beside: tuple[tuple[str, tuple[tuple[float | None, float | None], ...]], ...] = ()  # baseline, mean and s.e. of it


@dataclass(frozen=True)
class HeatCell:
    """A metric at one point: the mean with its standard error over n seeds, or why there is none."""

    mean: float | None
    error: float | None = None  # None where there are fewer than two seeds
    n: int = 0
    hole: str = "no value"  # or "not run", "failed"


@dataclass(frozen=True)
class Heat:
    """A metric over two axes."""

    metric: str
    place: str  # the axes held fixed
    label: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    row_axis: str
    column_axis: str
    cells: tuple[tuple[HeatCell, ...], ...]
    left_out: int = 0  # further labels of the other axes

    @property
    def values(self) -> tuple[tuple[float | None, ...], ...]:
        """The means alone."""
        return tuple(tuple(cell.mean for cell in row) for row in self.cells)

    @property
    def holes(self) -> list[str]:
        """Why cells have no mean, each reason once."""
        return list(dict.fromkeys(cell.hole for row in self.cells for cell in row if cell.mean is None))


def curves(results: Results) -> list[MetricCurves]:
    """The curves that `report.curves` asks for: a figure for each metric and each slice of the sweep."""
    asked = (results.get("report") or {}).get("curves") or {}
    slices = asked.get("slices") or _slices(results, asked.get("one_line_per"))
    figures = [
        _curves(results, metric, dict(held))
        for metric in asked.get("metrics") or ()
        for held in ([{}] if _spans_points(metric) else slices)  # a relation has one curve, whatever is held fixed
    ]
    return [figure for figure in figures if figure.lines]


def _spans_points(metric: str) -> bool:
    return metric.startswith("relate.")


def _slices(results: Results, axis: str | None) -> list[dict[str, Any]]:
    """Where lines run along one axis, a figure for each combination of the others."""
    return _combinations(results, [axis] if axis else list(results.get("axes") or {}))


def _combinations(results: Results, across: Sequence[str]) -> list[dict[str, Any]]:
    """Every choice of labels of the axes that a figure is not across."""
    others = {name: axis["values"] for name, axis in (results.get("axes") or {}).items() if name not in across}
    return [dict(zip(others, values, strict=True)) for values in itertools.product(*others.values())]


def _curves(results: Results, metric: str, held: Mapping[str, Any]) -> MetricCurves:
    entries = [
        entry
        for entry in entries_of(results, metric)
        if entry.get("curve") and all(compact(entry["where"].get(axis)) == compact(held[axis]) for axis in held)
    ]
    lines = [_line(results, entry, held) for entry in entries]
    counted = [len(_steps(results, entry)) == len(line.mean) for entry, line in zip(entries, lines, strict=True)]
    return MetricCurves(
        metric=metric,
        place=point(held),
        x_label="environment steps" if counted and all(counted) else "checkpoint",
        y_label=axis_label(metric),
        lines=tuple(lines[:MOST_LINES]),
        reference=_reference(results, metric),
        left_out=max(0, len(lines) - MOST_LINES),
    )


def _line(results: Results, entry: Mapping[str, Any], held: Mapping[str, Any]) -> Line:
    curve = entry["curve"]
    mean = tuple(curve.get("mean") or curve.get("value") or ())
    steps = _steps(results, entry)
    x = steps if len(steps) == len(mean) else tuple(range(1, len(mean) + 1))
    ends = [_ends(mean[index], curve, index) for index in range(len(mean))]
    label = point({axis: at for axis, at in entry["where"].items() if axis not in held})
    counts = curve.get("n") or ()
    n = counts[-1] if isinstance(counts, Sequence) and counts else entry.get("n")
    if not _spans_points(entry["metric"]) and n is not None and n < len(results.get("seeds") or ()):
        label = f"{label or 'mean'} (n = {n})"
    return Line(label or "mean", x, mean, tuple(low for low, _ in ends), tuple(high for _, high in ends), n)


def _steps(results: Results, entry: Mapping[str, Any]) -> tuple[int, ...]:
    """The environment steps at each checkpoint: of all points, or of this one where points differ."""
    return tuple(entry.get("steps") or results.get("steps") or ())


def _ends(mean: float | None, curve: Mapping[str, Any], index: int) -> tuple[float | None, float | None]:
    """One standard error to either side of a mean over seeds; a relation has its own interval."""
    if "ci" in curve:
        interval = curve["ci"][index]
        return (interval[0], interval[1]) if interval else (None, None)
    errors = curve.get("se_over_seeds") or ()
    error = errors[index] if index < len(errors) else None
    return (None, None) if mean is None or error is None else (mean - error, mean + error)


def _reference(results: Results, metric: str) -> float | None:
    """R* for a curve of R^WM, where it is the same at every point."""
    if not (metric.startswith("unseen.") and metric.endswith(".r_wm")):
        return None
    best = {entry.get("mean") for entry in entries_of(results, metric.removesuffix("r_wm") + "r_star")}
    return best.pop() if len(best) == 1 else None


def bars(results: Results) -> list[Bars]:
    """R* against R^WM for each unseen goal: over the only axis, or goal by goal where there is none."""
    metrics = dict.fromkeys(str(entry.get("metric")) for entry in (results.get("metrics") or {}).values())
    goals = [name.split(".")[1] for name in metrics if name.startswith("unseen.") and name.endswith(".r_wm")]
    goals = [goal for goal in goals if goal != "mean" and f"unseen.{goal}.r_star" in metrics]
    axes = results.get("axes") or {}
    if len(axes) > 1 or not goals:
        return []
    if not axes:
        return [_bars(results, "", "unseen goal", [(goal, goal, {}) for goal in goals])]
    axis, described = next(iter(axes.items()))
    values = described["values"]
    return [_bars(results, goal, str(axis), [(compact(at), goal, {axis: at}) for at in values]) for goal in goals]


def _bars(results: Results, title: str, x_label: str, places: Sequence[tuple[str, str, Mapping[str, Any]]]) -> Bars:
    """Pairs of bars; `places` are their labels, goals and points."""
    best, model = (
        tuple(return_of(results, f"unseen.{goal}.{what}", where) for _, goal, where in places)
        for what in ("r_star", "r_wm")
    )
    beside = []
    for what, name in BASELINES.items():
        pairs = tuple(return_of(results, f"unseen.{goal}.{what}", where) for _, goal, where in places)
        if any(mean is not None for mean, _ in pairs):
            beside.append((name, pairs))
    return Bars(title, x_label, tuple(label for label, _, _ in places), best, model, tuple(beside))


def return_of(results: Results, metric: str, where: Mapping[str, Any]) -> tuple[float | None, float | None]:
    """The mean of a metric at a point and, where there are several seeds, its standard error."""
    for entry in entries_of(results, metric):
        if point(entry["where"]) == point(where):
            return entry.get("mean"), entry.get("se_over_seeds") if (entry.get("n") or 0) > 1 else None
    return None, None


def heats(results: Results) -> list[Heat]:
    """The heatmaps that `report.heatmaps` asks for: a figure for each metric and each label of the other axes."""
    asked = (results.get("report") or {}).get("heatmaps") or {}
    across, down = str(asked.get("columns")), str(asked.get("rows"))
    if not {across, down} <= set(results.get("axes") or {}):
        return []
    slices = _combinations(results, (across, down))
    left_out = max(0, len(slices) - MOST_HEATMAPS)
    figures = [
        _heat(results, metric, down, across, held, left_out)
        for metric in asked.get("metrics") or ()
        for held in slices[:MOST_HEATMAPS]
    ]
    return [figure for figure in figures if any(value is not None for row in figure.values for value in row)]


def _heat(results: Results, metric: str, down: str, across: str, held: Mapping[str, Any], left_out: int) -> Heat:
    rows, columns = (results["axes"][axis]["values"] for axis in (down, across))
    entries = {point(entry["where"]): entry for entry in entries_of(results, metric)}
    states = states_of(results)

    def cell(where: Mapping[str, Any]) -> HeatCell:
        entry, hole = entries.get(point(where), {}), states.get(point(where), "no value")
        n = int(entry.get("n") or 0)
        return HeatCell(entry.get("mean"), entry.get("se_over_seeds") if n > 1 else None, n, hole)

    cells = tuple(tuple(cell({**held, down: r, across: c}) for c in columns) for r in rows)
    labels = (tuple(map(compact, rows)), tuple(map(compact, columns)))
    return Heat(metric, point(held), axis_label(metric), *labels, down, across, cells, left_out)


def states_of(results: Results) -> dict[str, str]:
    """Of points at which something is missing, whether they failed or were not run."""
    missing = {point(row["where"]): "not run" for row in results.get("missing") or ()}
    failed = (row for row in results.get("failures") or () if isinstance(row, Mapping) and "where" in row)
    return missing | {point(row["where"]): "failed" for row in failed if row.get("state") != "not run"}


def not_drawn(results: Results) -> list[str]:
    """What `report` asks for and these results have no numbers for, each with its reason."""
    asked = results.get("report") or {}
    drawn = {("curves", one.metric) for one in curves(results)} | {("heatmaps", one.metric) for one in heats(results)}
    reasons = {"curves": "no checkpoint of it was measured", "heatmaps": "no point has a number"}
    return [
        f"report.{part} of {metric}: {reason} in this run"
        for part, reason in reasons.items()
        for metric in (asked.get(part) or {}).get("metrics") or ()
        if (part, metric) not in drawn
    ]


def describe_curves(figure: MetricCurves) -> str:
    """The figure in a sentence, for those who do not see it."""
    names = [", ".join(filter(None, [line.panel, line.label])) for line in figure.lines]
    ends = "; ".join(f"{name}: {number(line.mean[-1])}" for name, line in zip(names, figure.lines, strict=True))
    place = f" at {figure.place}" if figure.place else ""
    return f"{figure.metric}{place} over {figure.x_label}. At the end, {ends}."


def describe_bars(figure: Bars) -> str:
    """The figure in a sentence, for those who do not see it."""
    parts = [
        f"{label}: R* {number(figure.best[at][0])}, Rᵂᴹ {number(figure.model[at][0])}"
        + "".join(f", {name} {number(pairs[at][0])}" for name, pairs in figure.beside)
        for at, label in enumerate(figure.labels)
    ]
    goal = f" on {figure.goal}" if figure.goal else ""
    return f"Returns{goal} by {figure.x_label}. " + "; ".join(parts) + "."


def describe_heat(figure: Heat) -> str:
    """The figure in a sentence, for those who do not see it."""
    about, place = meaning(figure.metric) or figure.metric, f" at {figure.place}" if figure.place else ""
    return f"{figure.metric} ({about}){place} over {figure.row_axis} down and {figure.column_axis} across."


def entries_of(results: Results, metric: str) -> list[Mapping[str, Any]]:
    """A metric at every point that has it."""
    entries = (results.get("metrics") or {}).values()
    return [entry for entry in entries if entry.get("metric") == metric and "where" in entry]


def in_powers_of_ten(metric: str, values: Sequence[float]) -> bool:
    """Whether colours go by powers of ten: for errors that span orders of magnitude."""
    wide = metric.partition(".")[0] in ERRORS and min(values, default=0) > 0
    return wide and max(values) > WIDE_RANGE / 3 * min(values)
