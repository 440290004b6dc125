"""What a study has not run yet: points and seeds that are missing, and claims that cannot be told before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from wmlab.results.names import Where, point_text, same_label, spans_points

NOT_RUN = "not run yet"


def missing_runs(failures: Sequence[Mapping[str, Any]], runs: Sequence[tuple[Where, int]]) -> list[dict[str, Any]]:
    """Each point that has not been run as a whole, with the seeds that are missing; `runs` are all points and seeds.

    `failures` are those of results.json, each met at the first run that needs it: a stage that several runs share is
    told once, so that a run is missing where it has a stage of its own that is.
    """
    lost = {(point_text(row["where"]), row["seed"]) for row in failures if row["state"] == "not run"}
    rows: dict[str, dict[str, Any]] = {}
    for where, seed in runs:
        if (point_text(where), seed) in lost:
            rows.setdefault(point_text(where), {"where": dict(where), "seeds": []})["seeds"].append(seed)
    return list(rows.values())


def left_open(
    claims: Sequence[dict[str, Any]], missing: Sequence[Mapping[str, Any]], failed: Sequence[Where]
) -> list[dict[str, Any]]:
    """Claims, of which those are open that lack nothing but what has not been run; they neither hold nor fail."""
    if not missing:
        return list(claims)
    points = [row["where"] for row in missing]
    return [_opened(claim, points, failed) if claim["holds"] is False else claim for claim in claims]


def _opened(claim: dict[str, Any], missing: Sequence[Where], failed: Sequence[Where]) -> dict[str, Any]:
    cases = [
        {**case, "holds": None} if not case["holds"] and _waits(claim, case, missing, failed) else case
        for case in claim["cases"]
    ]
    if any(case["holds"] is False for case in cases) or not any(case["holds"] is None for case in cases):
        return claim
    return {**claim, "cases": cases, "holds": None, "open": True}


def _waits(
    claim: Mapping[str, Any], case: Mapping[str, Any], missing: Sequence[Where], failed: Sequence[Where]
) -> bool:
    """Whether a case has no answer because of points that were not run, and of none that failed."""
    if "reason" not in case:
        return False
    at = {} if spans_points(claim["metric"]) or _asks_elsewhere(claim) else case["where"]

    def concerns(point: Where) -> bool:
        return all(same_label(point[axis], label) for axis, label in at.items() if axis in point)

    return any(concerns(point) for point in missing) and not any(concerns(point) for point in failed)


def _asks_elsewhere(claim: Mapping[str, Any]) -> bool:
    """Whether a claim holds a point against others."""
    bounds = (claim.get("test") or {}).values()
    elsewhere = any(isinstance(bound, Mapping) and bound.get("where") for bound in bounds)
    return bool(claim.get("across") or claim.get("difference") or elsewhere)
