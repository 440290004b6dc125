"""`wmlab show`: what was measured, as tables, without a browser."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from wmlab.cli.common import Profile, Sets, Trust, aligned, hurry
from wmlab.errors import visible

if TYPE_CHECKING:
    from wmlab.report.data import Results
    from wmlab.report.listing import Listing

SHORT_HELP = "Show what was measured, as tables."
ShowFormat = Literal["text", "json", "csv", "latex", "markdown"]
MOST_LINES = 16  # of metrics at the end of a run


def show(
    target: Annotated[
        str, typer.Argument(help="A spec, a run, a results.json, or the folder of a report.", metavar="SPEC|RUN")
    ],
    metrics: Annotated[
        list[str] | None,
        typer.Argument(
            help="Which metrics: names or patterns such as 'unseen.*'.", metavar="METRIC", show_default=False
        ),
    ] = None,
    by: Annotated[
        str | None, typer.Option(help="What stands across: an axis of the sweep, metric, or seed.", metavar="AXIS")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Every metric, not only those that say most.")] = False,
    format: Annotated[ShowFormat, typer.Option(help="How the tables are written.")] = "text",
    profile: Profile = None,
    seeds: Annotated[
        int | None, typer.Option(help="How many seeds, in place of the spec's.", min=1, metavar="N")
    ] = None,
    sets: Sets = None,
    trust: Trust = False,
) -> None:
    """Show what was measured, as mean ± standard error over seeds. Nothing is computed."""
    hurry()
    from wmlab.app.show import stored_results
    from wmlab.report.listing import chosen_entries, listings
    from wmlab.report.listing_formats import as_csv, as_json, as_latex, as_markdown

    flags = [*(sets or ()), *([f"seeds={seeds}"] if seeds else ())]
    results = stored_results(target, profile, flags)
    entries = chosen_entries(results, metrics or (), everything)
    if format == "json":
        print(as_json(results, entries))
        return
    tables = listings(results, entries, by)
    if format == "text":
        print(head_line(results), file=sys.stderr)
        print("\n\n".join("\n".join(as_text(table, screen_width())) for table in tables) or "no metrics")
        if left := left_out(results, len({entry["metric"] for entry in entries})):
            print(left + ("" if metrics else "; --all shows them, or name some: 'unseen.*'"), file=sys.stderr)
        return
    print({"csv": as_csv, "latex": as_latex, "markdown": as_markdown}[format](tables))


def head_line(results: Results) -> str:
    """Whose metrics they are."""
    from wmlab.report.text import plural

    sets = "".join(f", {each}" for each in results.get("sets") or ())
    seeds = plural(len(results.get("seeds") or ()), "seed")
    return visible(f"{results.get('spec')}: profile {results.get('profile')}{sets}, {seeds}")


def left_out(results: Results, shown: int) -> str:
    """How many metrics are not shown; nothing where all are."""
    from wmlab.report.text import plural

    count = len({entry["metric"] for entry in (results.get("metrics") or {}).values()}) - shown
    return f"{plural(count, 'more metric')}" if count else ""


def headline_text(results: Results) -> str:
    """The metrics that say most, for the end of a run: a few lines, and how to see the rest."""
    from wmlab.report.listing import chosen_entries, listings

    entries = chosen_entries(results)
    lines = [line for table in listings(results, entries) for line in as_text(table, screen_width())]
    rest = [f"{len(lines) - MOST_LINES} more lines"] if len(lines) > MOST_LINES else []
    if left := left_out(results, len({entry["metric"] for entry in entries})):
        rest.append(left)
    return "\n".join([*lines[:MOST_LINES], *([f"{' and '.join(rest)}: see `wmlab show`"] if rest else ())])


def screen_width() -> int | None:
    """How wide a table may be: as the terminal; there is no limit in a pipe or a file."""
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns if sys.stdout.isatty() else None
    except (OSError, ValueError):
        return None


def as_text(table: Listing, width: int | None = None) -> Iterator[str]:
    """A table in aligned columns; one that is too wide for the screen goes on below, with its labels again."""
    first, count = 0, len(table.columns)
    while first < count:
        last = count
        lines = _lines(table, range(first, last))
        while width is not None and last > first + 1 and max(map(len, lines)) > width:
            last -= 1
            lines = _lines(table, range(first, last))
        yield from ([""] if first else [])
        yield from lines
        first = last


def _lines(table: Listing, columns: Sequence[int]) -> list[str]:
    rows = [[*row.labels, *(row.cells[place].text for place in columns)] for row in table.rows]
    head = [*table.heads, *(table.columns[place] for place in columns)]
    return aligned([head, *rows], range(len(table.heads), len(head)))
