"""How agents and fits learnt: the curves that their stages stored, over the seeds of each point."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from wmlab.graph.experiment import ExperimentPlan, Run
from wmlab.graph.key import Key
from wmlab.report.content.stored_run import StoredRun
from wmlab.report.series import MOST_LINES, Line, MetricCurves
from wmlab.report.text import point
from wmlab.runtime.result import Result
from wmlab.runtime.store import Store

BINS = 60  # of a curve: the updates in a bin count as one, by their mean
MOST_COLOURS, MOST_PANELS = 7, 9  # lines that differ in colour; panels that are still large enough
AGENT, FIT = "curves/", "curve"  # how arrays with curves are called: of a training, of an extraction
# What a curve is called, and what stands beside its axis; losses fall by orders of magnitude, as errors do.
KNOWN = {
    "loss": ("q.loss", "loss of the agent's values"),
    "td_error": ("q.td_error", "TD error while it learnt"),
    "return": ("agent.return", "return of the episodes it learnt from"),
}


class Curve(NamedTuple):
    """What one seed stored of how it learnt."""

    values: np.ndarray  # [C]
    updates: int  # of which they tell: as many as there are values, or more where each is the mean of several


def learning(plan: ExperimentPlan, keys: Mapping[str, Key], store: Store) -> Iterator[MetricCurves]:
    """A figure for each curve of trainings, and one for the fits of world models; a line for each point.

    Many points are drawn in panels, one for each label of an axis.
    """
    points: dict[str, list[Run]] = {}
    for run in plan.runs:
        points.setdefault(point(run.point.where), []).append(run)
    places = [runs[0].point.where for runs in points.values()]
    axis = panel_axis(places)
    found: dict[tuple[str, str], list[tuple[Mapping[str, Any], Line]]] = {}
    for where, runs in zip(places, points.values(), strict=True):
        for what, curves in curves_of([StoredRun(run, keys, store) for run in runs]).items():
            found.setdefault(what, []).append((where, line_of("mean", curves)))
    for what, lines in found.items():
        if any(len(line.x) > 1 for _, line in lines):
            drawn = legible(list(named(lines, axis)))
            yield MetricCurves(what[0], "", "updates", what[1], drawn, None, len(lines) - len(drawn))


def named(lines: Sequence[tuple[Mapping[str, Any], Line]], axis: str | None) -> Iterator[Line]:
    """Lines with the points of a sweep that they are of, told by the axes along which these lines differ.

    `axis` is that of their panels, where they have some.
    """
    places = [where for where, _ in lines]
    differing = [name for name in places[0] if name != axis and len({point({name: at[name]}) for at in places}) > 1]
    for where, line in lines:
        panel = {axis: where[axis]} if axis is not None else {}
        label = point({name: where[name] for name in differing})
        yield replace(line, label=label or line.label, panel=point(panel))


def panel_axis(places: Sequence[Mapping[str, Any]]) -> str | None:
    """The first axis with few labels, where there is another and one panel has not enough colours for all points."""
    if len(places) <= MOST_COLOURS or len(places[0]) < 2:
        return None
    labels = {axis: {point({axis: where[axis]}) for where in places} for axis in places[0]}
    return next((axis for axis, found in labels.items() if 1 < len(found) <= MOST_PANELS), None)


def legible(lines: list[Line]) -> tuple[Line, ...]:
    """As many lines of each panel as can be told apart."""
    panels: dict[str, list[Line]] = {}
    for line in lines:
        panels.setdefault(line.panel, []).append(line)
    return tuple(line for panel in panels.values() for line in panel[:MOST_LINES])


def curves_of(runs: list[StoredRun]) -> dict[tuple[str, str], list[Curve]]:
    """Every curve of one point by its name and label: that of each seed that has it."""
    curves: dict[tuple[str, str], list[Curve]] = {}
    for kind in ("train", "extract"):
        for run in runs:
            if (result := run.result(kind)) is None:
                continue
            named = {what: array for name, array in result.arrays.items() if (what := label_of(kind, name)) is not None}
            if not named:
                break  # what one seed does not store, no other does, and there may be hundreds
            for what, array in named.items():
                values = np.asarray(array, float).reshape(-1)
                if np.isfinite(values).any():
                    curves.setdefault(what, []).append(Curve(values, updates_of(kind, result, len(values))))
    return curves


def updates_of(kind: str, result: Result, length: int) -> int:
    """How many updates a curve is of: a fit keeps the means of chunks of them, a training every one."""
    notes = result.data.get("notes") or {} if kind == "extract" else {}
    counts = (
        notes.get(name) for name in ("polish", "updates", "steps")
    )  # the curve of a polished fit is of its polish
    return int(next(filter(None, counts), length))


def label_of(kind: str, name: str) -> tuple[str, str] | None:
    """What an array of a stage is called on a page; None where it is no curve."""
    if kind == "train" and name.startswith(AGENT):
        short = name.removeprefix(AGENT)
        return KNOWN.get(short, (f"agent.{short}", short.replace("_", " ")))
    return ("fit.loss", "loss of the world model's fit") if (kind, name) == ("extract", FIT) else None


def line_of(label: str, curves: list[Curve]) -> Line:
    """The mean over seeds in each bin, with a band of one standard error; a curve counts as long as it goes."""
    longest = max(curves, key=lambda curve: len(curve.values))
    length = len(longest.values)
    edges = np.unique(np.linspace(0, length, min(BINS, length) + 1).astype(int))
    binned = np.full((len(curves), len(edges) - 1), np.nan)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Mean of empty slice")  # no episode ended in that bin
        warnings.filterwarnings("ignore", message="Degrees of freedom")
        for row, (values, _) in enumerate(curves):
            kept = np.where(np.isfinite(values), values, np.nan)
            parts = (kept[a:b] for a, b in zip(edges, edges[1:], strict=False))
            binned[row] = [np.nanmean(part) if part.size else np.nan for part in parts]
        mean, n = np.nanmean(binned, axis=0), np.isfinite(binned).sum(axis=0)
        error = np.where(n > 1, np.nanstd(binned, axis=0, ddof=1) / np.sqrt(np.maximum(n, 1)), np.nan)
    low, high = mean - error, mean + error
    x = tuple(float(edge) * longest.updates / length for edge in edges[1:])
    middle, least, most = (tuple(map(known, each)) for each in (mean, low, high))
    return Line(label, x, middle, least, most, len(curves))


def known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
