"""`wmlab export`: what was run before as arrays, for use elsewhere."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from wmlab.cli.common import On, Profile, Seeds, Sets, Specs, Trust, changes, relative, usable_folder
from wmlab.errors import visible

SHORT_HELP = "Write what was run before as arrays, for use elsewhere."


def export(
    specs: Specs,
    profile: Profile = None,
    seeds: Seeds = None,
    sets: Sets = None,
    format: Annotated[Literal["safetensors", "npz"], typer.Option(help="How arrays are written.")] = "safetensors",
    dtype: Annotated[
        Literal["float32", "float64"] | None,
        typer.Option(help="The type of real numbers; by default as they are stored."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            help="Folder for exports; by default exports/ beside .wmlab, or here if WMLAB_HOME names another.",
            metavar="FOLDER",
            callback=lambda folder: None if folder is None else usable_folder(folder),
        ),
    ] = None,
    on: On = None,
    trust: Trust = False,
) -> None:
    """Write values, policy and extracted model of what was run before, for use elsewhere. Nothing is computed."""
    from wmlab.app.export import export_study
    from wmlab.cluster.file import taken_on
    from wmlab.graph.study import open_all
    from wmlab.runtime.store import Store

    whole = True
    for study in taken_on(on, open_all(specs, profile, changes(sets, seeds))):
        store = Store()
        with store.holding(study.keys.values()):
            written = export_study(study, store, output, format, dtype)
        for folder in written.folders:
            print(relative(folder))
        for label in written.missing:
            print(f"wmlab: nothing stored of {visible(label)}; run {study.name} to compute it", file=sys.stderr)
        whole = whole and not written.missing
    raise typer.Exit(0 if whole else 1)
