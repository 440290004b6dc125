"""What a page can be compared with, as it stands in it: only what differs, and numbers of both sides for one scale."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from wmlab.report.claims import MARKS
from wmlab.report.data import ReportData, Results
from wmlab.report.differences import Compared, MetricDifference
from wmlab.report.scripts import Script, embedded, script
from wmlab.report.sweep import short_numbers

COMPARE_BYTES = 400_000  # of a page
MOST_METRICS = 150  # of one comparison, those beyond chance first


def compare_context(document: ReportData) -> dict[str, Any]:
    """What the template needs; nothing where no other results were stored."""
    others = fitting([told(each) for each in document.others])
    if not others:
        return {"others": (), "not_kept": 0}
    names = [row["name"] for each in others for row in each["metrics"]]
    data = {"here": numbers_of(document.results, names), "others": others}
    listed = [{"title": each["title"], "sort": each["sort"]} for each in others]
    return {"others": listed, "not_kept": len(document.others) - len(others), "compare_data": embedded(data)}


def compare_scripts(context: Mapping[str, Any]) -> tuple[Script, ...]:
    """The script behind it, where there is anything to compare with."""
    return (script("compare"),) if context["others"] else ()


def fitting(others: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """As many as a page has room for, the first ones."""
    kept, size = [], 0
    for each in others:
        size += len(json.dumps(each, default=str))
        if size > COMPARE_BYTES:
            break
        kept.append(each)
    return kept


def told(other: Compared) -> dict[str, Any]:
    """One comparison in words and numbers."""
    ordered = sorted(other.metrics, key=lambda row: False not in row.within)
    shown = ordered[:MOST_METRICS]
    return {
        "title": other.title,
        "sort": other.sort,
        "claims": [[row.id, *map(verdict, row.verdicts)] for row in other.claims],
        "values": [[row.path, *(part for cell in row.cells for part in cell)] for row in other.values],
        "metrics": [_metric(row) for row in shown],
        "left": len(ordered) - len(shown),
        "same": other.same_metrics,
        "numbers": numbers_of(other.results, [row.name for row in shown]),
    }


def _metric(row: MetricDifference) -> dict[str, Any]:
    one, other = row.cells
    texts = {"name": row.name, "about": row.about, "one": one.text, "other": other.text}
    return {
        **texts,
        "difference": other.difference,
        "spread": other.spread,
        "chance": other.chance,
        "within": other.within,
    }


def verdict(word: str | None) -> list[str]:
    """How a claim came out, and its sign."""
    return ["not made", ""] if word is None else [word, MARKS[word]]


def numbers_of(results: Results, names: list[str]) -> dict[str, Any]:
    """Mean, standard error and curve of metrics by name, where results have them."""
    metrics = results.get("metrics") or {}
    found = {}
    for name in dict.fromkeys(names):
        entry = metrics.get(name) or {}
        if entry.get("mean") is None:
            continue
        curve = entry.get("curve") or {}
        steps = entry.get("steps") or results.get("steps") or ()
        found[name] = {"mean": entry["mean"], "error": entry.get("se_over_seeds"), "n": entry.get("n")}
        if curve.get("mean") and len(steps) == len(curve["mean"]):
            found[name] |= {"steps": list(steps), "curve": curve["mean"], "errors": curve.get("se_over_seeds")}
    return {name: short_numbers(entry) for name, entry in found.items()}
