"""Chosen metrics as tables for a terminal, a paper or a program: which are shown, and what stands across."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from wmlab.errors import UsageError, one_of, suggest
from wmlab.registry.metrics import Measurement, find, measurements
from wmlab.report.data import Results
from wmlab.report.tables import mean_and_error
from wmlab.report.text import MISSING, compact, number

MOST_ACROSS = 8  # labels of an only axis that stand across without being asked for
MOST_NAMED = 12  # metrics that a message lists
METRIC, SEED = "metric", "seed"  # what may stand across beside the axes of a sweep

Entry = Mapping[str, Any]  # of a metric at a point, as results hold it


@dataclass(frozen=True)
class Cell:
    """A metric at a point as it is printed, and as it is."""

    text: str
    value: float | None = None
    error: float | None = None  # the standard error over seeds
    n: int = 0


@dataclass(frozen=True)
class ListedRow:
    """A row of a listing: its labels, then its numbers."""

    labels: tuple[str, ...]
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Listing:
    """A table of metrics."""

    heads: tuple[str, ...]  # above the labels
    columns: tuple[str, ...]  # above the numbers
    rows: tuple[ListedRow, ...]


@dataclass(frozen=True)
class Value:
    """A number with all that it is the value of: its metric, the axes of its point and, where told, its seed."""

    at: Mapping[str, str]
    cell: Cell


# --- which metrics -----------------------------------------------------------------------------------------------


def chosen_entries(results: Results, asked: Sequence[str] = (), everything: bool = False) -> list[Entry]:
    """The results that names and patterns ask for; without any, those that say most, or everything."""
    metrics: Mapping[str, Entry] = results.get("metrics") or {}
    names = list(dict.fromkeys(str(entry["metric"]) for entry in metrics.values()))
    if asked:
        fitting = dict.fromkeys(fit for pattern in asked for fit in _fitting(metrics, names, pattern))
        wanted = list(dict.fromkeys(metrics[name]["metric"] for name in fitting))
        return sorted((metrics[name] for name in fitting), key=lambda entry: wanted.index(entry["metric"]))
    wanted = names if everything else headline_metrics(results) or names
    return [entry for name in wanted for entry in metrics.values() if entry["metric"] == name]


def headline_metrics(results: Results) -> list[str]:
    """The metrics that are shown without being asked for: those that the spec speaks of, then those that say most."""
    names = dict.fromkeys(str(entry["metric"]) for entry in (results.get("metrics") or {}).values())
    drawn = results.get("report") or {}
    spoken = [str(claim.get("metric")) for claim in results.get("claims") or ()]
    spoken += [name for part in ("curves", "heatmaps") for name in (drawn.get(part) or {}).get("metrics") or ()]
    return [name for name in dict.fromkeys([*spoken, *headlines(names)]) if name in names]


def headlines(names: Iterable[str]) -> list[str]:
    """Those of some metrics that are declared as headlines, in the order of their declarations."""
    declared = {name: one for name in dict.fromkeys(names) if (one := find(name)) is not None}
    with_truth = any(metric.truth for _, metric, _ in declared.values())
    shown = {"always"} if with_truth else {"always", "without truth"}
    order = {metric.name: place for place, metric in enumerate(each for one in measurements() for each in one.metrics)}
    alike = Counter(metric.name for _, metric, _ in declared.values())
    names_shown = [
        name
        for name, (measurement, metric, filling) in declared.items()
        # the mean over a single goal is that goal's own
        if metric.headline in shown and not (_is_summary(measurement, filling) and alike[metric.name] == 2)
    ]
    return sorted(names_shown, key=lambda name: order[declared[name][1].name])


def _is_summary(measurement: Measurement, filling: Mapping[str, str]) -> bool:
    """Whether a metric sums up others of its kind: the mean over goals."""
    return any(word in measurement.blanks[blank].always for blank, word in filling.items())


def _fitting(metrics: Mapping[str, Entry], names: Sequence[str], pattern: str) -> list[str]:
    """The results that a metric, a whole name (`goals=4/wm.mse`) or a pattern of either means."""
    exact = [name for name, entry in metrics.items() if pattern in (name, entry["metric"])]
    fitting = exact or [
        name
        for name, entry in metrics.items()
        if fnmatchcase(str(entry["metric"]), pattern) or fnmatchcase(name, pattern)
    ]
    if not fitting:
        more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        known = f"there are {', '.join(names[:MOST_NAMED])}{more}" if names else "there are no metrics at all"
        raise UsageError(f"there is no metric '{pattern}' here; {suggest(pattern, [*names, *metrics]) or known}")
    return fitting


# --- what stands where ---------------------------------------------------------------------------------------------


def listings(results: Results, entries: Sequence[Entry], by: str | None = None) -> list[Listing]:
    """Tables of results: what has a place along `by` stands across, the rest in a table of its own."""
    axes = results.get("axes") or {}
    if by is not None and by not in (*axes, METRIC, SEED):
        hint = suggest(by, [*axes, METRIC, SEED]) or f"say {one_of([*axes, METRIC, SEED])}"
        raise UsageError(f"--by {by}: there is no such axis; {hint}")
    across = by or _across(axes)
    values = [value for entry in entries for value in _values(entry, across, results)]
    beside = [value for value in values if across is None or across not in value.at]
    along = [value for value in values if across is not None and across in value.at]
    # A relation spans the points: it has no place in a row of theirs.
    spanning = [value for value in along if across == METRIC and axes and len(value.at) == 1]
    along = [value for value in along if value not in spanning]
    tables = [_table(along, list(axes), across), _table([*spanning, *beside], list(axes), None)]
    return [table for table in tables if table is not None]


def _across(axes: Mapping[str, Any]) -> str | None:
    """What stands across without being asked for: an only axis that is short, or the metrics over points."""
    if not axes:
        return None
    only = next(iter(axes)) if len(axes) == 1 else None
    return only if only is not None and len(axes[only]["values"]) <= MOST_ACROSS else METRIC


def _values(entry: Entry, across: str | None, results: Results) -> list[Value]:
    where = entry.get("where") or {}
    at = {METRIC: str(entry["metric"]), **{str(axis): compact(label) for axis, label in where.items()}}
    if across == SEED and SEED not in where and "values" in entry:
        pairs = zip(seeds_of(entry, results), entry["values"], strict=False)
        return [
            Value({**at, SEED: str(seed)}, Cell(number(one), one, None, int(one is not None))) for seed, one in pairs
        ]
    return [Value(at, cell_of(entry))]


def seeds_of(entry: Entry, results: Results) -> Sequence[int]:
    """The seeds of a result's values; beside the results of other specs it says its own."""
    seeds: Sequence[int] = entry.get("seeds") or results.get("seeds") or range(len(entry["values"]))
    return seeds


