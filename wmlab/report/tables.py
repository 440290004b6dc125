"""Metrics as tables: one row for each name, and one column for each value of a single axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wmlab.registry.metrics import meaning
from wmlab.report.claims import paper_interval
from wmlab.report.data import ResolvedRow, Results
from wmlab.report.text import MISSING, compact, exact, finite, number, plural, point, stated, uncertain

STATISTICS = {
    "se_over_seeds": "mean, s.e. over seeds",
    "sd_over_starts": "standard deviation over starts",
    "bootstrap_over_points": "bootstrap over points",
    "bootstrap_over_seeds": "bootstrap over seeds",
    "bootstrap_over_points_and_seeds": "bootstrap over points and their seeds",
    "bca_bootstrap_over_points": "BCa bootstrap over points",
    "bca_bootstrap_over_seeds": "BCa bootstrap over seeds",
    "bca_bootstrap_over_points_and_seeds": "BCa bootstrap over points and their seeds",
}


@dataclass(frozen=True)
class Quantity:
    """A number as it is printed, and as it is."""

    text: str
    exact: str
    note: str = ""  # "2 of 3 seeds", where some are missing

    @property
    def split(self) -> tuple[str, str]:
        """The part before the decimal point and the rest, to align a column on the point."""
        whole, dot, rest = self.text.partition(".")
        return (whole, dot + rest) if dot and whole.lstrip("(−").isdigit() else (self.text, "")


@dataclass(frozen=True)
class MetricRow:
    """One named result."""

    name: str
    metric: str
    place: str
    value: Quantity
    spread: Quantity | None  # standard error or interval; None for a single seed
    kind: str  # what the statistic is
    n: int
    expected: int  # seeds that should have been there
    values: tuple[Quantity, ...]  # one for each seed; a dash for a failed one
    breakdown: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]  # what is missing and why


@dataclass(frozen=True)
class RelationRow:
    """A relation across points beside what the paper says of it."""

    row: MetricRow
    paper: str  # its figure and interval; empty where it gives none


@dataclass(frozen=True)
class Pivot:
    """Metrics down, the values of one axis across."""

    axis: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, str, tuple[Quantity, ...]], ...]  # metric, its meaning, cells


def metric_rows(results: Results) -> list[MetricRow]:
    """Every metric in stored order."""
    seeds = len(results.get("seeds") or ())
    return [_row(name, entry, seeds) for name, entry in (results.get("metrics") or {}).items()]


def relation_rows(results: Results) -> list[RelationRow]:
    """Every relation, with the paper's figure where a claim names it."""
    said = {
        str(claim.get("metric")): stated(claim["paper"]) + paper_interval(claim)
        for claim in results.get("claims") or ()
        if claim.get("paper") is not None and (claim.get("where") or {}).get("step", "final") == "final"
    }
    stored = (results.get("metrics") or {}).items()
    related = {name: entry for name, entry in stored if str(entry.get("metric", name)).startswith("relate.")}
    return [RelationRow(row, said.get(row.metric, "")) for row in metric_rows({**results, "metrics": related})]


def _row(name: str, entry: Mapping[str, Any], seeds: int) -> MetricRow:
    metric, where = str(entry.get("metric", name)), entry.get("where") or {}
    n, breakdown = int(entry.get("n") or 0), tuple(_flat(entry.get("by") or {}))
    notes = (*(entry.get("notes") or ()), *(entry.get("incomplete") or ()))
    if "mean" not in entry:
        value, spread, kind = shown(entry.get("value")), _interval(entry), _interval_kind(entry)
        return MetricRow(name, metric, point(where), value, spread, kind, n, n, (), breakdown, notes)
    error = entry.get("se_over_seeds")
    spread = Quantity(number(error, 2), exact(error)) if n > 1 and finite(error) else None
    kind = STATISTICS["se_over_seeds"] if n > 1 else "one seed" if n == 1 else "no seed finished"
    values = tuple(shown(value) for value in entry.get("values") or ())
    value, expected = shown(entry.get("mean")), max(seeds, len(values))
    return MetricRow(name, metric, point(where), value, spread, kind, n, expected, values, breakdown, notes)


