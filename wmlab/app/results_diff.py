"""How two results differ, each a file or what an earlier run found."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wmlab.app.difference import (
    ClaimDifference,
    Difference,
    MetricDifference,
    ValueDifference,
    claim_rows,
    metric_rows,
)
from wmlab.app.report_folder import MARK, TIMES
from wmlab.errors import WmlabError
from wmlab.graph.why import differences
from wmlab.report.data import SETTINGS

Setting = tuple[Any, str | None]  # a value and its origin
SAID_OF_ITSELF = ("spec", "profile", "sets", "seeds", "axes", "provenance")


@dataclass(frozen=True)
class Side:
    """The results that are compared, by the names of their specs: a suite's run has several."""

    title: str
    source: str
    results: Mapping[str, Mapping[str, Any]]
    folders: Mapping[str, Path] = field(default_factory=dict)  # in which each of them lies
    said: Mapping[str, Setting] | None = None  # what the only spec said, where that lies in no folder yet

    def settings(self, spec: str) -> Mapping[str, Setting]:
        """What the spec said, by paths, as it was kept beside results; nothing where it was not."""
        if self.said is not None:
            return self.said
        return read_settings(self.folders[spec] / SETTINGS) if spec in self.folders else {}


def results_difference(one: Side, other: Side, exact: bool = False) -> Difference:
    """What two sides say of themselves, and their metrics; several experiments of a side pair by name."""
    names = dict.fromkeys([*one.results, *other.results])
    pairs = [(f"{name}: ", name, name) for name in names]
    if len(one.results) == len(other.results) == 1:
        pairs = [("", next(iter(one.results)), next(iter(other.results)))]
    values: list[ValueDifference] = []
    metrics: list[MetricDifference] = []
    claims: list[ClaimDifference] = []
    same = 0
    for prefix, left, right in pairs:
        ours, theirs = one.results.get(left, {}), other.results.get(right, {})
        values += setting_rows(one.settings(left), other.settings(right), prefix)
        values += value_rows(ours, theirs, prefix, (one.source, other.source), exact)
        changed, equal = metric_rows(ours.get("metrics", {}), theirs.get("metrics", {}), prefix, exact=exact)
        metrics += changed
        claims += claim_rows(ours, theirs, prefix)
        same += equal
    return Difference(one.title, other.title, tuple(values), (), tuple(metrics), same, tuple(claims))


def setting_rows(one: Mapping[str, Setting], other: Mapping[str, Setting], prefix: str) -> list[ValueDifference]:
    """Settings that differ, each with its origin; defaults that one side alone has follow from another kind."""
    if not one or not other:
        return []
    rows = []
    for path in dict.fromkeys([*one, *other]):
        left, right = one.get(path), other.get(path)
        alone = left if right is None else right if left is None else None
        if alone is not None and alone[1] == "default":
            continue
        if left is None or right is None or left[0] != right[0]:
            (first, origin), (second, place) = left or (None, None), right or (None, None)
            rows.append(ValueDifference(prefix + path, first, second, origin, place))
    return rows


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


def read_settings(path: Path) -> dict[str, Setting]:
    """The settings that a report keeps beside its results; none where it was written by an earlier version."""
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
        return {str(row["path"]): (row["value"], str(row["source"])) for row in rows}
    except (OSError, ValueError, TypeError, KeyError):
        return {}


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
