"""What a spec declares of its world: finite or not, how large, deterministic or not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, Literal

from wmlab.registry import mdps, truth_is_known, world_of

Family = Literal["finite", "continuous", "unknown"]
CONTINUOUS = ("gymnax", "dynamics")


@dataclass(frozen=True)
class WorldFacts:
    """The world as declared."""

    kind: str
    family: Family
    space: Any  # of the world's kind; None where it cannot be told
    states: int | None  # of a finite world
    actions: int | None
    dimension: int | None  # of the state: of a continuous world, or of a map
    box: tuple[tuple[float, float], ...] | None  # the range of each variable, where all are bounded
    deterministic: bool | None  # None: not declared
    successors: int | None  # how many a state and action may have at most, of a finite world
    generic: bool  # drawn from a density over kernels


def world_facts(mdp: Mapping[str, Any]) -> WorldFacts:
    """From a spec's resolved `mdp`."""
    name = mdp["kind"]
    known = name in mdps
    kind = mdps[name] if known else None
    space = kind.traits["space"](kind.build(mdp)) if kind is not None and "space" in kind.traits else None
    family = family_of(mdp)
    finite = family == "finite"
    most = successors_of(mdp, space) if finite else None
    return WorldFacts(
        kind=name,
        family=family,
        space=space,
        states=space.size if finite and space is not None else None,
        actions=len(space.actions) if space is not None else None,
        dimension=dimension_of(mdp, space, finite),
        box=None if finite else box_of(mdp, space),
        deterministic=is_deterministic(mdp, most),
        successors=most,
        generic=name == "random" and mdp.get("branching") is None and mdp.get("local") is None,
    )


def family_of(mdp: Mapping[str, Any]) -> Family:
    if mdp["kind"] not in mdps:
        return "continuous" if mdp["kind"] in CONTINUOUS else "unknown"
    if not truth_is_known(mdp):
        return "unknown"
    return "finite" if world_of(mdp) == "finite" else "continuous"


def dimension_of(mdp: Mapping[str, Any], space: Any, finite: bool) -> int | None:
    if finite:
        return 2 if getattr(space, "cells", None) is not None else None
    if space is not None:
        return int(space.size)
    return len(mdp["state"]) if isinstance(mdp.get("state"), Mapping) else None


def box_of(mdp: Mapping[str, Any], space: Any) -> tuple[tuple[float, float], ...] | None:
    """The ranges of the state variables; None where one of them has none."""
    if space is not None and hasattr(space, "variables"):
        ranges = [(variable.low, variable.high) if variable.bounded else None for variable in space.variables]
    else:
        declared = mdp.get("state")
        ranges = [range_of(one) for one in declared.values()] if isinstance(declared, Mapping) else [None]
    return None if any(one is None for one in ranges) else tuple(one for one in ranges if one is not None)


def range_of(variable: Any) -> tuple[float, float] | None:
    """A variable's range as a spec writes it."""
    ends = variable.get("range") if isinstance(variable, Mapping) else None
    return (float(ends[0]), float(ends[1])) if isinstance(ends, (list, tuple)) and len(ends) == 2 else None


def is_deterministic(mdp: Mapping[str, Any], most: int | None) -> bool | None:
    """Whether every action leads to one state, as declared; None where nothing is declared."""
    if most is not None:
        return most == 1
    if mdp["kind"] == "gymnax":
        return True
    return not mdp.get("noise") if mdp["kind"] == "dynamics" else None


def successors_of(mdp: Mapping[str, Any], space: Any) -> int | None:
    """The most successors that a state and an action have, as a finite world's options say."""
    if mdp["kind"] == "gridworld":
        slip = mdp.get("slip") or {"straight": 1}
        landings = [landing_size(jump["to"], space) for jump in mdp.get("teleports") or ()]
        return max([sum(chance > 0 for chance in slip.values()), *landings])
    if mdp["kind"] == "tabular":
        table = mdp.get("transitions")
        if not isinstance(table, Mapping):
            return None
        return max(outcomes(outcome) for row in table.values() for outcome in row.values())
    if mdp["kind"] == "dynamics":
        return outcomes_of_chance(mdp)
    if mdp["kind"] == "random":
        return int(mdp.get("branching") or mdp.get("local") or mdp["states"])
    return None


def outcomes_of_chance(mdp: Mapping[str, Any]) -> int:
    """How many combinations of noise a step may meet, in a world of whole numbers."""
    from wmlab.mdps.dynamics.finite import outcomes_of

    return prod(len(outcomes_of(noise)[0]) for noise in mdps["dynamics"].build(mdp).noise.values())


def landing_size(to: Any, space: Any) -> int:
    """How many cells a teleport leads to."""
    from wmlab.mdps.gridworld import cells_of

    return len(cells_of(to, space))


def outcomes(outcome: Any) -> int:
    return 1 if isinstance(outcome, str) else sum(chance != 0 for chance in outcome.values())
