"""What a job is asked for, and its file: what many stages share stands there once."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from wmlab.cluster.jobs import Resources
from wmlab.errors import WmlabError
from wmlab.graph.key import Key
from wmlab.graph.stage import Stage, Stages, digest

FORMAT = 1


@dataclass(frozen=True)
class JobTask:
    """What a job is asked for, as its worker reads it."""

    id: str
    token: str  # by which a worker knows that it reads the very file that was written for it
    engine: str
    spec: str
    stages: dict[str, Stage]  # with all that they build on, inputs first
    keys: dict[str, str]  # id: the hash of its key
    parts: dict[str, dict[str, Any]]  # id: the code, versions and device that are part of the key
    wanted: tuple[str, ...]  # ids that the job answers for
    resources: Resources
    keep_going: bool = False
    retries: int = 1  # of a stage, within the job
    timer: float | None = None  # seconds after which the worker ends itself, where the engine has no clock
    lines: Mapping[str, str] | None = None  # key of the cluster file: the line to change, in words
    address: str | None = None  # at which the engine was asked; None: an earlier version did not write it down


def task_data(task: JobTask) -> dict[str, Any]:
    """A job as JSON data; what many stages share stands there once."""
    shared: dict[str, Any] = {}
    stages = []
    for id, stage in task.stages.items():
        parts = task.parts[id]
        mark = digest(parts)
        shared[mark] = parts
        about = {name: value for name, value in vars(stage).items() if name != "id"}  # which is worked out again
        stages.append({"id": id, "parts": mark, **about})
    rest = {name: value for name, value in vars(task).items() if name not in ("stages", "parts", "resources")}
    return {
        "format": FORMAT,
        "created": round(time.time(), 3),
        **rest,
        "resources": asdict(task.resources),
        "parts": shared,
        "stages": stages,
    }


def task_of(data: Mapping[str, Any]) -> JobTask:
    """The job of a file's data."""
    if data["format"] != FORMAT:
        raise WmlabError(f"the job's file is of format {data['format']}, and this wmlab knows format {FORMAT}")
    stages, parts = {}, {}
    for row in data["stages"]:
        about = {name: value for name, value in row.items() if name not in ("id", "parts")}
        stages[row["id"]] = Stage(**{**about, "modules": tuple(row["modules"])})
        parts[row["id"]] = data["parts"][row["parts"]]
    names = ("id", "token", "engine", "spec", "keys", "keep_going", "retries", "timer", "lines")
    return JobTask(
        **{name: data[name] for name in names},
        stages=stages,
        parts=parts,
        wanted=tuple(data["wanted"]),
        address=data.get("address"),
        resources=Resources(**data["resources"]),
    )


def closure(stages: Stages, wanted: Sequence[str]) -> list[str]:
    """Stages and all that they build on, inputs first."""
    needed: dict[str, None] = {}
    stack = [(id, False) for id in reversed(wanted)]
    while stack:
        id, is_ready = stack.pop()
        if id in needed:
            continue
        if is_ready:
            needed[id] = None
        else:
            stack.append((id, True))
            stack += [(source, False) for source in stages[id].inputs.values() if source not in needed]
    return list(needed)


def surroundings(key: Key) -> dict[str, Any]:
    """The parts of a key that a worker has to agree with: code, versions and device."""
    return {name: key.parts.get(name) for name in ("code", "versions", "device")}
