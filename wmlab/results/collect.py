"""From what each seed gave to named results: values by seed, mean, standard error and n.

The mean over unseen goals is made here: `unseen.mean.r_wm`, `.r_star` and the like are means over the goals of one
seed, and `unseen.mean.ratio` is the ratio of those means: the share of the attainable return that is attained. A
mean of ratios would be ruled by the goals that hardly pay, and undefined as soon as one of them cannot be reached. A
seed in which a goal has no number has no mean over goals either: a mean over fewer goals answers another question.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from wmlab.results.names import name_of, point_text
from wmlab.results.statistics import mean, over_seeds

Output = Mapping[str, Any]  # metric: {"value": 0.1, "by": {…}, "curve": […]}, or None for a metric that failed
_AVERAGED = (
    *("r_star", "r_wm", "r_believed", "r_certain", "r_possible", "r_cautious", "slack_needed"),
    *("r_regression", "r_combined", "combination_misfit"),
)
_RATIOS = {"ratio": "r_wm", "certain_ratio": "r_certain"}  # each over R*


def collect(
    points: Sequence[Mapping[str, Any]], seeds: Sequence[int], outputs: Sequence[Sequence[Output | None]]
) -> dict[str, dict[str, Any]]:
    """All results of an experiment by name.

    `outputs[p][s]` is what stages returned at point p for seed s, None when that seed failed. At a point where every
    seed failed, the metrics of the other points stand with no values, so that nothing goes missing unsaid.
    """
    if len(outputs) != len(points) or any(len(row) != len(seeds) for row in outputs):
        raise ValueError(f"expected outputs for {len(points)} points and {len(seeds)} seeds")
    rows = [[_with_mean_over_goals(output, row) for output in row] for row in outputs]
    names = [_union(output for output in row if output is not None) for row in rows]
    everywhere = _union(dict.fromkeys(row) for row in names)
    results: dict[str, dict[str, Any]] = {}
    for where, row, metrics in zip(points, rows, names, strict=True):
        for metric in metrics or everywhere:
            name = name_of(where, metric)
            if name in results:
                raise ValueError(f"the point {point_text(where) or '(no axes)'} stands twice")
            each_seed = [(output or {}).get(metric) for output in row]
            results[name] = {"metric": metric, "where": dict(where), **_entry(each_seed, seeds)}
    return results


def _union(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


def _entry(each_seed: Sequence[Mapping[str, Any] | None], seeds: Sequence[int]) -> dict[str, Any]:
    notes: list[str] = []
    raw = [output.get("value") if output else None for output in each_seed]
    values = [_number(value, f"seed {seed}", notes) for seed, value in zip(seeds, raw, strict=True)]
    entry: dict[str, Any] = {"values": values, **over_seeds(values)}
    breakdowns = [output.get("by") if output else None for output in each_seed]
    if any(part is not None for part in breakdowns):
        entry["by"] = _merged(breakdowns, seeds, "by", notes)
    curves = [output.get("curve") if output else None for output in each_seed]
    if any(curve is not None for curve in curves):
        entry["curve"] = _columns(curves, seeds, "step", notes)
    if notes:
        entry["notes"] = notes
    return entry


def _merged(parts: Sequence[Any], seeds: Sequence[int], path: str, notes: list[str]) -> Any:
    """Breakdowns of all seeds, number by number."""
    present = [part for part in parts if part is not None]
    if any(isinstance(part, Mapping) for part in present):
        inner = [part if isinstance(part, Mapping) else {} for part in parts]
        return {key: _merged([part.get(key) for part in inner], seeds, f"{path}.{key}", notes) for key in _union(inner)}
    if any(_is_list(part) for part in present):
        return _columns([part if _is_list(part) else None for part in parts], seeds, path, notes)
    if any(isinstance(part, str) for part in present):
        return {"values": list(parts)}
    values = [_number(part, f"seed {seed}, {path}", notes) for seed, part in zip(seeds, parts, strict=True)]
    return {"values": values, **over_seeds(values)}


def _columns(rows: Sequence[Any], seeds: Sequence[int], noun: str, notes: list[str]) -> dict[str, Any]:
    """Lists of all seeds, position by position; None stays in place of a failed seed."""
    length = max(len(row) for row in rows if row is not None)
    values: list[list[float | None] | None] = []
    for seed, row in zip(seeds, rows, strict=True):
        if row is None:
            values.append(None)
            continue
        if len(row) < length:
            notes.append(f"seed {seed}: {len(row)} values of {noun} where others have {length}")
        read = [_number(value, f"seed {seed}, {noun} {position}", notes) for position, value in enumerate(row)]
        values.append(read + [None] * (length - len(row)))
    columns = [over_seeds([row[i] if row is not None else None for row in values]) for i in range(length)]
    return {"values": values, **{key: [c[key] for c in columns] for key in ("mean", "se_over_seeds", "n")}}


def _number(value: Any, place: str, notes: list[str]) -> float | int | None:
    """A value as JSON can hold it, at full precision; what is not a finite number becomes None, and a note."""
    if value is None:
        return None
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool):
        return int(value)
    if math.isfinite(value):
        return value
    notes.append(f"{place}: {value}, not a finite number")
    return None


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple)) or getattr(value, "ndim", 0) == 1


# --- the mean over unseen goals ----------------------------------------------------------------------------------


def _with_mean_over_goals(output: Output | None, row: Sequence[Output | None]) -> dict[str, Any] | None:
    """A seed's metrics and their means over unseen goals, where the goals are those of any seed at the point."""
    if output is None:
        return None
    goals: dict[str, list[str]] = {field: [] for field in _AVERAGED}
    for metric in _union(other for other in row if other is not None):
        parts = metric.split(".")
        if len(parts) == 3 and parts[0] == "unseen" and parts[1] != "mean" and parts[2] in goals:
            goals[parts[2]].append(parts[1])
    made: dict[str, Any] = {}
    for field, names in goals.items():
        if names:
            made[f"unseen.mean.{field}"] = _mean_of([output.get(f"unseen.{goal}.{field}") for goal in names])
    for ratio, field in _RATIOS.items():
        if goals["r_star"] and set(goals["r_star"]) == set(goals[field]):
            made[f"unseen.mean.{ratio}"] = _ratio_of(made[f"unseen.mean.{field}"], made["unseen.mean.r_star"])
    return {**made, **output}


