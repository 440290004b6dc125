"""`wmlab bench`: how fast this machine is."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class Benchmark(StrEnum):
    finite = "finite"
    pqn = "pqn"
    planning = "planning"
    p_learning = "p_learning"


def bench(name: Annotated[Benchmark, typer.Argument(help="What to measure.")]) -> None:
    """Measure how fast this machine is at one kind of work."""
    import importlib

    importlib.import_module(f"wmlab.bench.{name.value}").main()
