"""`wmlab diff`: how specs, profiles or results differ."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wmlab.cli.common import TextOrJson, Trust, aligned
from wmlab.cli.completion import profiles as completed_profiles
from wmlab.cli.completion import spec_or_run
from wmlab.errors import UsageError, visible

if TYPE_CHECKING:
    from wmlab.app.difference import Difference, StageDifference
    from wmlab.report.differences import MetricDifference, ValueDifference

SHORT_HELP = "Show how specs, profiles, runs or results differ."
DIGITS = (6, 12, 17)  # of a number: as many as tell two apart
MOST = 3  # reasons that are shown for stages of one kind
NOTHING = "–"
CHANCE = {True: "within chance", False: "beyond chance", None: ""}  # by a 95 % interval over seeds


def diff(
    sides: Annotated[
        list[str],
        typer.Argument(
            help="Specs, or ids of runs and results.json; A alone is held against itself, in another profile.",
            metavar="A [B…]",
            autocompletion=spec_or_run,
        ),
    ],
    profiles: Annotated[
        list[str] | None,
        typer.Option(
            "--profile",
            help="The profile of all sides; given several times, that of A, that of B, ….",
            metavar="NAME",
            autocompletion=completed_profiles,
        ),
    ] = None,
    sets: Annotated[
        list[str] | None, typer.Option("--set", help="Change one value in all sides but A.", metavar="PATH=VALUE")
    ] = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="Count differences of rounding, and times and ids of runs, too.")
    ] = False,
    html: Annotated[
        bool,
        typer.Option(
            "--html", help="Write a page of what differs, with figures side by side on one scale, and say where."
        ),
    ] = False,
    open_: Annotated[bool, typer.Option("--open", help="With --html: open the page in a browser.")] = False,
    format: TextOrJson = "text",
    trust: Trust = False,
) -> None:
    """Show how two or more specs, profiles, runs or results differ: in values, in what would run, and in what was
    measured. The first is what the others are held against.

    Metrics that differ by rounding (by 1e-9 of their size, or by 1e-12) count as the same, unless --exact. Where both
    sides have several seeds, a difference is within chance when Welch's 95 % interval of it holds 0.
    """
    from wmlab.app.diff import compare

    if open_ and not html:
        raise UsageError("--open is for pages; say --html, too")
    if html:
        from wmlab.app.diff_page import write_difference
        from wmlab.cli.report import show_page

        if format != "text":
            raise UsageError("--html writes a page; --format is for the screen")
        show_page(write_difference(sides, profiles or (), sets or (), exact=exact), open_)
        return
    print(show_difference(compare(sides, profiles or (), sets or (), exact=exact), format))


def show_difference(difference: Difference, format: str = "text") -> str:
    """A difference as people or tools read it."""
    if format == "json":
        return json.dumps(difference.data, indent=1)
    lines = ["no difference"] if difference.empty else sections(difference)
    return "\n".join(map(visible, [*heading(difference.sides), *lines]))


def heading(sides: Sequence[str]) -> list[str]:
    """Two sides in a line; of more, what each is called."""
    from wmlab.report.differences import letter

    if len(sides) == 2:
        return [" → ".join(sides)]
    return [f"{letter(place)}: {title}" for place, title in enumerate(sides)]


def sections(difference: Difference) -> Iterator[str]:
    if difference.values:
        yield "values"
        rows = [(row.path, *value_cells(row)) for row in difference.values]
        yield from (f"  {line}" for line in aligned(rows))
    for place, stages in enumerate(difference.stages, 1):
        yield from plan_lines(stages, place, alone=len(difference.sides) == 2)
    if difference.metrics or difference.same_metrics:
        yield f"metrics: {difference.same_metrics} the same, {len(difference.metrics)} not"
        yield from (f"  {line}" for line in aligned([(row.name, *metric_cells(row)) for row in difference.metrics]))
    elif any(difference.stages):
        who, what = ("both", "both") if len(difference.sides) == 2 else ("A and another", "them")
        yield f"metrics: none that {who} have; run {what} to compare them"
    if difference.claims:
        yield f"claims: {len(difference.claims)} came out otherwise"
        flips = [(row.id, " → ".join(word or NOTHING for word in row.verdicts)) for row in difference.claims]
        yield from (f"  {line}" for line in aligned(flips))


def value_cells(row: ValueDifference) -> list[str]:
    """Each side of a value with its origin."""
    first, *others = map(side, row.values, row.sources)
    return [first, *(f"→ {other}" for other in others)]


def side(value: Any, source: str | None) -> str:
    from wmlab.graph.why import shorten

    return NOTHING if source is None and value is None else f"{shorten(value)} ({source or 'there'})"


def plan_lines(rows: Sequence[StageDifference], place: int, alone: bool) -> Iterator[str]:
    """What would run on a side and not on the first; `alone`: there is no third."""
    from wmlab.report.differences import letter

    name = letter(place)
    if rows:
        yield f"{'plan' if alone else f'plan of {name}'}: {tally(rows, name)}"
        yield from (line for row in rows if (line := stage_line(row, name)))


def tally(rows: Sequence[StageDifference], name: str) -> str:
    """How many stages are the same and how many are not, and those that one side alone has where there are such."""
    same, differ, one, other = (
        sum(getattr(row, part) for row in rows) for part in ("same", "differ", "only_one", "only_other")
    )
    return ", ".join([f"{same} stages the same", f"{differ} not", *only_in(one, other, name)])


def only_in(one: int, other: int, name: str) -> list[str]:
    return [f"{count} only in {where}" for count, where in ((one, "A"), (other, name)) if count]


def stage_line(row: StageDifference, name: str) -> str:
    parts = [f"{row.differ} differ in {', '.join(row.why[:MOST])}"] if row.differ else []
    if row.differ and len(row.why) > MOST:
        parts[-1] += f" and {len(row.why) - MOST} more"
    parts += only_in(row.only_one, row.only_other, name)
    return f"  {row.role}: {'; '.join(parts)}" if parts else ""


def metric_cells(row: MetricDifference) -> list[str]:
    """Each side of a metric, in as few digits as tell the others from the first, and whether chance may do that."""
    first, *others = numbers(row)
    chances = ["" if same else CHANCE[within] for same, within in zip(row.as_first, row.within, strict=True)]
    if len(others) == 1:
        return [f"{first} → {others[0]}", *chances]
    return [first, *(f"→ {text} {chance}".rstrip() for text, chance in zip(others, chances, strict=True))]


def numbers(row: MetricDifference) -> list[str]:
    texts: list[str] = []
    for digits in DIGITS:
        first, *others = (NOTHING if value is None else f"{value:.{digits}g}" for value in row.values)
        texts = [first, *(first if same else other for other, same in zip(others, row.as_first, strict=True))]
        if all(same or other != first for other, same in zip(others, row.as_first, strict=True)):
            break
    return texts
