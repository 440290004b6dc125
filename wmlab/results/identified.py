"""Whether values tell next states apart in a continuous world, and which claims rest on what they do not tell."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from wmlab.registry.metrics import find
from wmlab.results.point_facts import PointFacts, Sign, mean_number, percent, shown

LITTLE = 0.5  # of a variable: what is told of less than this is named


def lacking(facts: PointFacts) -> tuple[int, int] | None:
    """How many directions of a next state values tell apart, and of how many, where that is not all of them."""
    rank = facts.metric("ident.local_rank")
    if rank is None or facts.experiment.mdp.sort == "finite":
        return None
    size = int(facts.experiment.mdp.space.size)
    return (math.floor(rank), size) if rank < size else None  # where seeds differ, of the one that determines less


def not_identified(facts: PointFacts) -> Iterator[Sign]:
    """Slopes of M that leave directions of a next state open: what the model says there is not the agent's word."""
    directions = lacking(facts)
    if directions is None:
        return
    rank, size = directions
    left = size - rank
    count = "one" if left == 1 else f"{left}"
    sentence = (
        f"The model may be wrong: the values determine {rank} of {size} directions of a next state "
        f"(ident.local_rank). These values cannot tell next states apart that differ in the other {count}"
        f"{named(facts)}; there the model is what the fit started from, or what its form makes of the rest. "
        f"Goals that pay for other variables would tell."
    )
    yield Sign("not_identified", "doubtful", sentence, left / size)


def named(facts: PointFacts) -> str:
    """The variables of which least is told, in words."""
    each = [(said.get("metrics") or {}).get("ident.local_share") or {} for said in facts.identified]
    told = [(one.get("by") or {}).get("dimension") or {} for one in each]
    shares = {name: mean_number(iter(told))(name) for one in told[:1] for name in one}
    little = sorted((share, name) for name, share in shares.items() if share is not None and share < LITTLE)
    if not little:
        return ""
    return ", least of all in " + ", ".join(f"{name} ({percent(share)} of it is told)" for share, name in little)


def is_of_the_model(metric: str) -> bool:
    """Whether a metric speaks of the extracted model, and not of the agent's values or of how well they are fitted."""
    declared = find(metric)
    if declared is None:
        return False
    measurement = declared[0]
    if measurement.stage == "plan":
        return not (metric.endswith(".r_star") or ".free_peak." in metric)
    return measurement.stage == "compare" or (measurement.model and measurement.asked_by != "evaluate.fit")


def marked(claims: Sequence[dict[str, Any]], facts: Sequence[PointFacts]) -> list[dict[str, Any]]:
    """Claims, those on a model that values do not determine marked with how much they do."""
    open_at = [(point.where, found) for point in facts if (found := lacking(point)) is not None]
    return [claim | mark_of(claim, open_at) for claim in claims]


def mark_of(claim: Mapping[str, Any], open_at: Sequence[tuple[Mapping[str, Any], tuple[int, int]]]) -> dict[str, Any]:
    """{"not_identified": words} of a claim on a model, at the point where least is determined; else nothing."""
    if not open_at or not is_of_the_model(claim["metric"]):
        return {}
    places = [case["where"] for case in claim["cases"]]
    found = [each for where, each in open_at if any(place.items() <= where.items() for place in places)]
    if not found:
        return {}
    rank, size = min(found)
    return {"not_identified": f"not identified: the values determine {shown(rank)} of {shown(size)} directions"}
