"""Arguments and flags that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

Specs = Annotated[list[str], typer.Argument(help="Spec files.", metavar="SPEC")]
OneSpec = Annotated[str, typer.Argument(help="A spec file.", metavar="SPEC")]
Profile = Annotated[
    str | None,
    typer.Option(help="The budget to run on, or paper; the spec's default_profile by default.", metavar="NAME"),
]
Sets = Annotated[
    list[str] | None, typer.Option("--set", help="Change one value: agent.discount=0.95.", metavar="PATH=VALUE")
]
Reports = Annotated[
    Path | None,
    typer.Option("--output", help="Folder for reports; by default reports/ beside the cache.", metavar="FOLDER"),
]


class ExplainFormat(StrEnum):
    text = "text"
    json = "json"
