"""`wmlab validate`: every mistake of specs at once."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from wmlab.cli.common import Specs, hurry

SHORT_HELP = "Check specs: every mistake at once, in every profile."


def validate(
    specs: Specs,
    format: Annotated[
        Literal["text", "json", "github"],
        typer.Option(help="text for people, json for tools, github for annotations."),
    ] = "text",
) -> None:
    """Check specs: every mistake at once, in every profile. Exits with 2 when there is one."""
    hurry()
    from wmlab.spec.check.formats import FORMATS
    from wmlab.spec.check.validate import fragments, validate_all

    errors = validate_all(specs)
    text = FORMATS[format](errors, specs)
    if text:
        print(text)
    for path in fragments(specs) if format == "text" and not errors else ():
        print(f"{path} is a fragment: it has no name, so it can be extended and not run")
    raise typer.Exit(2 if errors else 0)
