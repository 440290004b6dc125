"""What the figures of a suite show: bars of several specs in one grid, a row for each spec."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wmlab.report import series
from wmlab.report.data import SuiteRow
from wmlab.report.numbers import plural
from wmlab.report.series import Bars, describe_bars

MOST_ROWS = 6  # more do not fit on a page


@dataclass(frozen=True)
class Panels:
    """Optimal returns against those of the policies planned in models, of specs that vary the same axis."""

    x_label: str
    names: tuple[str, ...]  # of the specs, without what all of them begin with
    rows: tuple[tuple[Bars, ...], ...]  # a row for each spec, a panel for each unseen goal
    seeds: tuple[int, ...]  # how many, of each spec
    left_out: int = 0


def panels(rows: Sequence[SuiteRow]) -> list[Panels]:
    """A figure for each axis along which at least two specs of a suite have returns on unseen goals."""
    found: dict[str, list[tuple[SuiteRow, list[Bars]]]] = {}
    for row in rows:
        charts = series.bars(row.results) if row.results else []
        if charts:
            found.setdefault(charts[0].x_label, []).append((row, charts))
    return [_panels(axis, members) for axis, members in found.items() if len(members) > 1]


def _panels(axis: str, members: Sequence[tuple[SuiteRow, list[Bars]]]) -> Panels:
    drawn = members[:MOST_ROWS]
    return Panels(
        axis,
        _short([row.name for row, _ in drawn]),
        tuple(tuple(charts) for _, charts in drawn),
        tuple(len((row.results or {}).get("seeds") or ()) for row, _ in drawn),
        len(members) - len(drawn),
    )


def _short(names: Sequence[str]) -> tuple[str, ...]:
    """Names without the words that all of them begin with."""
    words = [name.split("_") for name in names]
    shared = 0
    while all(len(parts) > shared + 1 and parts[shared] == words[0][shared] for parts in words):
        shared += 1
    return tuple("_".join(parts[shared:]) for parts in words)


def describe_panels(figure: Panels) -> str:
    """The figure in sentences, for those who do not see it."""
    return " ".join(
        f"{name}: {describe_bars(chart)}"
        for name, charts in zip(figure.names, figure.rows, strict=True)
        for chart in charts
    )


def caption(figure: Panels) -> str:
    """What the bars are, over how many seeds."""
    counts = set(figure.seeds)
    many = plural(max(counts), "seed") if len(counts) == 1 else "the seeds of each spec"
    spread = "one seed" if counts == {1} else f"mean ± standard error over {many}"
    left = f" {plural(figure.left_out, 'further spec')} not drawn." if figure.left_out else ""
    return (
        "Optimal return against that of the policy planned in the extracted model, a row for each spec and a panel for"
        f" each unseen goal; {spread}.{left}"
    )
