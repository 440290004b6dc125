"""What exported arrays mean: the names along their axes, and the `agent` section of a spec that reads them back."""

from __future__ import annotations

import dataclasses
from typing import Any

from wmlab.core.continuous.points import goal_points
from wmlab.core.continuous.space import ContinuousSpace, Variable
from wmlab.core.finite.space import FiniteSpace
from wmlab.registry import AgentChoice, as_data
from wmlab.runtime.result import Result
from wmlab.sections.experiment import ExperimentSpec

SHARED = ("depth", "width", "norm", "activation", "output", "goal", "encoding")
EPSILON = 1e-6  # of our own layer normalisation


def names_of(space: FiniteSpace | ContinuousSpace) -> dict[str, Any]:
    """The names of states and actions, in the order of the axes."""
    if isinstance(space, FiniteSpace):
        names: dict[str, Any] = {"states": list(space.names), "actions": list(space.actions)}
        return names if space.cells is None else names | {"cells": space.cells.tolist()}
    variables = [
        {"name": each.name, "range": list(each.scale), "bounded": each.bounded, "edge": each.edge}
        for each in space.variables
    ]
    if space.in_box:
        return {
            "variables": variables,
            "derived": [variable.name for variable in space.derived],
            "control_names": list(space.controls),
            "control_ranges": [list(pair) for pair in space.control_ranges],
        }
    return {
        "variables": variables,
        "derived": [variable.name for variable in space.derived],
        "actions": list(space.actions),
        "controls": {name: list(row) for name, row in zip(space.actions, space.control_values, strict=True)},
        "control_names": list(space.controls),
    }


def rows_of(agent: Result, chosen: AgentChoice) -> dict[str, Any]:
    """The goals, and the discount that goes with each row of values."""
    goals = list(agent.data["goals"])
    if "discount" not in agent.arrays:
        return {"goals": goals, "discount": chosen.options.discount}
    each = sorted({float(one) for one in agent.arrays["discount"]})
    return {"goals": goals, "discount": each[0] if len(each) == 1 else agent.arrays["discount"].tolist()}


def model_meaning(model: Result) -> dict[str, Any]:
    """How the arrays of a model are read."""
    form: dict[str, Any] = model.data.get("model", {"form": "kernel"})
    if form["form"] != "ensemble":
        return form
    reads = "each member is a network of these options; the prediction is the state plus the mean of the members' moves"
    return form | {"reads": f"{reads}, those of periodic variables taken the short way round"}


def agent_block(
    agent: Result, experiment: ExperimentSpec, space: FiniteSpace | ContinuousSpace, format: str
) -> dict[str, Any] | None:
    """An `agent` of kind external that gives the same values; None where no spec can say it."""
    options = experiment.agent.options
    if isinstance(space, FiniteSpace):
        if len(agent.data["goals"]) != len(agent.arrays["q"]):
            return None  # several discounts or policies: rows that are more than goals
        place = {"file": f"q.{format}", "axes": ["state", "action", "goal"]}
        policy = {"kind": "file", **place, "tensor": "policy"}
        discount = float(agent.arrays["discount"][0])
        return {"kind": "external", "q": {**place, "tensor": "q"}, "policy": policy, "discount": discount}
    if space.in_box:
        return critic_block(experiment.agent.options, format)
    common = {
        "actions": list(space.actions),
        "policy": "uniform" if options.policy == "uniform" else "greedy",
        "discount": options.discount,
    }
    if "grid" in agent.data:
        grid = agent.data["grid"]
        ends = {
            name: [low, high]
            for name, low, high, circle in zip(space.names, grid["low"], grid["high"], grid["periodic"], strict=True)
            if not circle
        }
        table: dict[str, Any] = {"file": f"q.{format}", "tensor": "q", "axes": ["goal", "action", *space.names]}
        return {"kind": "external", "q": table | {"grid": ends}, **common}
    network = network_block(agent, experiment, space)
    return {"kind": "external", "q": {"file": f"network.{format}", "network": network}, **common}


def critic_block(options: Any, format: str) -> dict[str, Any]:
    """The same of critics from elsewhere; weights are in our layout now, and under our own names."""

    def network(said: Any) -> dict[str, Any]:
        return {**as_data(said.form), "layout": "in_out"}

    q = {"file": f"network.{format}", "network": network(options.q.network)}
    q |= {} if options.q.critics is None else {"critics": as_data(options.q.critics)}
    others = {name: part for name in ("actor", "v") if (part := getattr(options, name)) is not None}
    parts = {name: as_data(dataclasses.replace(part, file=None)) for name, part in others.items()}
    for name, part in others.items():
        parts[name] |= {} if part.network is None else {"network": network(part.network)}
    listed = {} if options.actions is None else {"actions": list(options.actions)}
    return {"kind": "external", "q": q, **parts, **listed, "discount": options.discount}


