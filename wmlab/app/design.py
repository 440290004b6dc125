"""Which goals to add: the stages that rank them, and what those need, and nothing else of a study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wmlab.core.container import usable_cores
from wmlab.errors import UsageError, WmlabError
from wmlab.graph.compile import needed
from wmlab.graph.experiment import Run
from wmlab.graph.study import Study, open_study
from wmlab.runtime.events import Listener, fan_out
from wmlab.runtime.executor import execute
from wmlab.runtime.store import Store

DEFAULTS = "evaluate.design={}"


@dataclass(frozen=True)
class GoalRanking:
    """What goals are worth to add at one point, for one seed."""

    spec: str
    where: Mapping[str, Any]
    seed: int
    by: str  # guarantee: more is better; width: less is
    using: str  # the world whose exact values were taken: truth or model, or prior: the mean over several
    now: float  # with the goals that are there
    ranking: tuple[tuple[str, float], ...]  # goal, and how it is once that is added; the best first


def open_design(path: str, profile: str | None, sets: Sequence[str]) -> Study:
    """A study that ranks goals: as its spec says or, where it says nothing of it, all states by what is certain."""
    study = open_study(path, profile, sets)
    if any(True for _ in ranked(study)):
        return study
    if study.is_suite:
        raise UsageError(f"no spec of {path} says evaluate.design: name one of them")
    return open_study(path, profile, [*sets, DEFAULTS])


def ranked(study: Study) -> Iterator[tuple[str, Run, str]]:
    """The runs of a study that rank goals: the spec's name, the run, and its stage."""
    for plan in study.plans:
        for run in plan.runs:
            stage = run.stage("design")
            if stage is not None:
                yield plan.resolved.name or "", run, stage


def rank_goals(
    study: Study, store: Store, jobs: int | None = None, listener: Listener | None = None
) -> list[GoalRanking]:
    """The rankings of a study, computed as far as they are not known; nothing is trained that they do not need."""
    runs = list(ranked(study))
    stages = needed(study.stages, [stage for _, _, stage in runs])
    jobs = usable_cores() if jobs is None else jobs
    with store.holding([study.keys[id] for id in stages]):
        outcome = execute(stages, study.keys, store, jobs=jobs, events=fan_out(listener))
        if not outcome.ok:
            raise WmlabError("; ".join(str(failure) for failure in outcome.failed.values()))
        return [_ranking(name, run, store.load(study.keys[stage]).data) for name, run, stage in runs]


def _ranking(spec: str, run: Run, data: Mapping[str, Any]) -> GoalRanking:
    listed = tuple((str(goal), float(worth)) for goal, worth in data["ranking"])
    return GoalRanking(spec, run.point.where, run.seed, data["by"], data["using"], float(data["now"]), listed)
