"""Which metrics a spec makes: known before anything runs, so that a claim on another is an error at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from wmlab.registry import WorldChoice
from wmlab.registry.metrics import BLANK, fill, find, measurements
from wmlab.sections.experiment import ExperimentSpec
from wmlab.sections.spec import Compare, Relate
from wmlab.spec.compose.points import Point, record_of


@dataclass(frozen=True)
class Made:
    """A metric that a spec makes."""

    name: str
    stage: str  # the kind of stage that measures it; none where it is made of results
    per: str = ""  # the goal or comparison, where there is a stage for each of them


def made(
    sections: Mapping[str, Any],
    world: WorldChoice | None,
    model: bool,
    experiment: ExperimentSpec | None = None,
    logged: bool = False,
) -> Iterator[Made]:
    """All metrics that sections ask for in a world; without an experiment, its conditions count as met. `logged`:
    there are transitions of a log."""
    sort, truth = (None, True) if world is None else (world.sort, world.knows_truth)
    for measurement in measurements():
        if measurement.model and not model:
            continue
        for filling in measurement.fillings(sections):
            for metric in measurement.metrics:
                if metric.made(sort, measurement.knows(truth, logged)) and (
                    metric.when is None or experiment is None or metric.when(experiment)
                ):
                    yield Made(fill(metric.name, filling), measurement.stage, filling.get(measurement.per, ""))


def promised(experiment: ExperimentSpec, compare: Mapping[str, Compare]) -> Iterator[Made]:
    """The metrics of one point of a sound study, those of comparisons among them."""
    sections = {"evaluate": experiment.evaluate, "compare": compare}
    return made(sections, experiment.mdp, experiment.extract is not None, experiment, experiment.data is not None)


def made_at(point: Point, compare: Mapping[str, Compare], sound: bool) -> set[str] | None:
    """The metrics of one point of a study, whose world and `evaluate` are sound, and with `sound` all of it; None where
    it has no world, so that nothing can be said."""
    if "mdp" not in point.sections:
        return None
    evaluate = record_of("evaluate", point.sections["evaluate"])
    world, model = record_of("mdp", point.sections["mdp"]), "extract" in point.sections
    sections = {"evaluate": evaluate, "compare": compare}
    whole = sound and {"goals", "agent"} <= point.sections.keys()
    logged = "data" in point.sections
    return {one.name for one in made(sections, world, model, point.experiment if whole else None, logged)}


def made_across(relate: Mapping[str, Relate]) -> set[str]:
    """The metrics that belong to no single experiment: relations across points."""
    return {one.name for one in made({"relate": relate}, None, model=True)}


# --- what asks for them -----------------------------------------------------------------------------------------


def makers() -> dict[str, set[str]]:
    """Path in a spec: the metrics that it asks for, where they always have the same names."""
    paths: dict[str, set[str]] = {}
    for measurement in measurements():
        names = {metric.name for metric in measurement.metrics if not BLANK.search(metric.name)}
        if names:
            paths.setdefault(measurement.asked_at, set()).update(names)
    return paths


def maker_of(metric: str) -> str | None:
    """What a spec must ask for to get a metric; None where there is none of that name, or where that is open."""
    declared = find(metric)
    if declared is not None and declared[0].beside:
        return declared[0].beside
    return next((path for path, names in makers().items() if metric in names), None)


def need_truth() -> list[tuple[str, ...]]:
    """The paths under `evaluate` that ask for nothing but what needs true dynamics."""
    free: dict[str, bool] = {}
    for measurement in measurements():
        head, _, path = measurement.asked_at.partition(".")
        if head == "evaluate":
            free[path] = free.get(path, False) or any(not metric.truth for metric in measurement.metrics)
    return [tuple(path.split(".")) for path, without in free.items() if not without]
