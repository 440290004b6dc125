"""How two results differ, each a file or what an earlier run found."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wmlab.app.difference import Difference, MetricDifference, ValueDifference, metric_rows
from wmlab.app.reporting import MARK, TIMES
from wmlab.app.run_pages import kept_results
from wmlab.errors import WmlabError
from wmlab.graph.why import differences
from wmlab.runtime.run_list import find_run
from wmlab.runtime.store import Store

SAID_OF_ITSELF = ("spec", "profile", "sets", "seeds", "axes", "provenance")


@dataclass(frozen=True)
class Side:
    """The results that are compared, by the names of their specs: a suite's run has several."""

    title: str
    source: str
    results: Mapping[str, Mapping[str, Any]]


def side_of(word: str) -> Side:
    """A results.json, or the id of a run."""
    if word.endswith(".json"):
        results = read_results(word)
        return Side(word, os.path.relpath(word), {str(results.get("spec")): results})
    store = Store()
    run = find_run(store.root, word)
    changed = "".join(f", {change}" for change in run.sets)
    return Side(f"run {run.id}: {run.spec} ({run.profile}{changed})", f"run {run.id}", kept_results(store, run))


def results_difference(one: Side, other: Side, exact: bool = False) -> Difference:
    """What two sides say of themselves, and their metrics; several experiments of a side pair by name."""
    names = dict.fromkeys([*one.results, *other.results])
    pairs = [(f"{name}: ", one.results.get(name, {}), other.results.get(name, {})) for name in names]
    if len(one.results) == len(other.results) == 1:
        pairs = [("", next(iter(one.results.values())), next(iter(other.results.values())))]
    values: list[ValueDifference] = []
    metrics: list[MetricDifference] = []
    same = 0
    for prefix, ours, theirs in pairs:
        values += value_rows(ours, theirs, prefix, (one.source, other.source), exact)
        changed, equal = metric_rows(ours.get("metrics", {}), theirs.get("metrics", {}), prefix, exact=exact)
        metrics += changed
        same += equal
    return Difference(one.title, other.title, tuple(values), (), tuple(metrics), same)


def value_rows(
    one: Mapping[str, Any], other: Mapping[str, Any], prefix: str, sources: Sequence[str], exact: bool
) -> list[ValueDifference]:
    """What results say of themselves; when a run was, and which, differs between any two and is left to `exact`."""
    left_out = () if exact else tuple(f"provenance.{name}" for name in (*TIMES, MARK))
    return [
        ValueDifference(prefix + path, known(left), known(right), *sources)
        for key in SAID_OF_ITSELF
        for path, left, right in differences(one.get(key), other.get(key), key)
        if path not in left_out
    ]


def known(value: Any) -> Any:
    """A value of a results.json; None where it has none."""
    return value if isinstance(value, (str, int, float, list, dict)) else None


def read_results(path: str) -> dict[str, Any]:
    try:
        results = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise WmlabError(f"{path}: {error.strerror or error}") from None
    except ValueError:
        results = None
    if not isinstance(results, dict) or not isinstance(results.get("metrics"), dict):
        raise WmlabError(f"{path} is no results.json of an experiment")
    return results
