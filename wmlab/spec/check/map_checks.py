"""What a spec asks to be drawn of its world: maps of worlds that have one, and planes over two variables."""

from __future__ import annotations

from collections.abc import Iterator

from wmlab.errors import SpecError, suggest
from wmlab.registry import build
from wmlab.sections.experiment import Evaluate, ExperimentSpec
from wmlab.sections.spec import Maps
from wmlab.spec.check.claim_scope import ClaimScope
from wmlab.spec.check.claims import where_errors
from wmlab.spec.yaml.node import Node


def map_errors(report: Node, maps: Maps, scope: ClaimScope) -> Iterator[SpecError]:
    """Maps of goals and points that are not there, and of worlds that have none."""
    sound = [build(Evaluate, point.data["evaluate"]) for point in scope.points if scope.sound]
    goals = {goal for asked in sound if asked.unseen is not None for goal in asked.unseen.goals}
    unknown = [i for i, goal in enumerate(maps.goals) if scope.sound and goal not in goals]
    for i in unknown:
        source = report.near(["maps", "goals", i]).source
        message = f"there is no unseen goal '{maps.goals[i]}'"
        yield SpecError(source, f"report.maps.goals[{i}]", message, suggest(maps.goals[i], goals))
    yield from where_errors(report.near(["maps"]), {"where": maps.where}, ("report", "maps"), scope, whole=False)
    if scope.whole and not unknown:
        yield from undrawn(report, maps, [point.experiment for point in scope.points])


def undrawn(report: Node, maps: Maps, experiments: list[ExperimentSpec]) -> Iterator[SpecError]:
    """What of `report.maps` no world of a spec can show."""
    asked = report.near(["maps"])
    if not any(has_plane(each) for each in experiments):
        message, hint = "there is no map: this world has no two coordinates to draw over", "leave report.maps out"
        yield SpecError(report.keys.get("maps", asked.source), "report.maps", message, hint)
        return
    if maps.goals and not any(each.mdp.sort == "finite" or each.mdp.space.size == 2 for each in experiments):
        message = "ways to unseen goals are drawn in worlds of two variables, and this one has more"
        hint = "leave goals out; where the agent has been and the model is wrong is drawn over the first two"
        yield SpecError(asked.near(["goals"]).source, "report.maps.goals", message, hint)
    if maps.errors == "every_point":
        yield from undrawn_errors(asked, experiments)
    elif not any(draws_something(each) for each in experiments):
        message = "there is nothing to draw on the map"
        hint = "ask for evaluate.model_error or evaluate.unseen, with an `extract`"
        yield SpecError(report.keys.get("maps", asked.source), "report.maps", message, hint)


def undrawn_errors(asked: Node, experiments: list[ExperimentSpec]) -> Iterator[SpecError]:
    """Errors at every point need errors, in a continuous world."""
    source, path = asked.near(["errors"]).source, "report.maps.errors"
    if all(each.mdp.sort == "finite" for each in experiments):
        message = "errors at every point are drawn side by side in a continuous world, and this one is finite"
        yield SpecError(source, path, message, "leave errors out; report.maps.where chooses the point")
    elif not any(measures_errors(each) for each in experiments):
        message, hint = "no error of a model is measured", "ask for evaluate.model_error, with an `extract`"
        yield SpecError(source, path, message, hint)


def has_plane(experiment: ExperimentSpec) -> bool:
    """Whether a world has a map, or two variables to draw over."""
    space = experiment.mdp.space
    if experiment.mdp.sort == "finite":
        return getattr(space, "cells", None) is not None
    return bool(space.size >= 2)


def draws_something(experiment: ExperimentSpec) -> bool:
    """Whether something is known of each place: visits, errors, plans, or what stays open."""
    evaluate = experiment.evaluate
    plans = evaluate.unseen is not None and experiment.extract is not None
    continuous = experiment.mdp.sort == "continuous"
    told = evaluate.identify is not None and (continuous or evaluate.identify.width is not None)
    return experiment.agent.traits.learns or measures_errors(experiment) or plans or told


def measures_errors(experiment: ExperimentSpec) -> bool:
    asked = experiment.evaluate.model_error is not None and experiment.extract is not None
    return asked and (experiment.mdp.knows_truth or experiment.against_data)
