"""Names of results, and how a result is read at a point and a checkpoint.

A name is `depth=4,width=512/wm.mse`: the axes in alphabetical order, then the metric. Seeds and checkpoints are
positions inside a result and in no name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Entries = Mapping[str, Mapping[str, Any]]  # results by name
Where = Mapping[str, Any]
Part = tuple[str, str]  # a breakdown of a result, and a label of it: ("dimension", "velocity")

_MARKS = ("/", ",", "=")


def label_text(label: Any) -> str:
    """A label as it stands in a name: numbers as Python writes them, true and false as YAML does."""
    text = str(label).lower() if isinstance(label, bool) else str(label)
    if not text or any(mark in text for mark in _MARKS):
        raise ValueError(f"the label {text!r} is empty or holds one of {' '.join(_MARKS)}: results are named by it")
    return text


def same_label(one: Any, other: Any) -> bool:
    """Whether two labels mean the same: equal numbers or equal text; true is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return str(one).lower() == str(other).lower()
    return one == other or str(one) == str(other)


def name_of(where: Where, metric: str) -> str:
    """The name of a metric at a point; the metric's own where there are no axes."""
    if "/" in metric:
        raise ValueError(f"the metric {metric!r} holds '/', which parts it from its point")
    point = point_text(where)
    return f"{point}/{metric}" if point else metric


def point_text(where: Where) -> str:
    """A point as it stands in a name: depth=4,width=512; empty where there are no axes."""
    return ",".join(f"{axis}={label_text(where[axis])}" for axis in sorted(where))


def find(metrics: Entries, metric: str, where: Where) -> Mapping[str, Any] | None:
    """A metric's result at a point. Relations span an experiment: of a point only the spec counts, in a suite."""
    return metrics.get(name_of(experiment_of(where) if spans_points(metric) else where, metric))


def experiment_of(where: Where) -> dict[str, Any]:
    """The experiment that a point belongs to: in a suite its spec, else there is only one."""
    return {axis: label for axis, label in where.items() if axis == "spec"}


def spans_points(metric: str) -> bool:
    """Whether a metric is taken across points, and so has a single value in an experiment."""
    return metric.startswith("relate.")


def steps_of(entry: Mapping[str, Any]) -> int:
    """How many checkpoints a result has; 0 for one that is taken at the end only."""
    curve = entry.get("curve") or {}
    return len(curve.get("mean", curve.get("value", ())))


def at_step(entry: Mapping[str, Any], step: str | int) -> Mapping[str, Any] | None:
    """A result at one checkpoint (`final`, `first` or a position), in the shape of a result without curve.

    None where there is no such checkpoint.
    """
    if step == "final":
        return entry
    position = 0 if step == "first" else step
    if not isinstance(position, int) or not 0 <= position < steps_of(entry):
        return None
    curve = entry["curve"]
    read = {key: column[position] for key, column in curve.items() if key != "values"}
    if "values" in curve:
        read["values"] = [row[position] if row is not None else None for row in curve["values"]]
    return {**{key: entry[key] for key in ("metric", "where", "incomplete") if key in entry}, **read}


def part_of(entry: Mapping[str, Any], part: Part | None) -> Mapping[str, Any] | None:
    """A part of a result's breakdown, in the shape of a result without curve; without a part, the result itself.

    None where there is no such part.
    """
    if part is None:
        return entry
    found = (entry.get("by") or {}).get(part[0])
    found = found.get(part[1]) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) and "mean" in found else None


def estimate(entry: Mapping[str, Any]) -> float | None:
    """The one number that a result comes down to: the mean over seeds, or a relation's value."""
    return entry["mean"] if "mean" in entry else entry.get("value")


def failed_seeds(entry: Mapping[str, Any]) -> int:
    """How many seeds gave no number."""
    return sum(value is None for value in entry.get("values", ()))
