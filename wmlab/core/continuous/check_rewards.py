"""What can be wrong with rewards written as expressions of named variables.

Shapes: G goals, n states.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from wmlab import expressions
from wmlab.core.continuous.conditions import program
from wmlab.core.continuous.points import Points
from wmlab.core.continuous.probes import place, probes
from wmlab.core.continuous.space import ContinuousSpace
from wmlab.expressions.findings import NO_VALUE, expression_findings, name_clashes, text_of
from wmlab.registry import Finding, Scope, rewards
from wmlab.rewards.expression import paths_of

MOST = 64  # goals that are tried


def check_payments(reward: Mapping[str, Any], points: Points, scope: Scope) -> Iterator[Finding]:
    """Expressions of known variables, with a value everywhere, and within the limits that a bounded network is told."""
    space, options = scope.space, rewards["expression"].build(reward)
    known = names_of_states(scope)
    wrong = list(name_clashes(scope.let, [each.name for each in space.everything], ("reward", "pays")))
    for path, payment in paths_of(options):
        wrong += expression_findings(payment, known, ("reward", *path), allow_goal=points.common(space))
    yield from wrong
    output = ((scope.experiment.get("agent") or {}).get("network") or {}).get("output")
    if options.limits is None and output == "bounded":
        message = "a bounded network has to know the least and the greatest reward"
        yield Finding(("reward", "limits"), message, "say limits: [least, greatest], or network.output: linear")
    for path, payment in () if wrong else paths_of(options):
        yield from _check_values(text_of(payment), ("reward", *path), options.limits, points, space)


def names_of_states(scope: Scope) -> dict[str, expressions.Type]:
    """Names in an expression of states; those under `let` have their values in its text, and are here for hints."""
    return dict.fromkeys([*scope.let, *(variable.name for variable in scope.space.everything)], "number")


def _check_values(
    text: str, path: tuple[str, ...], limits: tuple[float, ...] | None, points: Points, space: ContinuousSpace
) -> Iterator[Finding]:
    """What an expression pays in states all over the ranges, and where its goals are."""
    states = np.concatenate([probes(space), _at_goals(points, space)])
    env, names = space.named(states), tuple(variable.name for variable in space.everything)
    for position, column in enumerate(points.columns):
        wanted = points.values[:MOST, position, None].astype(np.float32)
        env[expressions.goal_name(space.everything[column].name)] = wanted
    with np.errstate(all="ignore"):
        pays = np.asarray(program(text, names, "number", points.common(space))(np, env))
    paid = np.broadcast_to(pays, (min(len(points.labels), MOST), len(states)))
    missing = np.argwhere(~np.isfinite(paid))
    if len(missing):
        goal, state = missing[0]
        asked = f" for the goal {points.labels[goal]}" if points.columns else ""
        yield Finding(path, f"has no value{asked} at {place(space, states[state])}", NO_VALUE)
    elif limits is not None:
        low, high = limits
        slack = 1e-6 * max(high - low, abs(low), abs(high))
        for value in (float(paid.min()), float(paid.max())):
            if not low - slack <= value <= high + slack:
                yield Finding(path, f"pays {value:g} somewhere, outside the limits [{low:g}, {high:g}]")


def _at_goals(points: Points, space: ContinuousSpace) -> np.ndarray:
    """A state for each goal that asks for state variables, with the others in the middle [G, d]."""
    middle = [sum(variable.scale) / 2 for variable in space.variables]
    states = np.tile(np.array(middle, np.float32), (min(len(points.labels), MOST), 1))
    for position, column in enumerate(points.columns):
        if column < space.size:
            asked = points.asked[:MOST, position]
            states[asked, column] = points.values[:MOST][asked, position]
    return states
