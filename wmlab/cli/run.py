"""`wmlab run`: compute what is not known, check the claims, write a report."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from wmlab.cli.common import Profile, Reports, Sets, Specs, headline, relative

if TYPE_CHECKING:
    from wmlab.app.run import StudyRun

SHORT_HELP = "Run specs, check their claims, write a report."
MOST_FINDINGS = 5  # on the screen; the report has all


def run(
    specs: Specs,
    profile: Profile = None,
    seeds: Annotated[
        int | None, typer.Option(help="How many seeds, in place of the spec's.", min=1, metavar="N")
    ] = None,
    sets: Sets = None,
    jobs: Annotated[
        int | None,
        typer.Option(help="Worker processes; 0 runs everything in this process.", min=0, metavar="N"),
    ] = None,
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="Go on with what does not depend on a failed stage.")
    ] = False,
    check: Annotated[bool, typer.Option("--check", help="Exit with 1 when a claim fails.")] = False,
    output: Reports = None,
) -> None:
    """Run specs: compute what is not known, check the claims, write a report."""
    from wmlab.app.run import default_jobs, report_root, run_study
    from wmlab.graph.study import open_all
    from wmlab.runtime.progress import show_progress
    from wmlab.runtime.store import Store, find_root

    flags = [*(sets or ()), *([f"seeds={seeds}"] if seeds else ())]
    store = Store(find_root())
    done = []
    for study in open_all(specs, profile, flags):
        print(headline(study), file=sys.stderr)
        with show_progress() as listener:
            workers, reports = default_jobs() if jobs is None else jobs, output or report_root(store)
            one = run_study(study, store, jobs=workers, keep_going=keep_going, listener=listener, reports=reports)
        print_findings(one)
        done.append(one)
    failed = any(not one.ok for one in done) or (check and any(not one.claims_hold for one in done))
    raise typer.Exit(1 if failed else 0)


def print_findings(run: StudyRun) -> None:
    """The claims and the path of the report; a table on a terminal, aligned text elsewhere."""
    from wmlab.report.console import claims_table, claims_text

    report = run.report
    for results in (*report.members, report.results):
        if results["claims"] or not report.members:
            if sys.stdout.isatty() and results["claims"]:
                from rich.console import Console

                console = Console()
                console.print(results["spec"], style="bold", markup=False)
                console.print(claims_table(results))
            else:
                print(claims_text(results))
        for finding in results.get("findings", ())[:MOST_FINDINGS]:
            print(f"note: {finding}")
    print(f"report: {relative(report.page)}")
