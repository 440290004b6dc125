"""`wmlab reference`: what can be said in a spec."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wmlab.cli.common import tell_broken_kinds

SHORT_HELP = "Look up a kind, an option, a key, expressions or metrics."


def reference(
    topic: Annotated[
        str | None, typer.Argument(help="gridworld, agent.pqn.network, claims, metrics, …", metavar="TOPIC")
    ] = None,
    write: Annotated[bool, typer.Option("--write", help="Write the whole reference as a page of Markdown.")] = False,
    folder: Annotated[Path, typer.Option(help="Where to.", metavar="FOLDER")] = Path("docs"),
) -> None:
    """Show what can be said in a spec: every kind and option with its default, and an example. Without a topic, list
    the topics."""
    from wmlab.reference import page

    if write:
        print(page.write(folder))
    else:
        print(page.show(topic) if topic else page.show_topics())
        tell_broken_kinds()
