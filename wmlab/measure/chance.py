"""How far chance bends an agent's values: what their errors must stay below for a spread to be read out of them.

A value is a mean over next states. It follows their mean in proportion, and their spread s only by how far it bends:
½ s² M'', where M = r + γ V. Of a Gaussian goal of width w that is ½ s² / w² near the goal, and less on average over a
range L: |r''| is then 4 exp(-½) / (w L) along one variable, and r is √(2π) w / L along each other one that it names.
Where s is not small against w, s² / (s² + w²) stands for s² / w²: a reward cannot bend by more than it is.
It is a scale and no bound: where the world drives nearby states apart, later rewards bend further than the next one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from wmlab.core.continuous.points import goal_points
from wmlab.core.continuous.space import ContinuousSpace
from wmlab.sections.experiment import ExperimentSpec

LEARNT = 3e-3  # TD errors of networks that were trained here are above it, for goals that pay 1: Reacher's is 0.0038
ROUND, LEVEL = 4 * math.exp(-0.5), math.sqrt(2 * math.pi)  # ∫ |φ''| and ∫ φ, of φ(u) = exp(-u²/2)


@dataclass(frozen=True)
class Bend:
    """What the spread of next states does to the values of Gaussian goals, mean over states and goals."""

    variable: str  # the one along which it does most
    spread: float  # of its next value by chance: a standard deviation
    width: float  # of the goals along it
    least: float  # by how much it changes the reward of the next state
    most: float  # and a value, if every later reward bends as far: `least` over 1 - γ


def bend(experiment: ExperimentSpec) -> Bend | None:
    """How far chance bends values; None where nothing is left to it, or rewards are not Gaussian."""
    mdp, goals, discount = experiment.mdp, experiment.goals, experiment.agent.options.discount
    if mdp.sort != "continuous" or not mdp.knows_truth or goals.reward.traits.pays_like != "gaussian" or not discount:
        return None
    spreads = mdp.traits.spread(mdp.options, mdp.space)
    widths = widths_of(goals.reward.traits.width(goals.reward.options), goal_points(goals, mdp.space).names(mdp.space))
    parts = {name: bent(name, spreads[name], widths, mdp.space) for name in widths if spreads.get(name, 0.0) > 0}
    if not parts:
        return None
    name = max(parts, key=lambda each: parts[each])
    least = sum(parts.values())
    return Bend(name, spreads[name], widths[name], least, least / (1.0 - discount))


def widths_of(width: Any, names: list[str]) -> dict[str, float]:
    """The width of goals along each variable that they name."""
    return {name: float(width[name] if isinstance(width, Mapping) else width) for name in names}


def bent(name: str, spread: float, widths: Mapping[str, float], space: ContinuousSpace) -> float:
    """How much a spread along one variable changes rewards on average over the ranges."""
    share = 0.5 * spread**2 / (spread**2 + widths[name] ** 2) * part(ROUND, name, widths, space)
    return share * math.prod(part(LEVEL, other, widths, space) for other in widths if other != name)


def part(area: float, name: str, widths: Mapping[str, float], space: ContinuousSpace) -> float:
    """How much of a range goals take up along a variable, by the area under a curve of width 1."""
    low, high = space.everything[space.column(name)].scale
    return min(1.0, area * widths[name] / (high - low))


def too_fine(bend: Bend, values: str) -> bool:
    """Whether a spread is too small to be seen in values that are learnt, as far as one can say beforehand."""
    return values == "learnt" and bend.most < LEARNT


def unseen(bend: Bend) -> str:
    """That a spread will not be seen, and what it would take."""
    return (
        f"chance is too small to be seen: it spreads {bend.variable} by {bend.spread:.2g}, beside goals that are "
        f"{bend.width:.2g} wide. Values change with its square: by about {bend.least:.1g} for the next reward and "
        f"{bend.most:.1g} with all later ones, on average. Learnt values must fit themselves better than that: an "
        f"agent.td_error (evaluate.fit) below {bend.most:.1g} is needed, and those of networks here are above "
        f"{LEARNT:g}. Narrower goals, or exact values, would show it"
    )


def hidden(bend: Bend, error: float) -> str:
    """That a spread is not to be seen, by an agent's TD error; empty where it may be."""
    if error <= bend.most:
        return ""
    return (
        f"The spread of next states cannot be read out of these values: chance spreads {bend.variable} by "
        f"{bend.spread:.2g}, beside goals that are {bend.width:.2g} wide, which changes values by about "
        f"{bend.most:.1g}, and they contradict themselves by more (agent.td_error is {error:.2g})."
    )


def compared(bend: Bend, error: float) -> str:
    """The same, or that a spread may be seen."""
    return hidden(bend, error) or (
        f"Values contradict themselves by {error:.2g} (agent.td_error), and chance changes them by {bend.least:.1g} to "
        f"{bend.most:.1g}: the spread of next states may be read out."
    )
