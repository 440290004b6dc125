"""What a claim tests, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from wmlab.report.data import Results
from wmlab.report.text import compact, finite, number, plural, point, stated

SIGNS = {"at_most": "≤", "at_least": "≥", "equals": "=", "between": "between"}


def words(claim: Mapping[str, Any], results: Results) -> str:
    """What a claim tests: wm.mse at goals = 20, mean over 3 seeds ≤ 0.5 × wm.mse at goals = 5."""
    where = {axis: at for axis, at in (claim.get("where") or {}).items() if axis != "step"}
    text = str(claim.get("metric", "")) + part_text(claim.get("by"))
    if where:
        text += " at " + ", ".join(_place(axis, where[axis]) for axis in sorted(where))
    if claim.get("across"):
        text += f", all {' and '.join(claim['across'])} together"
    if claim.get("difference"):
        to = claim["difference"]["to"]
        text += " less that at " + ", ".join(_place(axis, to[axis]) for axis in sorted(to))
    details = [step_text((claim.get("where") or {}).get("step", "final")), _statistic(claim, results)]
    text = ", ".join([text, *(detail for detail in details if detail)])
    operator, asked = operator_of(claim)
    if not operator:
        return text
    bound = claim.get("bound")
    if operator == "between":
        low, high = bound if isinstance(bound, Sequence) and len(bound) == 2 else (None, None)
        return f"{text} between {stated(low)} and {stated(high)}"
    within = claim["test"].get("within") if isinstance(claim["test"], Mapping) else None
    slack = f" to within {stated(within)}" if within else ""
    return f"{text} {SIGNS.get(operator, operator)}\u00a0{_bound(asked, bound, claim)}{slack}"


def part_text(by: Mapping[str, Any] | None) -> str:
    """The part of a metric that a claim speaks of: ' of dimension velocity'; nothing of the whole."""
    if not by:
        return ""
    ((name, wanted),) = by.items()
    if wanted == "all":
        return f" of every {name}"
    labels = [wanted] if isinstance(wanted, str) else wanted
    return f" of {name} " + " and ".join(map(str, labels))


def operator_of(claim: Mapping[str, Any]) -> tuple[str | None, Any]:
    """The test's name and its bound as the spec words it; (None, None) for a claim that is only shown."""
    test = claim.get("test")
    if isinstance(test, Mapping):
        for operator in SIGNS:
            if operator in test:
                return operator, test[operator]
        return None, None
    return (str(test), None) if test else (None, None)


def _bound(asked: Any, bound: Any, claim: Mapping[str, Any]) -> str:
    if isinstance(asked, Mapping):
        times = "" if asked.get("times") in (None, 1) else f"{stated(asked['times'])} × "
        where = dict(asked.get("where") or {})
        step = step_text(where.pop("step", "final"))
        place = ", ".join(part for part in (point(where), f"the {step}" if step else "") if part)
        text = f"{times}{asked.get('metric') or claim.get('metric', '')}{part_text(asked.get('by', claim.get('by')))}"
        text += f" at {place}" if place else ""
        text += "" if asked.get("plus") in (None, 0) else f" + {stated(asked['plus'])}"
        return f"{text} (here {number(bound)})" if finite(bound) else text
    if isinstance(asked, str):
        return f"{asked} (here {number(bound)})" if finite(bound) else asked
    return stated(bound if bound is not None else asked)


def _place(axis: str, at: Any) -> str:
    if at == "all":
        return f"every value of {axis}"
    if isinstance(at, Sequence) and not isinstance(at, str):
        return f"{axis} = " + " and ".join(compact(label) for label in at)
    return f"{axis} = {compact(at)}"


def step_text(step: Any) -> str:
    named = {"final": "", "first": "first checkpoint", "all": "every checkpoint"}
    return named.get(str(step), f"checkpoint {compact(step)}")


def _statistic(claim: Mapping[str, Any], results: Results) -> str:
    seeds = len(results.get("seeds") or ())
    statistic = claim.get("statistic") or "mean"
    if statistic == "mean":
        if str(claim.get("metric", "")).startswith("relate."):
            return ""
        return f"mean over {plural(seeds, 'seed')}" if seeds > 1 else "one seed" if seeds else "mean"
    each = "each seed" if seeds != 1 else "one seed"
    named = {
        "each_seed": each,
        "ci_low": "lower end of its interval",
        "ci_high": "upper end of its interval",
        "iqm": "inter-quartile mean",
        "iqm_ci_low": "lower end of the inter-quartile mean's interval",
        "iqm_ci_high": "upper end of the inter-quartile mean's interval",
        "p_value": "p-value by sign flips",
    }
    return named.get(str(statistic), str(statistic))
