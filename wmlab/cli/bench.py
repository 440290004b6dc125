"""`wmlab bench`: how fast this machine is."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

Benchmark = Literal["finite", "million", "guarantee", "pqn", "planning", "p_learning", "scale", "report", "live"]


def bench(name: Annotated[Benchmark, typer.Argument(help="What to measure.")]) -> None:
    """Measure how fast this machine is at one kind of work."""
    import importlib

    importlib.import_module(f"wmlab.bench.{name}").main()
