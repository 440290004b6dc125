"""How results differ, each a file or what an earlier run found."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wmlab.app.difference import Difference, Setting, claim_rows, metric_rows, setting_rows
from wmlab.app.report_folder import MARK, TIMES
from wmlab.errors import WmlabError
from wmlab.graph.why import differences
from wmlab.report.data import SETTINGS
from wmlab.report.differences import ClaimDifference, MetricDifference, ValueDifference

SAID_OF_ITSELF = ("spec", "profile", "sets", "seeds", "axes", "provenance")
# What differs between any two runs.
WHEN_AND_WHICH = tuple(f"provenance.{name}" for name in (*TIMES, MARK))
# How a run came to its spec: where all sides kept their settings, these say what came of it.
OF_THE_RUN = ("sets", "provenance.spec_sha256")


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


def results_difference(sides: Sequence[Side], exact: bool = False) -> Difference:
    """What sides say of themselves, and their metrics; several experiments of a side pair by name."""
    names = dict.fromkeys(name for side in sides for name in side.results)
    rows = [(f"{name}: ", [name] * len(sides)) for name in names]
    if all(len(side.results) == 1 for side in sides):
        rows = [("", [next(iter(side.results)) for side in sides])]
    values: list[ValueDifference] = []
    metrics: list[MetricDifference] = []
    claims: list[ClaimDifference] = []
    same = 0
    for prefix, specs in rows:
        found = [side.results.get(spec, {}) for side, spec in zip(sides, specs, strict=True)]
        settings = [side.settings(spec) for side, spec in zip(sides, specs, strict=True)]
        values += setting_rows(settings, prefix)
        hidden = () if exact else (*WHEN_AND_WHICH, *(OF_THE_RUN if all(settings) else ()))
        values += value_rows(found, prefix, [side.source for side in sides], hidden)
        changed, equal = metric_rows([results.get("metrics", {}) for results in found], prefix, exact=exact)
        metrics += changed
        claims += claim_rows(found, prefix)
        same += equal
    titles = tuple(side.title for side in sides)
    return Difference(titles, tuple(values), (), tuple(metrics), same, tuple(claims))


def value_rows(
    found: Sequence[Mapping[str, Any]], prefix: str, sources: Sequence[str], hidden: Sequence[str]
) -> list[ValueDifference]:
    """What results say of themselves, but for what is hidden: what is of a run and not of its spec."""
    return [
        ValueDifference(prefix + path, tuple(map(known, values)), tuple(sources))
        for key in SAID_OF_ITSELF
        for path, *values in differences(*(results.get(key) for results in found), path=key)
        if path.partition("[")[0] not in hidden
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
