"""Points and checkpoints as a page lets one choose among them: every metric at every point, over training where it was
followed, and the curve of a point that one clicks.

Numbers are those of results.json to six digits. What a page has no room for is left out and counted; what the spec's
report and claims speak of comes first.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from wmlab.registry.metrics import axis_label, meaning
from wmlab.report.data import Results
from wmlab.report.scripts import Script, embedded, script
from wmlab.report.series import in_powers_of_ten, states_of
from wmlab.report.text import compact, finite, plural, point

SWEEP_BYTES = 600_000  # of a page
DIGITS = 6


def sweep_context(results: Results) -> dict[str, Any]:
    """What the template needs; nothing to choose among where there is one point and no checkpoint."""
    entries = _entries(results)
    several = any(len(axis["values"]) > 1 for axis in (results.get("axes") or {}).values())
    followed = any(entry.get("curve") for each in entries.values() for entry in each)
    if not entries or not (several or followed):
        return {"sweep": None}
    data = sweep_data(results)
    left = plural(len(entries) - len(data["metrics"]), "metric") if len(entries) > len(data["metrics"]) else ""
    return {"sweep": {"left_out": left, "followed": followed, "several": several}, "sweep_data": embedded(data)}


def sweep_scripts(context: Mapping[str, Any]) -> tuple[Script, ...]:
    """The script behind it, where there is anything to choose."""
    return (script("sweep"),) if context["sweep"] else ()


def sweep_data(results: Results) -> dict[str, Any]:
    """Axes with their labels, and metrics as far as there is room for them."""
    axes = {str(name): axis["values"] for name, axis in (results.get("axes") or {}).items()}
    kept: list[dict[str, Any]] = []
    size, entries = 0, _entries(results)
    for name in sorted(entries, key=lambda name: _rank(name, results)):
        told = {"name": name, "label": axis_label(name), "about": meaning(name) or ""}
        means = [mean for entry in entries[name] if finite(mean := entry.get("mean"))]
        metric = {
            **told,
            "powers": in_powers_of_ten(name, means),
            "at": [_entry(entry, axes, results) for entry in entries[name]],
        }
        size += len(json.dumps(metric))
        if size > SWEEP_BYTES:
            break
        kept.append(metric)
    return {
        "axes": [{"name": name, "labels": [compact(label) for label in labels]} for name, labels in axes.items()],
        "metrics": kept,
        "seeds": [compact(seed) for seed in results.get("seeds") or ()],
        "holes": _holes(results, axes),
    }


def _entries(results: Results) -> dict[str, list[Mapping[str, Any]]]:
    """Metrics by name, each with what was found of it at the points; relations speak of no point."""
    axes = set(results.get("axes") or {})
    found: dict[str, list[Mapping[str, Any]]] = {}
    for entry in (results.get("metrics") or {}).values():
        mean = short_numbers(entry.get("mean"))
        if isinstance(entry.get("where"), Mapping) and set(entry["where"]) == axes and mean is not None:
            found.setdefault(str(entry.get("metric")), []).append(entry)
    return found


def _rank(name: str, results: Results) -> int:
    """What the spec draws comes first, then what it claims, then the rest."""
    report = results.get("report") or {}
    drawn = [metric for part in ("curves", "heatmaps") for metric in (report.get(part) or {}).get("metrics") or ()]
    claimed = [claim.get("metric") for claim in results.get("claims") or ()]
    return 0 if name in drawn else 1 if name in claimed else 2


def _entry(entry: Mapping[str, Any], axes: Mapping[str, Any], results: Results) -> dict[str, Any]:
    """A metric at one point: labels by position, and its numbers; of a curve, those at each checkpoint."""
    kept: dict[str, Any] = {"where": _positions(entry["where"], axes), **_numbers(entry)}
    curve = entry.get("curve") or {}
    if curve.get("mean"):
        kept["curve"] = _numbers(curve)
        steps = entry.get("steps") or results.get("steps") or ()
        if len(steps) == len(curve["mean"]):
            kept["steps"] = list(steps)
    return kept


def _numbers(found: Mapping[str, Any]) -> dict[str, Any]:
    names = {"mean": "mean", "se_over_seeds": "error", "n": "n", "values": "values"}
    return {short: short_numbers(found[name]) for name, short in names.items() if found.get(name) is not None}


def short_numbers(value: Any) -> Any:
    """Numbers to six digits, in lists and mappings of any depth; what is no finite number is none."""
    if isinstance(value, Mapping):
        return {key: short_numbers(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [short_numbers(each) for each in value]
    if not isinstance(value, float):
        return value
    return float(f"{value:.{DIGITS}g}") if abs(value) < float("inf") else None


def _positions(where: Mapping[str, Any], axes: Mapping[str, Any]) -> list[int]:
    return [[compact(label) for label in labels].index(compact(where[name])) for name, labels in axes.items()]


def _holes(results: Results, axes: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Points at which something is missing, and why."""
    states = states_of(results)
    rows = [
        *(results.get("missing") or ()),
        *(row for row in results.get("failures") or () if isinstance(row, Mapping)),
    ]
    found = {}
    for row in rows:
        where = row.get("where")
        if isinstance(where, Mapping) and set(where) == set(axes) and point(where) in states:
            found[point(where)] = {"where": _positions(where, axes), "why": states[point(where)]}
    return list(found.values())
