"""`wmlab schema`: the JSON Schema of specs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wmlab.cli.common import tell_broken_kinds

SHORT_HELP = "Print the JSON Schema of specs: for editors and other tools."


def schema(
    write: Annotated[bool, typer.Option("--write", help="Write the schemas of this version into a folder.")] = False,
    folder: Annotated[Path, typer.Option(help="Where to.", metavar="FOLDER")] = Path("schemas"),
) -> None:
    """Print the JSON Schema of spec files, or write all schemas: for editors and other tools."""
    from wmlab.spec.schema import generate as schemas

    if write:
        for path in schemas.write(folder):
            print(path)
    else:
        print(schemas.text("spec", others=True), end="")
        tell_broken_kinds()
