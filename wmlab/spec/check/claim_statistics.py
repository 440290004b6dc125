"""Statistics of claims: whether what a claim is of has such a number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from wmlab.errors import SpecError
from wmlab.spec.check.claim_scope import ClaimScope
from wmlab.spec.yaml.node import Node, show_path

ALONE = ("mean", "each_seed")  # a single run has these


def statistic_errors(
    node: Node, data: Mapping[str, Any], path: Sequence[str | int], scope: ClaimScope, seeds: int | None
) -> Iterator[SpecError]:
    """Statistics that a claim's metric, its seeds or the rest of it do not allow."""
    statistic, metric = str(data.get("statistic")), str(data.get("metric"))
    wrong = _of_relation(statistic, metric, data, scope) if metric in scope.across else _of_runs(statistic, data, seeds)
    if wrong is not None:
        place = node.near(["statistic"])
        source = node.source if place.source.is_default else place.source
        yield SpecError(source, show_path([*path, "statistic"]), *wrong)


def _of_relation(
    statistic: str, metric: str, data: Mapping[str, Any], scope: ClaimScope
) -> tuple[str, str | None] | None:
    if data.get("across") or data.get("difference"):
        return f"{metric} is one number over all points: it has no runs to take together or apart", None
    if statistic == "each_seed":
        return "a relation is over all seeds; there is none for each", None
    if statistic in ("ci_low", "ci_high") and metric.split(".")[1] not in scope.bootstrapped:
        return (
            f"{statistic} is the end of a bootstrap's interval, and {metric} has none",
            "give the relation a bootstrap",
        )
    if statistic not in ("mean", "ci_low", "ci_high"):
        return f"a relation has no {statistic}", "say mean, ci_low or ci_high"
    return None


def _of_runs(statistic: str, data: Mapping[str, Any], seeds: int | None) -> tuple[str, str | None] | None:
    if statistic == "p_value" and not data.get("difference"):
        return "a p-value is that of a difference, and this claim has none", "say difference: {to: {axis: label}}"
    if statistic == "each_seed" and data.get("across"):
        return (
            "each_seed is a run by itself, and across takes several together",
            "say mean, iqm or an end of an interval",
        )
    if statistic not in ALONE and seeds is not None and seeds < 2:
        return f"{statistic} needs two seeds at least, and there is one", "say seeds: 3, or statistic: mean"
    return None