def shown(value: Any) -> Quantity:
    """A number with its exact value behind it."""
    return Quantity(number(value), exact(value))


def _interval(entry: Mapping[str, Any]) -> Quantity | None:
    ends = entry.get("ci")
    if not isinstance(ends, Sequence) or len(ends) != 2:
        return None
    return Quantity(f"[{number(ends[0])}, {number(ends[1])}]", exact(list(ends)))


def _interval_kind(entry: Mapping[str, Any]) -> str:
    kind = str(entry.get("interval") or "")
    name = STATISTICS.get(kind, kind.replace("_", " "))
    level = entry.get("level")
    return f"{number(100 * level, 3)} % interval, {name}" if finite(level) and name else name or "value"


def _flat(tree: Any, path: str = "") -> list[tuple[str, str]]:
    """A breakdown as lines: one for each number, or list of numbers, at the end of its path."""
    if isinstance(tree, Mapping) and "mean" in tree and "n" in tree:
        return [(path, _means(tree["mean"], tree.get("se_over_seeds")))]
    if isinstance(tree, Mapping):
        return [row for key, item in tree.items() for row in _flat(item, f"{path}, {key}" if path else str(key))]
    if isinstance(tree, (list, tuple)):
        return [(path, ", ".join(number(item) for item in tree))]
    return [(path, number(tree))]


def _means(mean: Any, error: Any) -> str:
    if isinstance(mean, (list, tuple)):
        errors = error if isinstance(error, (list, tuple)) and len(error) == len(mean) else [None] * len(mean)
        return ", ".join(uncertain(*pair) for pair in zip(mean, errors, strict=True))
    return uncertain(mean, error)


def mean_and_error(entry: Mapping[str, Any], seeds: int) -> Quantity:
    """A cell of a pivot: mean ± s.e., and a note when seeds are missing."""
    if "mean" not in entry:
        return shown(entry.get("value"))
    n = int(entry.get("n") or 0)
    text = uncertain(entry.get("mean"), entry.get("se_over_seeds")) if n > 1 else number(entry.get("mean"))
    return Quantity(text, exact(entry.get("mean")), f"{n} of {plural(seeds, 'seed')}" if n < seeds else "")


def pivot(results: Results) -> Pivot | None:
    """Metrics against the values of the only axis; None where there is no axis or more than one."""
    axes = results.get("axes") or {}
    if len(axes) != 1:
        return None
    (axis, described), seeds = next(iter(axes.items())), len(results.get("seeds") or ())
    columns = [compact(value) for value in described["values"]]
    cells: dict[str, dict[str, Quantity]] = {}
    for entry in (results.get("metrics") or {}).values():
        where = entry.get("where") or {}
        if set(where) == {axis}:
            cells.setdefault(str(entry["metric"]), {})[compact(where[axis])] = mean_and_error(entry, seeds)
    absent = Quantity(MISSING, "not measured")
    rows = tuple(
        (metric, meaning(metric), tuple(row.get(column, absent) for column in columns)) for metric, row in cells.items()
    )
    return Pivot(str(axis), tuple(columns), rows) if rows else None


def widths(figures: Sequence[Quantity]) -> int:
    """How many characters to keep free after the decimal point so that a column lines up."""
    return max((len(figure.split[1]) for figure in figures), default=0)


def glossary(results: Results) -> list[tuple[str, str]]:
    """The metrics of this report that we can explain, each once."""
    names = dict.fromkeys(str(entry.get("metric", name)) for name, entry in (results.get("metrics") or {}).items())
    return [(name, meaning(name)) for name in names if meaning(name)]


def by_section(rows: Sequence[ResolvedRow]) -> list[tuple[str, list[ResolvedRow]]]:
    """The resolved spec under its top-level keys, in stored order."""
    sections: dict[str, list[ResolvedRow]] = {}
    for row in rows:
        sections.setdefault(row.path.split(".")[0].split("[")[0], []).append(row)
    return list(sections.items())
