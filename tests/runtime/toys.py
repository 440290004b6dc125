"""Toy plans, and what the tests ask of a store."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wmlab.graph.stage import Stage, digest
from wmlab.runtime.executor import execute
from wmlab.runtime.store import Store

PACKAGE = "tests.runtime.toy"


@dataclass(frozen=True)
class FakeKey:
    hash: str
    parts: dict[str, Any] = field(default_factory=lambda: {"device": "cpu", "versions": {"python": "3"}})


def stage(kind: str, label: str, inputs: dict[str, Stage] | None = None, *, cores=1, long=False, **params) -> Stage:
    """A toy stage."""
    ids = {name: source.id for name, source in (inputs or {}).items()}
    return Stage(kind, params, ids, label, package=PACKAGE, cores=cores, long=long)


def plan_of(*stages: Stage) -> tuple[dict[str, Stage], dict[str, FakeKey]]:
    """These stages by id, and their keys."""
    return {one.id: one for one in stages}, {one.id: FakeKey(digest({"toy": one.id})) for one in stages}


def tree(width: int = 4, depth: int = 3, **params) -> list[Stage]:
    """Layers of sums: each stage adds two of the layer before."""
    layer = [stage("add", f"leaf {i}", number=i, **params) for i in range(width)]
    stages = list(layer)
    for level in range(1, depth):
        layer = [
            stage("add", f"{level}.{i}", {"a": layer[i], "b": layer[(i + 1) % width]}, number=level * 100 + i, **params)
            for i in range(width)
        ]
        stages += layer
    return stages


def contents(store: Store) -> dict[str, bytes]:
    """All results of a store, byte for byte."""
    return {
        f"{key}/{path.name}": path.read_bytes()
        for key in store.entries()
        for path in sorted(store.path(key).iterdir())
        if path.name != "manifest.json"
    }


def run_toys(stages: list[Stage], root: Path, **options):
    """Run toy stages; returns the outcome, the events and the store."""
    plan, keys = plan_of(*stages)
    store = Store(root)
    heard: list[Any] = []
    outcome = execute(plan, keys, store, events=heard.append, **options)
    return outcome, heard, store


def children_of(pid: int) -> list[int]:
    """The living processes that a process started."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            text = Path("/proc", entry, "stat").read_text()
        except OSError:
            continue
        state, parent = text.rpartition(")")[2].split()[:2]
        if int(parent) == pid and state != "Z":
            found.append(int(entry))
    return found
