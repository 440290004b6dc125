"""Claims: what a spec expects of its results, and whether it was found.

A claim is tested in cases: one for each point, checkpoint and (with `each_seed`) seed that it speaks of. It holds when
there is a case and every case holds. A case in which a seed failed or a number is missing does not hold, whatever the
other seeds say: nothing is true for want of a measurement. Bounds are inclusive.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wmlab.errors import WmlabError
from wmlab.registry import as_data
from wmlab.results.cases import Case, ClaimContext, absent, cases_of, parts_of
from wmlab.results.names import (
    Entries,
    Where,
    at_step,
    estimate,
    failed_seeds,
    find,
    part_of,
    point_text,
    spans_points,
    steps_of,
)
from wmlab.results.samples import sample_of, spelt
from wmlab.results.statistics import interval_over_seeds
from wmlab.sections.spec import BoundOption, Claim, ClaimBound


@dataclass(frozen=True)
class Reading:
    """A number, or why there is none; both when it was taken over the seeds that are left."""

    value: float | None
    reason: str | None = None


def evaluate_claims(claims: Mapping[str, Claim], metrics: Entries, context: ClaimContext) -> list[dict[str, Any]]:
    """Every claim with what was measured, its bound, all its cases and the verdict; `holds` is None without a test."""
    return [_claim(name, claim, metrics, context) for name, claim in claims.items()]


def _claim(name: str, claim: Claim, metrics: Entries, context: ClaimContext) -> dict[str, Any]:
    tests = {test: as_data(bound) for test, bound in claim.tests.items()}
    if len(tests) > 1:
        raise WmlabError(f"claims.{name}: has {' and '.join(tests)}; a claim has one test")
    test = next(iter(tests), None)
    cases = [_tested(claim, test, case, metrics, context) for case in cases_of(claim, metrics, context)]
    reasons = [*absent(claim, context), *(case["reason"] for case in cases if "reason" in case)]
    if not cases:
        reasons.append("no case: nothing was measured where the claim speaks of")
    worst = _worst(cases, test, claim)
    judged: dict[str, Any] = {
        "id": name,
        "metric": claim.metric,
        **({"by": claim.by} if claim.by else {}),
        "where": claim.where,
        **({"across": list(claim.across)} if claim.across else {}),
        **({"difference": as_data(claim.difference)} if claim.difference else {}),
        "statistic": claim.statistic,
        "paper": claim.paper,
        **({"paper_interval": list(claim.paper_interval)} if claim.paper_interval else {}),
        "source": claim.source,
        "test": {**tests, **({"within": claim.within} if test == "equals" else {})} or None,
        "measured": worst["measured"] if worst else None,
        "bound": worst["bound"] if worst else None,
        "cases": cases,
        "holds": (not reasons and all(case["holds"] for case in cases)) if test else None,
    }
    if reasons:
        judged["reason"] = reasons[0] + (f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else "")
    return judged


# --- one case ----------------------------------------------------------------------------------------------------


def _tested(claim: Claim, test: str | None, case: Case, metrics: Entries, context: ClaimContext) -> dict[str, Any]:
    measured = _measured(claim, case, metrics, context)
    asked: Sequence[BoundOption] = (
        claim.between or () if test == "between" else [getattr(claim, test) if test else None]
    )
    bounds = [_bound(one, claim, case, metrics, context) for one in asked]
    values = [bound.value for bound in bounds]
    excess = _excess(test, measured.value, values, claim.within) if test else None
    reasons = [reading.reason for reading in (measured, *bounds) if reading.reason] if test or measured.reason else []
    tested: dict[str, Any] = {
        "where": dict(case.where),
        **({"by": dict([case.part])} if case.part else {}),
        "step": case.step,
        "seed": None if case.seed is None else context.seeds[case.seed],
        "measured": measured.value,
        "bound": values if test == "between" else values[0],
        "holds": (excess is not None and excess <= 0 and not reasons) if test else None,
    }
    if reasons:
        tested["reason"] = reasons[0]
    return tested


def _measured(claim: Claim, case: Case, metrics: Entries, context: ClaimContext) -> Reading:
    """What a claim tests in a case."""
    if not claim.of_runs:
        return _read(claim.metric, case, claim.statistic, metrics, context)
    sample = sample_of(claim, case, metrics, context)
    value = sample.statistic(claim.statistic, case.seed)
    lacking = None if _is_number(value) else f"{claim.metric} has no {claim.statistic}"
    return Reading(value, sample.reason or lacking)


def _read(metric: str, case: Case, statistic: str, metrics: Entries, context: ClaimContext) -> Reading:
    """A metric in a case; a number over fewer seeds than there are comes with the reason why it proves nothing."""
    entry = find(metrics, metric, case.where)
    at = "" if spans_points(metric) or not case.where else f" at {point_text(case.where)}"
    if entry is None:
        return Reading(None, f"no value of {metric}{at}")
    if case.part is not None:
        metric = f"{metric} of {' '.join(case.part)}"
        entry = part_of(entry, case.part)
        if entry is None:
            return Reading(None, f"no value of {metric}{at}")
    read = at_step(entry, case.step)
    if read is None:
        return Reading(None, f"{metric}{at} has no checkpoint '{case.step}'")
    if case.seed is not None:
        values = read.get("values", ())
        value = values[case.seed] if case.seed < len(values) else None
        return Reading(value, None if _is_number(value) else f"seed {context.seeds[case.seed]} gave no {metric}{at}")
    value = _statistic(read, statistic)
    if read.get("incomplete"):
        return Reading(value, f"{metric} is incomplete: {read['incomplete'][0]}")
    if failed_seeds(read):
        return Reading(value, f"{failed_seeds(read)} of {len(read['values'])} seeds gave no {metric}{at}")
    return Reading(value, None if _is_number(value) else f"{metric}{at} has no {statistic}")


def _statistic(read: Mapping[str, Any], statistic: str) -> float | None:
    if statistic == "mean":
        return estimate(read)
    interval = read["ci"] if "ci" in read else interval_over_seeds(read.get("values", ()))
    if not interval:
        return None
    return interval[0] if statistic == "ci_low" else interval[1]


def _bound(asked: BoundOption, claim: Claim, case: Case, metrics: Entries, context: ClaimContext) -> Reading:
    """A bound at a case: a number, an expression, or another result at the same point, checkpoint and seed."""
    if not isinstance(asked, ClaimBound):
        return Reading(None if asked is None else _constant(asked, case.where, context))
    metric = asked.metric or claim.metric
    changed = dict(asked.where or {})
    step = changed.pop("step", None)
    where: Where = {**case.where, **changed}
    where = spelt(where, context)
    entry = find(metrics, metric, where)
    if step is None:
        # A result without checkpoints (the true world's, say) is the same at each of them.
        step = case.step if entry is None or steps_of(entry) else "final"
    part = case.part if asked.by is None else parts_of(asked.by, entry)[0]
    statistic = "mean" if case.seed is None else "each_seed"  # the ends of an interval are held against a mean
    read = _read(metric, Case(where, step, case.seed, part), statistic, metrics, context)
    times, plus = (_constant(one, case.where, context) for one in (asked.times, asked.plus))
    return Reading(None if read.value is None else times * read.value + plus, read.reason)


def _constant(asked: float | str, where: Where, context: ClaimContext) -> float:
    return context.evaluate(asked, where) if isinstance(asked, str) else asked


def _is_number(value: Any) -> bool:
    return value is not None and not math.isnan(value)


def _excess(test: str | None, measured: float | None, bounds: Sequence[float | None], within: float) -> float | None:
    """How far beyond its bound a measurement lies, at most 0 when it holds; None when there is no telling."""
    if measured is None or not _is_number(measured) or not all(_is_number(bound) for bound in bounds):
        return None
    numbers = [bound for bound in bounds if bound is not None]
    if test == "between":
        return max(_over(numbers[0], measured), _over(measured, numbers[1]))
    if test == "equals":
        return max(_over(measured, numbers[0]), _over(numbers[0], measured)) - within
    return _over(measured, numbers[0]) if test == "at_most" else _over(numbers[0], measured)


def _over(one: float, other: float) -> float:
    return 0.0 if one == other else one - other  # infinity is no more than infinity


def _worst(cases: Sequence[dict[str, Any]], test: str | None, claim: Claim) -> dict[str, Any] | None:
    """The case that lies furthest beyond its bound, or nearest to it. Without a test, the only case."""
    if test is None:
        return cases[0] if len(cases) == 1 else None

    def excess(case: dict[str, Any]) -> float:
        bounds = case["bound"] if test == "between" else [case["bound"]]
        beyond = _excess(test, case["measured"], bounds, claim.within)
        return -math.inf if beyond is None else beyond

    return max(cases, key=excess, default=None)