def cell_of(entry: Entry) -> Cell:
    """Mean ± standard error of a metric, and how many seeds are missing; a relation with its interval."""
    if "mean" not in entry:
        ends = entry.get("ci")
        interval = f" [{number(ends[0])}, {number(ends[1])}]" if ends and None not in ends else ""
        return Cell(number(entry.get("value")) + interval, entry.get("value"), None, int(entry.get("n") or 0))
    shown = mean_and_error(entry, len(entry.get("values") or ()))
    text = f"{shown.text} ({shown.note})" if shown.note else shown.text
    return Cell(text, entry.get("mean"), entry.get("se_over_seeds"), int(entry.get("n") or 0))


def _table(values: Sequence[Value], axes: Sequence[str], across: str | None) -> Listing | None:
    if not values:
        return None
    heads = [name for name in (METRIC, *axes) if name != across and any(name in value.at for value in values)]
    columns = list(dict.fromkeys(value.at[across] for value in values)) if across else ["value"]
    rows: dict[tuple[str, ...], dict[str, Cell]] = {}
    for value in values:
        labels = tuple(value.at.get(head, MISSING) for head in heads)
        rows.setdefault(labels, {})[value.at[across] if across else "value"] = value.cell
    absent = Cell(MISSING)
    listed = (ListedRow(labels, tuple(row.get(name, absent) for name in columns)) for labels, row in rows.items())
    titles = [name if across in (None, METRIC) else f"{across}={name}" for name in columns]
    return Listing(tuple(heads), tuple(titles), tuple(listed))
