"""Which metrics a spec makes: known before anything runs, so that a claim on another is an error at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from wmlab.registry import mdps, truth_is_known
from wmlab.registry import world_of as sort_of
from wmlab.registry.metrics import BLANK, fill, measurements


@dataclass(frozen=True)
class Made:
    """A metric that a spec makes."""

    name: str
    stage: str  # the kind of stage that measures it; none where it is made of results
    per: str = ""  # the goal or comparison, where there is a stage for each of them


def made(data: Mapping[str, Any], world: str | None, truth: bool) -> Iterator[Made]:
    """All metrics that are asked for in a sort of world, with or without true dynamics."""
    for measurement in measurements():
        if measurement.model and "extract" not in data:
            continue
        for filling in measurement.fillings(data):
            for metric in measurement.metrics:
                if metric.made(world, truth) and (metric.when is None or metric.when(data)):
                    yield Made(fill(metric.name, filling), measurement.stage, filling.get(measurement.per, ""))


def world_of(experiment: Mapping[str, Any]) -> str | None:
    """finite or continuous; None where the world's own kind is in error."""
    kind = experiment.get("mdp", {}).get("kind")
    return sort_of(experiment["mdp"]) if isinstance(kind, str) and kind in mdps else None


def promised(experiment: Mapping[str, Any], sections: Mapping[str, Any]) -> Iterator[Made]:
    """The metrics of one point of a study whose world is sound, those of comparisons among them."""
    data = {**experiment, "compare": sections.get("compare", {})}
    return made(data, world_of(experiment), truth_is_known(experiment["mdp"]))


def made_at(experiment: Mapping[str, Any]) -> set[str] | None:
    """The metrics of one point of a study; None where its world is in error, so that nothing can be said."""
    return None if world_of(experiment) is None else {one.name for one in promised(experiment, {})}


def made_across(relate: Mapping[str, Any]) -> set[str]:
    """The metrics that belong to no single experiment: relations across points."""
    return {one.name for one in made({"relate": relate}, None, truth=True)}


def compared(sections: Mapping[str, Any], experiment: Mapping[str, Any]) -> set[str]:
    """The metrics of comparisons with other specs, made at one point of a study."""
    world = world_of(experiment)
    truth = world is not None and truth_is_known(experiment["mdp"])
    return {one.name for one in made({"compare": sections.get("compare", {})}, world, truth)}


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
    """What a spec must ask for to get a metric; None where there is none of that name."""
    return next((path for path, names in makers().items() if metric in names), None)


def need_truth() -> list[tuple[str, ...]]:
    """The paths under `evaluate` that ask for nothing but what needs true dynamics."""
    free: dict[str, bool] = {}
    for measurement in measurements():
        head, _, path = measurement.asked_at.partition(".")
        if head == "evaluate":
            free[path] = free.get(path, False) or any(not metric.truth for metric in measurement.metrics)
    return [tuple(path.split(".")) for path, without in free.items() if not without]
