"""`wmlab diff`: how two specs, profiles or results differ."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wmlab.cli.common import TextOrJson, Trust, aligned
from wmlab.cli.completion import profiles as completed_profiles
from wmlab.cli.completion import spec_or_run
from wmlab.errors import UsageError, visible

if TYPE_CHECKING:
    from wmlab.app.difference import Difference, MetricDifference, StageDifference

SHORT_HELP = "Show how two specs, profiles, runs or results differ."
DIGITS = (6, 12, 17)  # of a number: as many as tell two apart
MOST = 3  # reasons that are shown for stages of one kind
NOTHING = "–"
CHANCE = {True: "within chance", False: "beyond chance", None: ""}  # by a 95 % interval over seeds


def diff(
    one: Annotated[
        str, typer.Argument(help="A spec, the id of a run, or a results.json.", metavar="A", autocompletion=spec_or_run)
    ],
    other: Annotated[
        str | None,
        typer.Argument(
            help="Another of the same; by default A itself, in another profile.",
            metavar="B",
            autocompletion=spec_or_run,
        ),
    ] = None,
    profiles: Annotated[
        list[str] | None,
        typer.Option(
            "--profile",
            help="The profile of both; given twice, that of A and that of B.",
            metavar="NAME",
            autocompletion=completed_profiles,
        ),
    ] = None,
    sets: Annotated[
        list[str] | None, typer.Option("--set", help="Change one value in B.", metavar="PATH=VALUE")
    ] = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="Count differences of rounding, and times and ids of runs, too.")
    ] = False,
    html: Annotated[
        bool, typer.Option("--html", help="Write a page of what differs, with figures side by side, and say where.")
    ] = False,
    open_: Annotated[bool, typer.Option("--open", help="With --html: open the page in a browser.")] = False,
    format: TextOrJson = "text",
    trust: Trust = False,
) -> None:
    """Show how two specs, profiles, runs or results differ: in values, in what would run, and in what was measured.

    Metrics that differ by rounding (by 1e-9 of their size, or by 1e-12) count as the same, unless --exact. Where both
    sides have several seeds, a difference is within chance when Welch's 95 % interval of it holds 0.
    """
    from wmlab.app.diff import compare_two

    if open_ and not html:
        raise UsageError("--open is for pages; say --html, too")
    if html:
        from wmlab.app.diff_page import write_difference
        from wmlab.cli.report import show_page

        if format != "text":
            raise UsageError("--html writes a page; --format is for the screen")
        show_page(write_difference(one, other, profiles or (), sets or (), exact=exact), open_)
        return
    print(show_difference(compare_two(one, other, profiles or (), sets or (), exact=exact), format))


def show_difference(difference: Difference, format: str = "text") -> str:
    """A difference as people or tools read it."""
    if format == "json":
        return json.dumps(asdict(difference), indent=1)
    lines = ["no difference"] if difference.empty else sections(difference)
    return "\n".join(map(visible, [f"{difference.one} → {difference.other}", *lines]))


def sections(difference: Difference) -> Iterator[str]:
    if difference.values:
        yield "values"
        sides = [
            (value.path, side(value.one, value.one_source), "→ " + side(value.other, value.other_source))
            for value in difference.values
        ]
        yield from (f"  {line}" for line in aligned(sides))
    if difference.stages:
        yield f"plan: {tally(difference.stages)}"
        yield from (line for row in difference.stages if (line := stage_line(row)))
    if difference.metrics or difference.same_metrics:
        yield f"metrics: {difference.same_metrics} the same, {len(difference.metrics)} not"
        rows = [(row.name, numbers(row), CHANCE[row.within]) for row in difference.metrics]
        yield from (f"  {line}" for line in aligned(rows))
    elif difference.stages:
        yield "metrics: none that both have; run both to compare them"
    if difference.claims:
        yield f"claims: {len(difference.claims)} came out otherwise"
        flips = [(row.id, f"{row.one or NOTHING} → {row.other or NOTHING}") for row in difference.claims]
        yield from (f"  {line}" for line in aligned(flips))


def side(value: Any, source: str | None) -> str:
    from wmlab.graph.why import shorten

    return NOTHING if source is None and value is None else f"{shorten(value)} ({source or 'there'})"


def tally(rows: Sequence[StageDifference]) -> str:
    """How many stages are the same and how many are not, and those that one side alone has where there are such."""
    same, differ, one, other = (
        sum(getattr(row, part) for row in rows) for part in ("same", "differ", "only_one", "only_other")
    )
    return ", ".join([f"{same} stages the same", f"{differ} not", *alone(one, other)])


def alone(one: int, other: int) -> list[str]:
    return [f"{count} only in {name}" for count, name in ((one, "A"), (other, "B")) if count]


def stage_line(row: StageDifference) -> str:
    parts = [f"{row.differ} differ in {', '.join(row.why[:MOST])}"] if row.differ else []
    if row.differ and len(row.why) > MOST:
        parts[-1] += f" and {len(row.why) - MOST} more"
    parts += alone(row.only_one, row.only_other)
    return f"  {row.role}: {'; '.join(parts)}" if parts else ""


def numbers(row: MetricDifference) -> str:
    """Both sides of a metric, in as few digits as tell them apart."""
    one = other = NOTHING
    for digits in DIGITS:
        one, other = (NOTHING if value is None else f"{value:.{digits}g}" for value in (row.one, row.other))
        if one != other:
            break
    return f"{one} → {other}"
