"""`wmlab export`: what was run before as arrays, for use elsewhere."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wmlab.cli.common import Profile, Sets, Specs, relative

if TYPE_CHECKING:
    from wmlab.app.export import Export
    from wmlab.graph.study import Study

SHORT_HELP = "Write what was run before as arrays, for use elsewhere."


class ArrayFormat(StrEnum):
    safetensors = "safetensors"
    npz = "npz"


class ArrayType(StrEnum):
    float32 = "float32"
    float64 = "float64"


def export(
    specs: Specs,
    profile: Profile = None,
    sets: Sets = None,
    format: Annotated[ArrayFormat, typer.Option(help="How arrays are written.")] = ArrayFormat.safetensors,
    dtype: Annotated[
        ArrayType | None, typer.Option(help="The type of real numbers; by default as they are stored.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", help="Folder for exports; by default exports/ beside the cache.", metavar="FOLDER"),
    ] = None,
) -> None:
    """Write values, policy and extracted model of what was run before, for use elsewhere. Nothing is computed."""
    from wmlab.app.export import export_root, export_study
    from wmlab.graph.study import open_all
    from wmlab.runtime.store import Store, find_root

    store = Store(find_root())
    whole = True
    for study in open_all(specs, profile, sets or ()):
        kind = dtype.value if dtype else None
        written = export_study(study, store, output or export_root(store), format.value, kind)
        print_export(study, written)
        whole = whole and not written.missing
    raise typer.Exit(0 if whole else 1)


def print_export(study: Study, written: Export) -> None:
    """The folders that were written, and what had nothing to give."""
    for folder in written.folders:
        print(relative(folder))
    for label in written.missing:
        print(f"wmlab: nothing stored of {label}; run {study.name} to compute it", file=sys.stderr)
