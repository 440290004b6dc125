"""Cluster files: where a run goes, read and checked as specs are, with every mistake at its line."""

from __future__ import annotations

import math
import os
import platform
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from wmlab.errors import Source, SpecError, SpecErrors, UsageError, suggest
from wmlab.graph.stage import Stage
from wmlab.graph.study import Study
from wmlab.registry import build
from wmlab.runtime.limits import LEAST_MEMORY, parse_duration, parse_size
from wmlab.sections.cluster import ClusterFile
from wmlab.spec.check.schema_errors import file_errors
from wmlab.spec.yaml.load import FileSort, load
from wmlab.spec.yaml.node import Node, show

DEFAULT = "WMLAB_ON"
ENGINES = ("slurm", "ray", "local")
LEAST_TIME = 120.0  # seconds; Slurm warns a minute before the end, and may be a while too early
SORT = FileSort("a cluster file", "a cluster file says at least `engine: slurm`, ray or local")
# Keys that mean something to one engine alone, and what to say elsewhere.
OF_SLURM, OF_RAY = ("partition", "account", "setup"), ("address",)


@dataclass(frozen=True)
class Cluster:
    """Where a run goes, with the places of what was written about it."""

    options: ClusterFile
    time: float | None = None  # seconds that a job may take
    memory: int | None = None  # bytes that a job may hold
    node: Node | None = None  # None where only a name was given
    name: str = ""  # as it was given

    @property
    def engine(self) -> str:
        return self.options.engine

    @property
    def address(self) -> str:
        """Where the engine is asked: of a Ray cluster its address, or `auto` for the one on this machine; else ''."""
        return (self.options.address or os.environ.get("RAY_ADDRESS") or "auto") if self.engine == "ray" else ""

    @property
    def is_local(self) -> bool:
        return self.options.engine == "local"

    def device(self, stage: Stage) -> str:
        """The type of device that a stage is going to run on: what an accelerator computes has keys of its own."""
        kind = "gpu" if self.options.accelerators and stage.accelerated else "cpu"
        return f"{kind} {platform.machine()}"

    def take(self, study: Study) -> Study:
        """A study as it is going to run here."""
        return study if self.is_local else replace(study, device=self.device)

    def place(self, key: str) -> Source:
        """Where a key was written, or would have to be."""
        if self.node is None:
            return Source(f"--on {self.name}")
        return self.node.entries[key].source if key in self.node.entries else self.node.source

    def line(self, key: str) -> str:
        """The line to change, in words."""
        source = self.place(key)
        if self.node is not None and key not in self.node.entries:
            return f"add `{key}` to {source.file}"
        return f"`{key}` in {source}" if self.node is not None else f"`{key}` in a file for --on"

    def change(self, key: str) -> str:
        """What to do about a key, in words: 'change `memory` in c.yaml:3:9', or 'add `memory` to c.yaml'."""
        line = self.line(key)
        return line if line.startswith("add ") else f"change {line}"

    def error(self, key: str, message: str, hint: str | None = None) -> SpecError:
        """A mistake of the file, at its line."""
        return SpecError(self.place(key), key, message, hint)


def open_cluster(name: str | None) -> Cluster | None:
    """What `--on`, or else WMLAB_ON, names: an engine or a file; None where nothing is named. SpecErrors."""
    name = name or os.environ.get(DEFAULT) or None
    if name is None:
        return None
    if name in ENGINES:
        return Cluster(ClusterFile(engine=name), name=name)  # type: ignore[arg-type]
    if not Path(name).exists() and Path(name).suffix not in (".yaml", ".yml"):
        hint = suggest(name, ENGINES) or "name a file, or one of slurm, ray and local"
        raise UsageError(f"--on {name}: there is no such file, and no engine of that name; {hint}")
    return read_cluster(name)


def taken_on(on: str | None, studies: Iterable[Study]) -> list[Study]:
    """Studies as they run where `on`, or else WMLAB_ON, names: what an accelerator computed has keys of its own."""
    cluster = open_cluster(on)
    return list(studies) if cluster is None else [cluster.take(study) for study in studies]


def read_cluster(path: str) -> Cluster:
    """A cluster file; SpecErrors with all that is wrong with it."""
    node = load(path, SORT)
    errors = list(file_errors(node, "cluster"))
    if not errors:
        errors = list(mistakes(node))
    if errors:
        raise SpecErrors(errors)
    data = node.plain()
    time, memory = data.get("time"), data.get("memory")
    return Cluster(
        build(ClusterFile, data),
        None if time is None else parse_duration(time),
        None if memory is None else parse_size(memory),
        node,
        path,
    )


def mistakes(node: Node) -> Iterator[SpecError]:
    """What the schema cannot know: times and sizes without a unit, and keys of another engine."""
    data = node.plain()
    engine = data["engine"]
    for engines, keys in ((("slurm",), OF_SLURM), (("ray",), OF_RAY), (("slurm", "ray"), ("accelerators",))):
        if engine not in engines:
            yield from foreign(node, engine, engines, keys)
    yield from amount(node, "time", parse_duration, "s")
    yield from amount(node, "memory", parse_size, "G")
    accelerators = data.get("accelerators", 0)
    if engine == "slurm" and accelerators != int(accelerators):
        message = f"Slurm gives whole accelerators, not {show(accelerators)}"
        yield SpecError(node.entries["accelerators"].source, "accelerators", message, "say 1; engine: ray shares one")
    if engine == "ray" and accelerators > 1 and accelerators != int(accelerators):
        message = f"Ray gives a part of one accelerator, or whole ones, not {show(accelerators)}"
        yield SpecError(node.entries["accelerators"].source, "accelerators", message, f"say {math.ceil(accelerators)}")
    for place, line in enumerate(node.entries["setup"].items if "setup" in node.entries else ()):
        if "\n" in str(line.value):
            yield SpecError(
                line.source, f"setup[{place}]", "a line of shell has no line breaks", "write a list of lines"
            )


def foreign(node: Node, engine: str, engines: Iterable[str], keys: Iterable[str]) -> Iterator[SpecError]:
    for key in keys:
        if key in node.entries:
            message = f"means nothing to engine: {engine}"
            yield SpecError(node.key(key), key, message, f"it is for {' and '.join(engines)}; leave it out")


def amount(node: Node, key: str, parse: Any, unit: str) -> Iterator[SpecError]:
    if key not in node.entries:
        return
    value, source = node.entries[key].value, node.entries[key].source
    if not isinstance(value, str):
        yield SpecError(source, key, f"{show(value)} has no unit", f"say {show(value)}{unit}, or another unit")
        return
    try:
        number = parse(value)
    except UsageError as error:
        yield SpecError(source, key, str(error))
        return
    if key == "time" and node.plain()["engine"] == "slurm" and number < LEAST_TIME:
        message = f"{value} is over before a job has begun: Slurm warns it a minute or more before the end of its time"
        yield SpecError(source, key, message, "say 2m or more")
    if key == "memory" and number < LEAST_MEMORY:
        yield SpecError(source, key, f"{value} is less than a worker takes before its first stage", "say 1G or more")
