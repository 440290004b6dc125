"""`wmlab runs`: the runs that the cache folder knows of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from wmlab.cli.common import print_table

if TYPE_CHECKING:
    from wmlab.runtime.runlog import RunSummary


def runs(limit: Annotated[int, typer.Option(help="How many, the latest first.", min=1, metavar="N")] = 20) -> None:
    """List the runs that the cache folder knows of."""
    from wmlab.runtime.runlog import list_runs
    from wmlab.runtime.store import find_root

    print_runs(list_runs(find_root())[:limit])


def print_runs(runs: Sequence[RunSummary]) -> None:
    from wmlab.runtime.cache import format_duration

    rows = [
        (
            run.started[:19].replace("T", " "),
            run.spec,
            run.profile,
            run.state,
            format_duration(run.seconds) if run.seconds is not None else "",
            ", ".join(f"{count} {name}" for name, count in run.counts.items() if count),
        )
        for run in runs
    ]
    print_table(("started", "spec", "profile", "state", "took", "stages"), rows, "no runs yet")
