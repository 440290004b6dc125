"""`wmlab run`: compute what is not known, check the claims, write a report."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from wmlab.cli.common import Profile, Reports, Seeds, Sets, Specs, Trust, aligned, changes, headline, relative
from wmlab.cli.screen import styled
from wmlab.errors import visible

if TYPE_CHECKING:
    from rich.table import Table

    from wmlab.app.run import StudyReport

SHORT_HELP = "Run specs, check their claims, write a report."
MOST_FINDINGS = 5  # on the screen; the report has all
NO_FINDING = "findings: none; nothing that was measured speaks against this reading"
STYLES = {"holds": "green", "fails": "bold red", "shown": "dim"}  # of verdicts


def run(
    specs: Specs,
    profile: Profile = None,
    seeds: Seeds = None,
    sets: Sets = None,
    jobs: Annotated[
        int | None,
        typer.Option(help="Worker processes; 0 runs everything in this process.", min=0, metavar="N"),
    ] = None,
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="Go on with what does not depend on a failed stage.")
    ] = False,
    timeout: Annotated[
        str | None, typer.Option(help="End a stage that takes longer: 90s, 10m, 2h.", metavar="TIME")
    ] = None,
    memory: Annotated[
        str | None, typer.Option(help="End a stage whose worker holds more: 4GiB, 500MB.", metavar="SIZE")
    ] = None,
    retries: Annotated[
        int,
        typer.Option(
            help="More tries for a stage whose worker died, or whose disk failed for a moment.", min=0, metavar="N"
        ),
    ] = 1,
    check: Annotated[bool, typer.Option("--check", help="Exit with 1 when a claim fails.")] = False,
    output: Reports = None,
    trust: Trust = False,
) -> None:
    """Run specs: compute what is not known, check the claims, write a report."""
    from wmlab.app.run import run_study
    from wmlab.graph.study import open_all
    from wmlab.runtime.limits import limits_of
    from wmlab.runtime.progress import show_progress
    from wmlab.runtime.spares import Spares
    from wmlab.runtime.store import Store

    limits = limits_of(timeout, memory, retries)
    good = True
    with Spares() as spares:
        run_one = partial(run_study, jobs=jobs, keep_going=keep_going, limits=limits, reports=output, spares=spares)
        for study in open_all(specs, profile, changes(sets, seeds)):
            print(headline(study), file=sys.stderr)
            with show_progress(styled(sys.stderr)) as listener:
                one = run_one(study, Store(), listener=listener)
            print_findings(one.report)
            if one.id:
                print(f"run: {one.id}", file=sys.stderr)
            good = good and one.ok and (one.report.claims_hold or not check)
    raise typer.Exit(0 if good else 1)


def print_findings(report: StudyReport) -> None:
    """The claims and the path of the report; a table on a terminal, aligned text elsewhere."""
    for results in (*report.members, report.results):
        if results["claims"] or not report.members:
            if sys.stdout.isatty() and results["claims"]:
                from rich.console import Console

                console = Console(file=styled(sys.stdout))
                console.print(visible(results["spec"]), style="bold", markup=False)
                console.print(claims_table(results))
            else:
                print(claims_text(results))
        if results.get("metrics") and not results["claims"]:
            print_headlines(results, titled=bool(report.members))
        for line in findings_text(results):
            print(visible(line))
    print(f"report: {relative(report.page)}")


def findings_text(results: dict[str, Any]) -> list[str]:
    """What the run found out about its own reading, the worst first, a line each."""
    if "findings" not in results:
        return []  # of a suite: its members have them
    lines = [f"{finding['severity']}: {finding['sentence']}" for finding in results["findings"]]
    more = len(lines) - MOST_FINDINGS
    return [*lines[:MOST_FINDINGS], *([f"… and {more} more in the report"] if more > 0 else [])] or [NO_FINDING]


def print_headlines(results: dict[str, Any], titled: bool) -> None:
    """The metrics that say most, where no claim tells how a run went; in a suite, under the name of the spec."""
    from wmlab.cli.show import headline_text

    if titled:
        print(visible(results["spec"]))
    print(headline_text(results))


def claims_table(results: dict[str, Any]) -> Table:
    """The claims of a run as a Rich table: what is tested, the paper's figure, ours, the verdict."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    from wmlab.report.claims import claim_rows, columns_of, tally
    from wmlab.report.text import printable

    table = Table(box=SIMPLE_HEAD, title_justify="left", caption_justify="left", pad_edge=False)
    claims = claim_rows(results)
    columns = columns_of(claims)
    for column in columns:
        wrap = column.field == "words"
        justify: Literal["left", "right"] = "right" if column.number else "left"
        table.add_column(column.title, justify=justify, no_wrap=not wrap, overflow="fold")
    for row in claims:
        cells = {column.field: Text(printable(row.cell(column))) for column in columns}
        cells["verdict"].stylize(STYLES[row.verdict])
        if row.reason:
            cells["words"].append(f"\n{printable(row.reason)}", style="red")
        table.add_row(*cells.values())
    table.caption = Text(printable(tally(claims).sentence))
    return table


def claims_text(results: dict[str, Any]) -> str:
    """The same as plain text with aligned columns, for logs and pipes."""
    from wmlab.report.claims import claim_rows, columns_of, tally
    from wmlab.report.text import printable

    claims = claim_rows(results)
    columns = columns_of(claims)
    lines = [[column.title for column in columns]]
    for row in claims:
        reason = {"words": f" [{printable(row.reason)}]"} if row.reason else {}
        lines.append([printable(row.cell(column)) + reason.get(column.field, "") for column in columns])
    table = aligned(lines, [place for place, column in enumerate(columns) if column.number]) if claims else []
    return "\n".join([*table, printable(tally(claims).sentence)])
