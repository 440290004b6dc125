"""`wmlab reference`: what can be said in a spec."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

import typer

from wmlab.cli.common import tell_broken_kinds
from wmlab.errors import UsageError

SHORT_HELP = "Look up a kind, an option, a key, expressions or metrics."


def reference(
    topic: Annotated[
        str | None, typer.Argument(help="gridworld, agent.pqn.network, claims, metrics, …", metavar="TOPIC")
    ] = None,
    format: Annotated[Literal["text", "json"], typer.Option(help="How the list of topics is written.")] = "text",
    write: Annotated[bool, typer.Option("--write", help="Write the whole reference as a page of Markdown.")] = False,
    folder: Annotated[Path, typer.Option(help="Where to.", metavar="FOLDER")] = Path("docs"),
) -> None:
    """Show what can be said in a spec: every kind and option with its default, and an example. Without a topic, list
    the topics."""
    from wmlab.reference import page
    from wmlab.reference.topics import topics

    if write:
        print(page.write(folder))
    elif format == "json":
        if topic:
            raise UsageError("--format json lists the topics; a topic is text")
        print(json.dumps([{"topic": one.name, "title": one.title, "says": one.says} for one in topics(True)], indent=1))
    else:
        print(page.show(topic) if topic else page.show_topics())
        tell_broken_kinds()
