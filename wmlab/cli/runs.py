"""`wmlab runs`: the runs that the cache folder knows of."""

from __future__ import annotations

from typing import Annotated

import typer

from wmlab.cli.common import Trust, print_table


def runs(
    limit: Annotated[int, typer.Option(help="How many, the latest first.", min=1, metavar="N")] = 20,
    trust: Trust = False,
) -> None:
    """List the runs that the cache folder knows of."""
    from wmlab.runtime.cache import format_duration
    from wmlab.runtime.runlog import list_runs
    from wmlab.runtime.store import Store

    rows = [
        (
            run.started[:19].replace("T", " "),
            run.spec,
            run.profile,
            run.state,
            format_duration(run.seconds) if run.seconds is not None else "",
            ", ".join(f"{count} {name}" for name, count in run.counts.items() if count),
        )
        for run in list_runs(Store().root)[:limit]
    ]
    print_table(("started", "spec", "profile", "state", "took", "stages"), rows, "no runs yet")
