"""`wmlab report`: the report again, from stored results, or that of an earlier run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from wmlab.cli.common import On, Profile, Reports, Seeds, Sets, Trust, changes, collect_less, relative
from wmlab.cli.completion import spec_or_run
from wmlab.cli.screen import styled
from wmlab.errors import UsageError, WmlabError

SHORT_HELP = "Write the report again, or find that of a run, or list all."


def report(
    specs: Annotated[
        list[str] | None,
        typer.Argument(
            help="Spec files, or ids of runs; by default the page of all runs.",
            metavar="SPEC|RUN",
            autocompletion=spec_or_run,
        ),
    ] = None,
    profile: Profile = None,
    seeds: Seeds = None,
    sets: Sets = None,
    jobs: Annotated[
        int | None,
        typer.Option(help="Processes that make pages; 0 makes them in this one.", min=0, metavar="N"),
    ] = None,
    on: On = None,
    output: Reports = None,
    open_: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    trust: Trust = False,
) -> None:
    """Write the report of what was run before. Nothing is computed.

    With the id of a run (`wmlab runs` lists them), say where the page of that run is kept; --output copies it. Without
    a spec or a run, write the page of all runs.
    """
    from wmlab.app.run import report_study
    from wmlab.cluster.file import taken_on
    from wmlab.graph.study import open_all
    from wmlab.runtime.progress import show_progress
    from wmlab.runtime.run_id import may_be_run_id
    from wmlab.runtime.store import Store

    collect_less()
    if not specs:
        if profile or seeds or sets:
            raise UsageError("--profile, --seeds and --set are for specs; name one")
        show_page(page_of_all_runs(output), open_)
        return
    ids = [word for word in specs if may_be_run_id(word)]
    if ids and (profile or seeds or sets):
        raise UsageError(f"run '{ids[0]}' is as it was; --profile, --seeds and --set are for specs")
    for id in ids:
        show_page(page_of_run(id, output), open_)
    studies = open_all([word for word in specs if word not in ids], profile, changes(sets, seeds))
    for study in taken_on(on, studies):
        with show_progress(styled(sys.stderr)) as listener:
            page = report_study(study, Store(), output, listener, jobs).page
        show_page(page, open_)


def show_page(page: Path, in_browser: bool) -> None:
    """Say where a page is, and open it where that is asked for."""
    print(relative(page))
    if in_browser:
        import webbrowser

        if not webbrowser.open(page.absolute().as_uri()):
            raise WmlabError(f"no browser could be started here; open {page.absolute()} yourself")


def page_of_all_runs(output: Path | None) -> Path:
    from wmlab.app.run_index import write_index
    from wmlab.runtime.store import Store

    store = Store()
    return write_index(store, output or store.beside("reports", Path.cwd() / "here"))


def page_of_run(id: str, output: Path | None) -> Path:
    """The page of an earlier run, where it is kept or where it was copied to."""
    from wmlab.app.run_pages import copy_pages, kept_page
    from wmlab.runtime.run_list import find_run
    from wmlab.runtime.store import Store

    store = Store()
    run = find_run(store.root, id)
    return kept_page(store, run) if output is None else copy_pages(store, run, output)
