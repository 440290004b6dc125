"""Export: an agent's values, policy and extracted model, for use elsewhere. From stored results; nothing is computed.

For each point and seed a folder with arrays (.safetensors or .npz) and `meaning.json`: what their axes are, the names
of states, actions and goals, and where they come from.

    q         values Q and policy, where they are a table       network   weights of a network that holds the values
    model     the extracted world model                         plans     values of the plans for unseen goals, and what
                                                                          is certain of them, with the policies
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Literal

import numpy as np
import safetensors.numpy

from wmlab.app.export_meaning import agent_block, model_block, model_meaning, names_of, rows_of
from wmlab.app.output_folder import lock_folder, profile_folder, replace_output, safe_name
from wmlab.core.continuous.space import ContinuousSpace
from wmlab.core.finite.space import FiniteSpace
from wmlab.graph.experiment import Role
from wmlab.graph.study import Study, not_run
from wmlab.report.content.stored_run import StoredRun
from wmlab.results.assemble import provenance
from wmlab.results.names import point_text
from wmlab.runtime.events import fan_out
from wmlab.runtime.result import Result
from wmlab.runtime.store import Store
from wmlab.spec.compose.resolve import Resolved

Format = Literal["safetensors", "npz"]
Axes = dict[str, Sequence[str]]  # array: what each of its axes is
MOST = 10_000_000  # entries of a kernel that is written out in full beside its list of successors
MEANING = "meaning.json"
FILES = ("q", "network", "model", "plans")
GUARANTEED = ("certain", "possible", "cautious", "hopeful")  # values, and the actions of the policies behind them
TRAIN, EXTRACT = Role("train"), Role("extract")
PLANNED = ("plan", "guarantee")  # kinds of stages


@dataclass
class ArrayFile:
    """Some arrays, with what their axes are."""

    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    axes: Axes = field(default_factory=dict)

    def add(self, name: str, array: np.ndarray, *axes: str) -> None:
        self.arrays[name], self.axes[name] = array, axes

    @property
    def described(self) -> dict[str, list[str]]:
        return {name: list(axes) for name, axes in self.axes.items()}


@dataclass(frozen=True)
class Export:
    """What was written, and which stages had nothing to give."""

    folders: tuple[Path, ...]
    missing: tuple[str, ...]  # labels of stages


def export_study(
    study: Study, store: Store, output: Path | None = None, format: Format = "safetensors", dtype: str | None = None
) -> Export:
    """A folder for each point and seed, below `output` or beside the cache; WmlabError where nothing was run yet."""
    output = output or store.beside("exports", Path(study.resolved.document.path))
    folders, missing = [], []
    for plan in study.plans:
        for each in plan.runs:
            run = StoredRun(each, study.keys, store)
            stored = {role: run.result(role.kind, role.name) for role in each.stages if is_exported(role)}
            missing += [plan.stages[each.stages[role]].label for role, result in stored.items() if result is None]
            given = {role: result for role, result in stored.items() if result is not None}
            if TRAIN in given:
                folders.append(write_run(plan.resolved, run, given, output, format, dtype))
    if not folders:
        raise not_run(study, store, "export")
    return Export(tuple(folders), tuple(dict.fromkeys(missing)))


def is_exported(role: Role) -> bool:
    """Whether a stage's result is written: those of the seed's agent, the model and plans, not of agents beside it."""
    return role in (TRAIN, EXTRACT) or role.kind in PLANNED


def write_run(
    resolved: Resolved, stored: StoredRun, given: Mapping[Role, Result], output: Path, format: Format, dtype: str | None
) -> Path:
    """The files of one point and seed."""
    run, space = stored.run, stored.space
    parts = [resolved.name or "", point_text(run.point.where), f"seed={run.seed}"]
    name, *place = (safe_name(part) for part in parts if part)
    folder = output.joinpath(name, profile_folder(resolved.profile, resolved.sets), *place)
    files = {f"{name}.{format}": file for name, file in files_of(given, space) if file.arrays}
    meaning = {
        "wmlab": metadata.version("wmlab"),
        "spec": resolved.name,
        "profile": resolved.profile,
        "sets": list(resolved.sets),
        "spec_sha256": provenance(resolved, {})["spec_sha256"],
        "where": run.point.where,
        "seed": run.seed,
        "keys": {str(role): stored.keys[run.stages[role]].hash for role in given},
        **names_of(space),
        **rows_of(given[TRAIN], run.point.experiment.agent),
        "files": {name: file.described for name, file in files.items()},
        "model": model_block(model_meaning(given[EXTRACT]), space) if EXTRACT in given else None,
        "agent": agent_block(given[TRAIN], run.point.experiment, space, format),
    }

    def fill(new: Path) -> None:
        for name, file in files.items():
            arrays = {each: converted(array, dtype) for each, array in sorted(file.arrays.items())}
            (new / name).write_bytes(encoded(arrays, format))
        (new / MEANING).write_text(json.dumps(meaning, indent=1, ensure_ascii=False) + "\n", "utf-8", "replace", "\n")

    ours = {MEANING, *(f"{name}.{format}" for name in FILES)}  # those of an earlier question, too
    with lock_folder(folder, fan_out()):
        replace_output(folder, fill, ours.__contains__)
    return folder


# --- arrays ----------------------------------------------------------------------------------------------------


def files_of(given: Mapping[Role, Result], space: FiniteSpace | ContinuousSpace) -> Iterator[tuple[str, ArrayFile]]:
    """Each file by its name, as far as there is something for it."""
    agent = given[TRAIN]
    finite = isinstance(space, FiniteSpace)
    yield "q", finite_values(agent) if finite else grid_values(agent, space.names)
    yield "network", network_weights(agent)
    if EXTRACT in given:
        yield "model", finite_model(given[EXTRACT]) if finite else model_weights(given[EXTRACT])
    plans = ArrayFile()
    for role, result in given.items():
        if role.kind == "plan" and "value" in result.arrays:
            axes = ("state",) if finite else space.names
            plans.add(f"{role.name}.value", result.arrays["value"], *axes)
        for name in GUARANTEED if role.kind == "guarantee" else ():
            plans.add(f"{role.name}.{name}", result.arrays[name], "state")
    yield "plans", plans


def finite_values(agent: Result) -> ArrayFile:
    """Q and policy [state, action, goal]; a row is a goal, unless there are several discounts or policies."""
    file = ArrayFile()
    last = "goal" if len(agent.data["goals"]) == len(agent.arrays["q"]) else "row"
    for name in ("q", "policy"):
        file.add(name, agent.arrays[name].transpose(1, 2, 0), "state", "action", last)
    for name in ("reward", "continues"):
        file.add(name, agent.arrays[name].T, "state", last)
    file.add("discount", agent.arrays["discount"], last)
    return file


def grid_values(agent: Result, names: Sequence[str]) -> ArrayFile:
    """Q [goal, action, variables] of values on a grid; of a network there are none to be had without computing."""
    file = ArrayFile()
    if "grid" in agent.data:
        q = agent.arrays["q"]
        file.add("q", q.reshape(*q.shape[:2], *agent.data["grid"]["shape"]), "goal", "action", *names)
    return file


def network_weights(agent: Result) -> ArrayFile:
    """The weights of a network as it was at the end of its training."""
    inside = (name.split("/") for name in agent.arrays if name.startswith("checkpoints/"))
    last = max((int(parts[1]) for parts in inside if len(parts) > 2), default=None)
    return weights_below(agent, "weights/" if last is None else f"checkpoints/{last}/")


def model_weights(model: Result) -> ArrayFile:
    """The weights of an extracted network; those of an ensemble have an axis of members in front."""
    return weights_below(model, "weights/", ("member",) if model.data["model"]["form"] == "ensemble" else ())


def weights_below(stored: Result, prefix: str, before: tuple[str, ...] = ()) -> ArrayFile:
    """Arrays by name; `before` are axes that each of them has in front of its own."""
    file = ArrayFile()
    for name, array in stored.arrays.items():
        if name.startswith(prefix):
            own = array.ndim - len(before)
            axes = ("input", "output") if own == 2 else ("output",) * own
            file.add(name.removeprefix(prefix).replace("/", "."), array, *before, *axes)
    return file


def finite_model(model: Result) -> ArrayFile:
    """P(s' | s, a): its successors and their probabilities, and the whole table where it is not too large."""
    file = ArrayFile()
    successors, chances = model.arrays["successors"], model.arrays["probabilities"]
    file.add("successors", successors, "state", "action", "branch")
    file.add("probabilities", chances, "state", "action", "branch")
    states, actions, _ = successors.shape
    if states * actions * states <= MOST:
        table = np.zeros((states, actions, states))
        index = np.indices(successors.shape)  # [3, S, A, K]
        np.add.at(table, (index[0], index[1], np.maximum(successors, 0)), np.where(successors < 0, 0.0, chances))
        file.add("transitions", table, "state", "action", "state")
    return file


def converted(array: np.ndarray, dtype: str | None) -> np.ndarray:
    """Dense and little-endian; real numbers in the type that is asked for."""
    kind = dtype if dtype is not None and array.dtype.kind == "f" else array.dtype.newbyteorder("<")
    return np.array(array, dtype=kind, order="C", copy=None)


def encoded(arrays: Mapping[str, np.ndarray], format: Format) -> bytes:
    if format == "safetensors":
        return safetensors.numpy.save(dict(arrays))
    content = io.BytesIO()
    np.savez(content, **arrays)  # type: ignore[arg-type]
    return content.getvalue()
