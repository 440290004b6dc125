"""identify: how much of the world the agent's values pin down."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from wmlab.core.finite.view import FiniteView
from wmlab.extraction.options import Prior, candidates_of
from wmlab.identify import bounds, rank, width
from wmlab.measure.finite.errors import value_error
from wmlab.registry import build
from wmlab.runtime.result import Result
from wmlab.stages.finite.records import load_view, space_of, world_of


def run(params: Mapping[str, Any], inputs: Mapping[str, Result], context: Any) -> Result:
    asked = params["identify"]
    space = space_of(params["mdp"])
    prior = build(Prior, params["prior"]) if params["prior"] else None
    view = load_view(inputs["agent"], space, candidates_of(prior, space))
    found = rank.rank(view, asked["rank_tolerance"])
    metrics: dict[str, Any] = {
        f"ident.{name}": {"value": getattr(found, name)} for name in ("rank", "nullity", "simplex_nullity", "sigma_min")
    }
    goals = len(inputs["agent"].data["goals"])
    metrics["ident.least_rank"] = {"value": rank.least_rank(view, goals, asked["rank_tolerance"])}
    metrics["ident.sigma_min"]["by"] = {  # how M is conditioned, and by how much its inverse may magnify errors
        "sigma_max": found.sigma_max,
        "condition": found.sigma_max / found.sigma_min if found.sigma_min > 0 else None,
        "inverse_norm": found.inverse_norm,
    }
    metrics["ident.gap"] = {"value": rank.gap(view)}
    arrays = {}
    if "width" in asked:
        interval = width.identified_set(view, asked["width"]["slack"])
        metrics["ident.width"] = {"value": interval.width}
        arrays = {"low": interval.low, "high": interval.high, "candidates": interval.candidates}
    if asked["bounds"]:
        metrics |= theorem_bounds(view, params, asked)
    return Result(arrays, {"metrics": metrics})


def theorem_bounds(view: FiniteView, params: Mapping[str, Any], asked: Mapping[str, Any]) -> dict[str, Any]:
    """The theorems' bounds, at the distance between these values and the exact ones of the same policy."""
    world = world_of(params["mdp"], params.get("seed", 0))
    epsilon = value_error(view, world.kernel)["q.l1_max"]["value"]
    found: dict[str, Any] = {}
    for name in asked["bounds"]:
        bound = (
            bounds.theorem_2b(view)
            if name == "theorem_2b"
            else bounds.theorem_3c(view, epsilon, asked["rank_tolerance"])
        )
        parts = {"by": dataclasses.asdict(bound)["parts"]}
        found |= {f"bound.{name}.upper": {"value": bound.upper, **parts}, f"bound.{name}.lower": {"value": bound.lower}}
    return found