def network_block(agent: Result, experiment: ExperimentSpec, space: ContinuousSpace) -> dict[str, Any]:
    """The architecture behind stored weights, which are under our own names, [inputs, outputs]."""
    if "network" in agent.data:  # itself from elsewhere; its weights were put in our order when they were read
        given = {key: value for key, value in agent.data["network"].items() if value is not None}
        return {**given, "layout": "in_out"}
    own = experiment.agent.options.network
    network = {key: as_data(getattr(own, key)) for key in SHARED} | {
        "epsilon": EPSILON,
        "observation": list(space.names),
    }
    if own.goal == "input":
        columns = goal_points(experiment.goals, space).columns
        network["wanted"] = [space.everything[column].name for column in columns]
    return network


# --- what goes into an extracted model of a continuous world, and what comes out of it --------------------------------

READS = {
    "raw": "as it is",
    "normalised": "2 (x - low) / (high - low) - 1, by its range",
    "sincos": "2 (x - low) / (high - low) - 1, by its range; of a variable that wraps, sine and cosine of π times that",
}


# Where changes are not in spans of the variables:
UNSCALED = ("span * change, where span = high - low of each variable", "change")


def model_block(model: dict[str, Any], space: FiniteSpace | ContinuousSpace) -> dict[str, Any]:
    """A model's form, with the columns of its inputs and outputs where it is one of a continuous world."""
    if isinstance(space, FiniteSpace):
        return model
    change = "next state = state + span * change, where span = high - low of each variable; then wrapped where it wraps"
    if model["form"] == "grid":
        axes = f"the last variable fastest: {', '.join(space.names)}; then actions; then the change of each variable"
        grid = {
            name: [*variable.scale, model["points"]]
            for name, variable in zip(space.names, space.variables, strict=True)
        }
        return {**model, "grid": grid, "change": {"axes": axes, "meaning": change}}
    options = model["options"]
    additive = options["family"] == "additive"
    inputs = [column for variable in space.variables for column in read_as(variable, options["encoding"])]
    acted = [f"action {name}" for name in space.actions]
    action = "a row of action.weight, added to the outputs" if additive else "1 for the action taken, 0 for others"
    if space.in_box:
        acted = list(space.controls)
        fraction = "each component as 2 (x - low) / (high - low) - 1, by its range"
        action = f"{fraction}; times action.weight, added to the outputs" if additive else fraction
    outputs = [f"change of {name}" for name in space.names]
    if options["family"] == "gaussian":
        outputs += [f"log standard deviation of {name}, less log init_sd, in spans" for name in space.names]
    return {
        **model,
        "inputs": inputs if additive else inputs + acted,
        "encoding": READS[options["encoding"]],
        "action": action,
        "outputs": outputs,
        "meaning": (change if options["scale"] == "range" else change.replace(*UNSCALED))
        + (" and held at its bounds" if options["bounded"] else ""),
        "arithmetic": arithmetic(options),
        **rates(options),
    }


def rates(options: dict[str, Any]) -> dict[str, Any]:
    """How variables move that have a rate, whatever the outputs say of them."""
    spans = " * span(variable) / span(rate)" if options["scale"] == "range" else ""
    settled = ", itself wrapped where it wraps" + (" and held at its bounds" if options["bounded"] else "")
    moves = f"next variable = variable + rate.weight[i]{spans} * next rate{settled}, the i-th pair"
    return {"rates": {"pairs": options["rates"], "meaning": moves}} if options["rates"] else {}


def read_as(variable: Variable, encoding: str) -> list[str]:
    circle = encoding == "sincos" and variable.periodic
    return [f"sine of {variable.name}", f"cosine of {variable.name}"] if circle else [variable.name]


def arithmetic(options: dict[str, Any]) -> str:
    """How weights and inputs make outputs, in words."""
    if options["family"] == "affine":
        return "inputs @ output.weight + output.bias"
    norm = ", normalised over its units (epsilon 1e-6) times scale plus shift" if options["norm"] == "layer" else ""
    layers = f"{options['depth']} times {options['activation']}(x @ layerN.weight + layerN.bias{norm})"
    skip = " + inputs @ skip.weight" if options["skip"] else ""
    return f"{layers}, then x @ output.weight + output.bias{skip}"
