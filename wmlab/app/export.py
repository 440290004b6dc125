"""Export: an agent's values, policy and extracted model, for use elsewhere. From stored results; nothing is computed.

For each point and seed a folder with arrays (.safetensors or .npz) and `meaning.json`: what their axes are, the names
of states, actions and goals, and where they come from.

    q         values Q and policy, where they are a table       network   weights of a network that holds the values
    model     the extracted world model                         plans     values of the plans for unseen goals
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

import numpy as np
import safetensors.numpy

from wmlab.app.external_agent import agent_block
from wmlab.app.study import Study, not_run
from wmlab.core.continuous.space import ContinuousSpace
from wmlab.core.finite.space import FiniteSpace
from wmlab.graph.compile import Plan, Run
from wmlab.results.assemble import provenance
from wmlab.results.names import point_text
from wmlab.runtime.result import Result
from wmlab.runtime.store import MissingEntry, Store
from wmlab.spec.check.kind_checks import space_of

Format = Literal["safetensors", "npz"]
Axes = dict[str, Sequence[str]]  # array: what each of its axes is
MOST = 10_000_000  # entries of a kernel that is written out in full beside its list of successors
MEANING = "meaning.json"


@dataclass
class File:
    """Some arrays, with what their axes are."""

    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    axes: Axes = field(default_factory=dict)

    def add(self, name: str, array: np.ndarray, *axes: str) -> None:
        self.arrays[name], self.axes[name] = array, axes


@dataclass(frozen=True)
class Exported:
    """What was written, and which stages had nothing to give."""

    folders: tuple[Path, ...]
    missing: tuple[str, ...]  # labels of stages


def export_root(store: Store) -> Path:
    """Where exports go: beside the cache folder of a project, or here when the cache is elsewhere."""
    return (store.root.parent if store.root.name == ".wmlab" else Path.cwd()) / "exports"


def export_study(
    study: Study, store: Store, output: Path, format: Format = "safetensors", dtype: str | None = None
) -> Exported:
    """A folder for each point and seed, below `output`; WmlabError where nothing was run yet."""
    folders, missing = [], []
    for plan in study.plans:
        for run in plan.runs:
            found = {role: load(study, store, stage) for role, stage in run.stages.items() if wanted(role)}
            missing += [plan.stage(run.stages[role]).label for role, result in found.items() if result is None]
            given = {role: result for role, result in found.items() if result is not None}
            if "train" in given:
                folders.append(write_run(plan, run, given, study, output, format, dtype))
    if not folders:
        raise not_run(study, store, "export")
    return Exported(tuple(folders), tuple(dict.fromkeys(missing)))


def wanted(role: str) -> bool:
    return role in ("train", "extract") or role.startswith("plan ")


def load(study: Study, store: Store, stage: str) -> Result | None:
    try:
        return store.load(study.keys[stage])
    except MissingEntry:
        return None


def write_run(
    plan: Plan, run: Run, given: Mapping[str, Result], study: Study, output: Path, format: Format, dtype: str | None
) -> Path:
    """The files of one point and seed."""
    resolved = plan.resolved
    parts = [resolved.name or "", resolved.profile, point_text(run.point.where), f"seed={run.seed}"]
    folder = output.joinpath(*(part for part in parts if part))
    folder.mkdir(parents=True, exist_ok=True)
    space = space_of(run.point.data)
    files = {name: file for name, file in files_of(given, space) if file.arrays}
    for name, file in files.items():
        arrays = {each: converted(array, dtype) for each, array in sorted(file.arrays.items())}
        write_arrays(folder / f"{name}.{format}", arrays)
    meaning = {
        "wmlab": metadata.version("wmlab"),
        "spec": resolved.name,
        "profile": resolved.profile,
        "sets": list(resolved.sets),
        "spec_sha256": provenance(resolved, {})["spec_sha256"],
        "where": run.point.where,
        "seed": run.seed,
        "keys": {role: study.keys[run.stages[role]].hash for role in given},
        **names_of(space),
        **rows_of(given["train"], run.point.data["agent"]),
        "files": {f"{name}.{format}": {each: list(axes) for each, axes in file.axes.items()}
                  for name, file in files.items()},
        "model": given["extract"].data.get("model", {"form": "kernel"}) if "extract" in given else None,
        "agent": agent_block(given["train"], run.point.data, space, format),
    }  # fmt: skip
    write(folder / MEANING, (json.dumps(meaning, indent=1, ensure_ascii=False) + "\n").encode())
    return folder


# --- arrays ----------------------------------------------------------------------------------------------------


def files_of(given: Mapping[str, Result], space: FiniteSpace | ContinuousSpace) -> Iterator[tuple[str, File]]:
    """Each file by its name, as far as there is something for it."""
    agent = given["train"]
    finite = isinstance(space, FiniteSpace)
    yield "q", finite_values(agent) if finite else grid_values(agent, space.names)
    yield "network", network_weights(agent)
    if "extract" in given:
        yield "model", finite_model(given["extract"]) if finite else weights_below(given["extract"], "weights/")
    plans = File()
    for role, result in given.items():
        if role.startswith("plan ") and "value" in result.arrays:
            axes = ("state",) if finite else space.names
            plans.add(f"{role.removeprefix('plan ')}.value", result.arrays["value"], *axes)
    yield "plans", plans


def finite_values(agent: Result) -> File:
    """Q and policy [state, action, goal]; a row is a goal, unless there are several discounts or policies."""
    found = File()
    last = "goal" if len(agent.data["goals"]) == len(agent.arrays["q"]) else "row"
    for name in ("q", "policy"):
        found.add(name, agent.arrays[name].transpose(1, 2, 0), "state", "action", last)
    for name in ("reward", "continues"):
        found.add(name, agent.arrays[name].T, "state", last)
    found.add("discount", agent.arrays["discount"], last)
    return found


def grid_values(agent: Result, names: Sequence[str]) -> File:
    """Q [goal, action, variables] of values on a grid; of a network there are none to be had without computing."""
    found = File()
    if "grid" in agent.data:
        q = agent.arrays["q"]
        found.add("q", q.reshape(*q.shape[:2], *agent.data["grid"]["shape"]), "goal", "action", *names)
    return found


def network_weights(agent: Result) -> File:
    """The weights of a network as it was at the end of its training."""
    last = max((int(name.split("/")[1]) for name in agent.arrays if name.startswith("checkpoints/")
                and name.count("/") > 1), default=None)  # fmt: skip
    return weights_below(agent, "weights/" if last is None else f"checkpoints/{last}/")


def weights_below(stored: Result, prefix: str) -> File:
    found = File()
    for name, array in stored.arrays.items():
        if name.startswith(prefix):
            axes = ("input", "output") if array.ndim == 2 else ("output",) * array.ndim
            found.add(name.removeprefix(prefix).replace("/", "."), array, *axes)
    return found


def finite_model(model: Result) -> File:
    """P(s' | s, a): its successors and their probabilities, and the whole table where it is not too large."""
    found = File()
    successors, chances = model.arrays["successors"], model.arrays["probabilities"]
    found.add("successors", successors, "state", "action", "branch")
    found.add("probabilities", chances, "state", "action", "branch")
    states, actions, _ = successors.shape
    if states * actions * states <= MOST:
        table = np.zeros((states, actions, states))
        index = np.indices(successors.shape)  # [3, S, A, K]
        np.add.at(table, (index[0], index[1], np.maximum(successors, 0)), np.where(successors < 0, 0.0, chances))
        found.add("transitions", table, "state", "action", "state")
    return found


def converted(array: np.ndarray, dtype: str | None) -> np.ndarray:
    """Dense and little-endian; real numbers in the type that is asked for."""
    kind = dtype if dtype is not None and array.dtype.kind == "f" else array.dtype.newbyteorder("<")
    return np.array(array, dtype=kind, order="C", copy=None)


def write_arrays(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    if path.suffix == ".npz":
        aside = path.with_name(f".{os.getpid()}.{path.name}")
        np.savez(aside, **arrays)  # type: ignore[arg-type]
        os.replace(aside, path)
    else:
        write(path, safetensors.numpy.save(dict(arrays)))


def write(path: Path, content: bytes) -> None:
    """Written aside and renamed, so that a reader never meets half a file."""
    aside = path.with_name(f".{os.getpid()}.{path.name}")
    aside.write_bytes(content)
    os.replace(aside, path)


# --- meaning ---------------------------------------------------------------------------------------------------


def names_of(space: FiniteSpace | ContinuousSpace) -> dict[str, Any]:
    """The names of states and actions, in the order of the axes."""
    if isinstance(space, FiniteSpace):
        found: dict[str, Any] = {"states": list(space.names), "actions": list(space.actions)}
        return found if space.cells is None else found | {"cells": space.cells.tolist()}
    variables = [
        {"name": each.name, "range": list(each.scale), "bounded": each.bounded, "edge": each.edge}
        for each in space.variables
    ]
    return {
        "variables": variables,
        "derived": [variable.name for variable in space.derived],
        "actions": list(space.actions),
        "controls": {name: list(row) for name, row in zip(space.actions, space.control_values, strict=True)},
        "control_names": list(space.controls),
    }


def rows_of(agent: Result, said: Mapping[str, Any]) -> dict[str, Any]:
    """The goals, and the discount that goes with each row of values."""
    found: dict[str, Any] = {"goals": list(agent.data["goals"])}
    if "discount" in agent.arrays:
        each = sorted({float(one) for one in agent.arrays["discount"]})
        return found | {"discount": each[0] if len(each) == 1 else agent.arrays["discount"].tolist()}
    return found | {"discount": said.get("discount")}
