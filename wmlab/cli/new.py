"""`wmlab new`: a first spec to change."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wmlab.errors import UsageError

if TYPE_CHECKING:
    from wmlab.app.new import NewSpec

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
) -> None:
    """Write a commented spec that is valid and runs, to be changed into your own. Nothing is overwritten."""
    from wmlab.app.new import templates, write_new

    if listed:
        print(show_templates(templates()))
    elif name is None:
        raise UsageError("how shall it be called? Say wmlab new NAME, or wmlab new --list")
    else:
        print(show_new(write_new(name, template, output)))


def show_templates(titles: dict[str, str]) -> str:
    width = max(map(len, titles))
    return "\n".join(f"{name:<{width}}  {title}" for name, title in titles.items())


def show_new(written: NewSpec) -> str:
    """What was written, and what to do next."""
    lines = [f"wrote {path}" for path in (written.spec, *written.beside)]
    if written.schema is not None:
        lines.append(f"wrote {written.schema}: editors complete and explain specs from it")
    commands = ("validate {}", "explain {}", "run {} --profile smoke", "run {} --check")
    return "\n".join([*lines, "next:", *(f"  wmlab {command.format(written.spec)}" for command in commands)])
