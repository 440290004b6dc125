"""`wmlab run`: compute what is not known, check the claims, write a report."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from wmlab.cli.common import (
    Host,
    On,
    Points,
    Profile,
    Reports,
    Seeds,
    Sets,
    Specs,
    Trust,
    aligned,
    changes,
    headline,
    relative,
)
from wmlab.cli.screen import styled
from wmlab.errors import UsageError, visible

if TYPE_CHECKING:
    from rich.table import Table

    from wmlab.app.run import StudyReport
    from wmlab.cluster.file import Cluster
    from wmlab.graph.study import Study
    from wmlab.runtime.limits import StageLimits

SHORT_HELP = "Run specs, check their claims, write a report."
LEFT = 3  # the exit code where a budget was spent before everything was done
MOST_FINDINGS = 5  # on the screen; the report has all
NO_FINDING = "findings: none; nothing that was measured speaks against this reading"
NOTHING_MEASURED = "findings: none, as nothing was measured"
STYLES = {"holds": "green", "fails": "bold red", "shown": "dim", "open": "yellow"}  # of verdicts


def run(
    specs: Specs,
    profile: Profile = None,
    seeds: Seeds = None,
    sets: Sets = None,
    points: Points = None,
    jobs: Annotated[
        int | None,
        typer.Option(help="Worker processes; 0 runs everything in this process.", min=0, metavar="N"),
    ] = None,
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="Go on with what does not depend on a failed stage.")
    ] = False,
    budget: Annotated[
        str | None,
        typer.Option(
            help="Begin nothing that would not end in this time: 90s, 10m, 2h; exit with 3 where something is left.",
            metavar="TIME",
        ),
    ] = None,
    timeout: Annotated[
        str | None, typer.Option(help="End a stage that takes longer: 90s, 10m, 2h.", metavar="TIME")
    ] = None,
    memory: Annotated[
        str | None, typer.Option(help="End a stage whose worker holds more: 4GiB, 500MB.", metavar="SIZE")
    ] = None,
    retries: Annotated[
        int | None,
        typer.Option(
            help="More tries for a stage whose worker died, or whose disk failed for a moment; 1 by default.",
            min=0,
            metavar="N",
        ),
    ] = None,
    on: On = None,
    detach: Annotated[
        bool, typer.Option("--detach", help="Go on in the background, and return at once; wmlab runs shows how far.")
    ] = False,
    live: Annotated[
        bool, typer.Option("--live", help="Serve a page on this machine that shows how far the run is.")
    ] = False,
    host: Host = None,
    log: Annotated[
        Literal["tensorboard"] | None,
        typer.Option("--log", help="Keep curves of what is learnt for TensorBoard, too.", metavar="tensorboard"),
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Exit with 1 when a claim fails.")] = False,
    output: Reports = None,
    trust: Trust = False,
) -> None:
    """Run specs: compute what is not known, check the claims, write a report."""
    from wmlab.app.live_page import live_page
    from wmlab.app.run import run_study
    from wmlab.app.tensorboard import check_library
    from wmlab.cluster.file import open_cluster
    from wmlab.graph.chosen import choose_points
    from wmlab.graph.study import open_all
    from wmlab.runtime import layout
    from wmlab.runtime.progress import show_progress
    from wmlab.runtime.spares import Spares
    from wmlab.runtime.store import Store

    began = time.monotonic()
    cluster = open_cluster(on)
    jobs, limits = limits_on(cluster, jobs, timeout, memory, retries)
    until = None if budget is None else began + budget_on(cluster, budget)
    studies = [choose_points(study, points) for study in open_all(specs, profile, changes(sets, seeds))]
    if detach and live:
        raise UsageError("--live says its address on the screen, which --detach leaves: `wmlab watch` shows such a run")
    page = live_page(live, host)
    if log:
        check_library()
    if detach:
        print(detached(studies, cluster))
        raise typer.Exit(0)
    good, left = True, False
    with Spares() as spares:
        run_one = partial(run_study, jobs=jobs, keep_going=keep_going, limits=limits, reports=output, spares=spares)
        run_one = partial(run_one, cluster=cluster, until=until, tensorboard=log is not None)
        for study in studies:
            print(headline(study), file=sys.stderr)
            with show_progress(styled(sys.stderr)) as listener:
                one = run_one(study, Store(), listener=listener, begun=page and partial(page.begin, listener))
            print_findings(one.report)
            if one.id:
                print(f"run: {one.id}", file=sys.stderr)
            if one.id and log:
                print(f"curves: tensorboard --logdir {relative(Store().root / layout.BOARDS)}", file=sys.stderr)
            good = good and not one.failed and (one.report.claims_hold or not check)
            left = left or bool(one.outcome.left)
    raise typer.Exit(1 if not good else LEFT if left else 0)


def limits_on(
    cluster: Cluster | None, jobs: int | None, timeout: str | None, memory: str | None, retries: int | None
) -> tuple[int | None, StageLimits]:
    """How many stages run at once and what each may take: by the flags, or by the cluster file of this machine."""
    from wmlab.core.container import usable_cores
    from wmlab.runtime.limits import limits_of

    if cluster is None:
        return jobs, limits_of(timeout, memory, 1 if retries is None else retries)
    if cluster.is_local:
        limits = limits_of(
            timeout or cluster.time, memory or cluster.memory, cluster.options.retries if retries is None else retries
        )
        return (min(cluster.options.at_once, usable_cores()) if jobs is None else jobs), limits
    flags = {"--jobs": (jobs, "at_once"), "--timeout": (timeout, "time"), "--memory": (memory, "memory")}
    for flag, (value, key) in {**flags, "--retries": (retries, "retries")}.items():
        if value is not None:
            raise UsageError(
                f"{flag} is for stages on this machine; for jobs on {cluster.engine}, {cluster.change(key)}"
            )
    return jobs, limits_of(None, None, 1)


def budget_on(cluster: Cluster | None, text: str) -> float:
    """The seconds that a run may take; on a cluster, time is what its file gives to each job."""
    from wmlab.runtime.limits import parse_duration

    if cluster is not None and not cluster.is_local:
        hint = f"run a part with --points, or, for the time of each job, {cluster.change('time')}"
        raise UsageError(
            f"--budget is for stages on this machine; a queue may keep jobs of {cluster.engine} waiting: {hint}"
        )
    return parse_duration(text)


def detached(studies: Sequence[Study], cluster: Cluster | None) -> str:
    """Start the same command in the background, and say where it prints to."""
    from wmlab.app.detached import leave_running

    def notice(text: str) -> None:
        print(visible(text), file=sys.stderr)

    words = [word for word in sys.argv[1:] if word != "--detach"]
    pid, said = leave_running(words, studies, cluster, notice)
    return f"goes on as process {pid}; it prints to {relative(said)}; `wmlab runs` shows how far it is"


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
    nothing = [NO_FINDING] if results.get("metrics") else [NOTHING_MEASURED]
    return [*lines[:MOST_FINDINGS], *([f"… and {more} more in the report"] if more > 0 else [])] or nothing


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
