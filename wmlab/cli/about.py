"""Commands about wmlab itself: its language, and how fast it is here."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Benchmark(StrEnum):
    finite = "finite"
    pqn = "pqn"
    planning = "planning"
    p_learning = "p_learning"


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


def tell_broken_kinds() -> None:
    """What of other packages is left out, on standard error."""
    import sys

    from wmlab.registry import broken_kinds

    for problem in broken_kinds():
        print(f"left out: {problem}", file=sys.stderr)


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


def bench(name: Annotated[Benchmark, typer.Argument(help="What to measure.")]) -> None:
    """Measure how fast this machine is at one kind of work."""
    import importlib

    importlib.import_module(f"wmlab.bench.{name.value}").main()
