"""`wmlab watch`: a page on this machine that shows how far a run is."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from wmlab.cli.common import Host, Trust
from wmlab.cli.completion import run_ids
from wmlab.errors import UsageError, WmlabError

SHORT_HELP = "Serve a page that shows how far a run is."


def watch(
    run: Annotated[
        str | None,
        typer.Argument(
            help="The id of a run, or its first letters; the latest that is on by default.",
            metavar="[RUN]",
            show_default=False,
            autocompletion=run_ids,
        ),
    ] = None,
    port: Annotated[
        int, typer.Option(help="The port on this machine; any that is free by default.", min=0, max=65535, metavar="N")
    ] = 0,
    host: Host = None,
    open_: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    trust: Trust = False,
) -> None:
    """Serve a page on this machine, and only to it unless --host says otherwise, that shows how far a run is; it ends
    as the run's own page.

    The run is not touched: the page reads what it writes. Ctrl-C ends the page; otherwise it is served until ten
    minutes after the run is over and nobody asked for it.
    """
    from wmlab.app.live import LiveRun, LiveServer
    from wmlab.app.live_address import live_address
    from wmlab.runtime.store import Store

    store, address = Store(), live_address(host)
    try:
        server = LiveServer(LiveRun(store, run or latest(store.root)), port, address)
    except OSError as error:
        raise UsageError(
            f"port {port} cannot be had ({error.strerror}); leave --port out for any that is free"
        ) from None
    print(server.url, flush=True)
    if address.warning:
        print(f"warning: {address.warning}", file=sys.stderr)
    print("only who has this address sees the page; Ctrl-C ends it, and not the run", file=sys.stderr)
    if open_:
        import webbrowser

        if not webbrowser.open(server.url):
            raise WmlabError("no browser could be started here; leave --open out, and open the address yourself")
    with server:
        server.serve_until_idle()


def latest(root: Path) -> str:
    """The latest run that is on; where none is, the latest."""
    from wmlab.runtime.run_list import list_runs

    runs = [run for run in list_runs(root) if run.id]
    if not runs:
        raise UsageError("there is no run to watch yet; `wmlab run SPEC --live` runs and shows")
    return next((run.id for run in runs if run.state == "running"), runs[0].id)
