"""`wmlab new`: a first spec to change."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

import typer

from wmlab.cli.common import aligned
from wmlab.errors import UsageError

SHORT_HELP = "Write a first spec to change, from a template."


def new(
    name: Annotated[str | None, typer.Argument(help="What it is called; NAME.yaml is written.", metavar="NAME")] = None,
    template: Annotated[
        str, typer.Option("--from", help="The template to begin with; --list shows them.", metavar="TEMPLATE")
    ] = "gridworld",
    output: Annotated[
        Path | None, typer.Option("--output", help="The file or folder to write to; here by default.", metavar="PATH")
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the templates, and write nothing.")] = False,
    format: Annotated[Literal["text", "json"], typer.Option(help="How --list is written.")] = "text",
) -> None:
    """Write a commented spec that is valid and runs, to be changed into your own. Nothing is overwritten."""
    from wmlab.app.new import templates, write_new

    if listed:
        known = dict(templates())
        print(json.dumps(known, indent=1) if format == "json" else "\n".join(aligned(list(known.items()))))
        return
    if name is None:
        raise UsageError("how shall it be called? Say wmlab new NAME, or wmlab new --list")
    written = write_new(name, template, output)
    for path in (written.spec, *written.beside):
        print(f"wrote {path}")
    if written.schema is not None:
        print(f"wrote {written.schema}: editors complete and explain specs from it")
    print("next:")
    for command in ("validate {}", "explain {}", "run {} --profile smoke", "run {} --check"):
        print(f"  wmlab {command.format(written.spec)}")
