"""What several commands share: arguments and flags, tables of text, and paths as they are printed."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer.core import TyperArgument, TyperCommand

from wmlab.cli.completion import clusters, profiles, run_ids, spec_files
from wmlab.errors import UsageError, visible

if TYPE_CHECKING:
    from wmlab.graph.study import Study

Specs = Annotated[list[str], typer.Argument(help="Spec files.", metavar="SPEC", autocompletion=spec_files)]
OneSpec = Annotated[str, typer.Argument(help="A spec file.", metavar="SPEC", autocompletion=spec_files)]
RunId = Annotated[
    str, typer.Argument(help="The id of a run, or its first letters.", metavar="RUN", autocompletion=run_ids)
]
Profile = Annotated[
    str | None,
    typer.Option(
        help="The budget to run on, or full; the spec's default_profile by default.",
        metavar="NAME",
        autocompletion=profiles,
    ),
]
Seeds = Annotated[int | None, typer.Option(help="How many seeds, in place of the spec's.", min=1, metavar="N")]
Sets = Annotated[
    list[str] | None, typer.Option("--set", help="Change one value: agent.discount=0.95.", metavar="PATH=VALUE")
]
Points = Annotated[
    list[str] | None,
    typer.Option(
        "--points",
        help="Only a part of a sweep: 'depth=2,width=*', 'depth=1|2'; again for more points.",
        metavar="AXIS=LABEL,…",
    ),
]
Reports = Annotated[
    Path | None,
    typer.Option(
        "--output",
        help="Folder for reports; by default reports/ beside .wmlab, or here if WMLAB_HOME names another.",
        metavar="FOLDER",
        callback=lambda folder: None if folder is None else usable_folder(folder),
    ),
]

On = Annotated[
    str | None,
    typer.Option(
        "--on",
        help="Where to run: a cluster file, or slurm, ray or local; WMLAB_ON by default.",
        metavar="FILE|NAME",
        autocompletion=clusters,
    ),
]

Host = Annotated[
    str | None,
    typer.Option(
        "--host",
        help="Listen on this address for the live page, 0.0.0.0 for all; by default 127.0.0.1: this machine alone.",
        metavar="ADDRESS",
    ),
]


def trust_cache(wanted: bool) -> bool:
    """Use a cache folder that was found, whoever owns it: for this command and its workers it is named from now on."""
    if wanted:
        from wmlab.graph.key import find_root

        os.environ["WMLAB_HOME"] = str(find_root(trust=True))
    return wanted


Trust = Annotated[
    bool,
    typer.Option("--trust", help="Use the cache that is found, though another user owns it.", callback=trust_cache),
]


def changes(sets: Sequence[str] | None, seeds: int | None) -> list[str]:
    """What `--set` and `--seeds` change, as a spec is opened with."""
    return [*(sets or ()), *([f"seeds={seeds}"] if seeds else ())]


TextOrJson = Annotated[Literal["text", "json"], typer.Option(help="text for people, json for tools.")]


class PlainCommand(TyperCommand):
    """A command whose help names its arguments and not their Python types."""

    def __init__(self, *arguments: Any, **options: Any):
        super().__init__(*arguments, **options)
        for parameter in self.params:
            if isinstance(parameter, TyperArgument) and not parameter.type_descriptor.is_choice:
                parameter.display_type_rich = lambda ctx: None  # type: ignore[method-assign]


def usable_folder(path: Path) -> Path:
    """A folder that is named on the command line, before anything is computed for it."""
    try:
        folder = path.expanduser()
    except RuntimeError:
        raise UsageError(f"--output {path}: there is no user '{path.parts[0][1:]}'; name a folder") from None
    for place in (folder, *folder.parents):
        if os.path.lexists(place):
            if not place.is_dir():
                raise UsageError(f"--output {path}: {place} is no folder; name a folder, which may be a new one")
            break
    return folder


def hurry() -> None:
    """Spare a command of a short life what would be a seventh of it."""
    gc.disable()  # looking for garbage
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # starting threads that have nothing to do


def collect_less() -> None:
    """Spare a command that holds a whole study, and makes little garbage, a tenth of its time."""
    gc.set_threshold(50_000, 20, 100)  # looking for garbage among all that stays


def aligned(rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> list[str]:
    """A line for each row, with its columns one under the other; those in `right` end at the same place."""
    rows = [[visible(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = zip(range(len(row)), row, widths, strict=True)
        line = [cell.rjust(width) if column in right else cell.ljust(width) for column, cell, width in cells]
        lines.append("  ".join(line).rstrip())
    return lines


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]], empty: str) -> None:
    print("\n".join(aligned([head, *rows])) if rows else empty)


def relative(path: Path) -> str:
    """A path from here, or whole where it does not lie below."""
    from_here = os.path.relpath(path)
    return visible(str(path) if from_here.startswith("..") else from_here)


def headline(study: Study) -> str:
    """A study's name, its profile, whether that is the spec's own choice, and how much of it is asked for."""
    from wmlab.graph.chosen import chosen_text
    from wmlab.spec.compose.document import PAPER, choose_profile

    members = f", {len(study.plans)} specs" if study.is_suite else ""
    document = study.resolved.document
    is_default = not study.resolved.is_body and study.profile == choose_profile(document, None)
    body = document.body_profile
    whole = f"--profile {body} is {'the paper' if body == PAPER else 'the spec'}'s own"
    default = f" (the spec's default; {whole})" if is_default else ""
    part = f", {chosen}" if (chosen := chosen_text(study)) else ""
    return visible(f"{study.name}: profile {study.profile}{default}{members}{part}")


def tell_broken_kinds() -> None:
    """What of other packages is left out, on standard error."""
    from wmlab.registry import broken_kinds

    for problem in broken_kinds():
        print(f"left out: {problem}", file=sys.stderr)
