"""Compiling: from a resolved spec to the stages of its experiment. Pure; equal questions become one stage."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache

from wmlab.errors import WmlabError
from wmlab.graph.builder import Builder
from wmlab.graph.experiment import ExperimentPlan, Run
from wmlab.graph.stage import Stage, Stages
from wmlab.limits import ARRAY_FILE_BYTES
from wmlab.spec.compose.resolve import Resolved
from wmlab.spec.files import open_regular


def compile_spec(resolved: Resolved, others: Mapping[str, ExperimentPlan] | None = None) -> ExperimentPlan:
    """The plan of a valid spec; `others` are the plans of the specs that it compares with, by name in `compare`."""
    stages: dict[str, Stage] = {}
    runs, builders = [], []
    sha256 = cache(file_sha256)  # each file is read once for one plan
    for other in (others or {}).values():
        stages |= other.stages
    for point in resolved.points:
        of_point = Builder(stages, point, resolved.name or "", resolved.seeds, sha256)
        for seed in resolved.seeds:
            builder = of_point.at(seed)
            roles = builder.experiment()
            for name, other in (others or {}).items():
                roles |= builder.comparison(name, resolved.compare[name], other, roles)
            runs.append(Run(point, seed, roles))
            builders.append(builder)
    drawn = drawn_run(resolved, runs)
    if drawn is None:
        return ExperimentPlan(resolved, stages, tuple(runs))
    runs[drawn] = replace(runs[drawn], stages=builders[drawn].looked_at(runs[drawn].stages))
    return ExperimentPlan(resolved, stages, tuple(runs), runs[drawn])


def drawn_run(resolved: Resolved, runs: Sequence[Run]) -> int | None:
    """The position of the run that is drawn: the first seed at the labels that `report.maps` asks for, as far as this
    profile has them, and the last of the rest."""
    labels = {axis.name: axis.labels for axis in resolved.axes}
    maps = resolved.report.maps
    wanted = {axis: label for axis, label in (maps.where if maps else {}).items() if label in labels.get(axis, ())}
    first = resolved.seeds[0]
    fitting = [i for i, run in enumerate(runs) if run.seed == first and wanted.items() <= run.point.where.items()]
    return fitting[-1] if fitting else None


def union(plans: Iterable[ExperimentPlan]) -> Stages:
    """The stages of several plans: those that they share stand among them once."""
    return {stage_id: stage for plan in plans for stage_id, stage in plan.stages.items()}


def needed(stages: Stages, wanted: Iterable[str]) -> Stages:
    """These stages and all that they build on, in the order of the plan."""
    found: set[str] = set()
    stack = list(wanted)
    while stack:
        id = stack.pop()
        if id not in found:
            found.add(id)
            stack.extend(stages[id].inputs.values())
    return {id: stage for id, stage in stages.items() if id in found}


def file_sha256(file: str) -> str:
    """The hash of what a file holds: an edited file is another world, or agent."""
    try:
        with open_regular(file, ARRAY_FILE_BYTES) as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise WmlabError(f"cannot read {file}: {error.strerror or error}") from None