def _mean_of(parts: Sequence[Mapping[str, Any] | None]) -> dict[str, Any] | None:
    if any(part is None for part in parts):
        return None
    present = [part for part in parts if part is not None]
    averaged: dict[str, Any] = {"value": _complete_mean([part.get("value") for part in present])}
    curves = [part["curve"] for part in present if part.get("curve") is not None]
    if len(curves) == len(present) and len({len(curve) for curve in curves}) == 1:
        averaged["curve"] = [_complete_mean(column) for column in zip(*curves, strict=True)]
    return averaged


def _complete_mean(values: Sequence[Any]) -> float | None:
    ignored: list[str] = []  # the goals' own results carry the notes
    read = [_number(value, "", ignored) for value in values]
    return None if any(value is None for value in read) else mean(read)


def _ratio_of(part: Mapping[str, Any] | None, whole: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if part is None or whole is None:
        return None
    ratio: dict[str, Any] = {"value": _quotient(part["value"], whole["value"])}
    if "curve" in part:
        # R* is the true world's and has no checkpoints unless a stage repeats it at each.
        below = whole.get("curve", [whole["value"]] * len(part["curve"]))
        if len(below) == len(part["curve"]):
            ratio["curve"] = [_quotient(*pair) for pair in zip(part["curve"], below, strict=True)]
    return ratio


def _quotient(part: float | None, whole: float | None) -> float | None:
    if part is None or whole is None:
        return None
    return part / whole if whole != 0 else None  # nothing can be attained: a finding says so
