"""Which metrics a spec makes: known before anything runs, so that a claim on another is an error at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wmlab.registry import mdps, truth_is_known
from wmlab.registry import world_of as sort_of

FINITE_ERRORS = ("wm.mse", "wm.tv", "wm.l1_max")
CONTINUOUS_ERRORS = ("wm.mse", "wm.nmse", "wm.identity_nmse", "wm.delta_nmse", "wm.delta_nmse_interior")
STOCHASTIC_ERRORS = ("wm.sd_ratio", "wm.energy")
VALUE_ERRORS = ("q.nmse", "q.max_error", "q.l1_max")
RESIDUALS = ("fit.residual", "fit.residual_rms", "fit.residual_max")
IDENTIFICATION = (
    "ident.rank", "ident.least_rank", "ident.nullity", "ident.simplex_nullity", "ident.sigma_min", "ident.gap",
)  # fmt: skip
PLANS = ("r_star", "r_wm", "ratio", "r_believed")
NEED_TRUTH = (("return",), ("model_error",), ("value_error",), ("identify", "bounds"))


MAKERS = {
    "evaluate.return": ("agent.return",),
    "evaluate.model_error": tuple(dict.fromkeys([*FINITE_ERRORS, *CONTINUOUS_ERRORS, *STOCHASTIC_ERRORS])),
    "evaluate.value_error": VALUE_ERRORS,
    "evaluate.fit": (*RESIDUALS, "agent.td_error"),
    "evaluate.identify": IDENTIFICATION,
    "evaluate.identify.width": ("ident.width",),
}


def maker_of(metric: str) -> str | None:
    """What a spec must ask for to get a metric; None where there is none of that name."""
    return next((maker for maker, metrics in MAKERS.items() if metric in metrics), None)


def world_of(experiment: dict[str, Any]) -> str | None:
    """finite or continuous; None where the world's own kind is in error."""
    kind = experiment.get("mdp", {}).get("kind")
    return sort_of(experiment["mdp"]) if isinstance(kind, str) and kind in mdps else None


def made_at(experiment: dict[str, Any]) -> set[str] | None:
    """The metrics of one point of a study; None where its world is in error, so that nothing can be said."""
    world = world_of(experiment)
    return None if world is None else set(_made(experiment.get("evaluate", {}), world, experiment))


def _made(evaluate: dict[str, Any], world: str, experiment: dict[str, Any]) -> Iterator[str]:
    truth = truth_is_known(experiment["mdp"])
    if "return" in evaluate and truth:
        yield "agent.return"
    if "model_error" in evaluate and truth and "extract" in experiment:
        yield from FINITE_ERRORS if world == "finite" else CONTINUOUS_ERRORS
        if world == "continuous" and chancy(experiment):
            yield from STOCHASTIC_ERRORS
    if "value_error" in evaluate and truth:
        yield from VALUE_ERRORS
    if "fit" in evaluate and "extract" in experiment:
        yield from RESIDUALS
        if world == "continuous" and truth:
            yield "agent.td_error"
    if "identify" in evaluate:
        yield from IDENTIFICATION
        if "width" in evaluate["identify"]:
            yield "ident.width"
        for theorem in evaluate["identify"].get("bounds", ()):
            yield from (f"bound.{theorem}.upper", f"bound.{theorem}.lower")
    if "unseen" in evaluate and "extract" in experiment:
        for goal in (*evaluate["unseen"].get("goals", {}), "mean"):
            yield from (f"unseen.{goal}.{name}" for name in PLANS if truth or name == "r_believed")


def chancy(experiment: dict[str, Any]) -> bool:
    """Whether next states of a continuous world, or of its model, are drawn."""
    model = experiment.get("extract", {}).get("model") or {}
    return bool(experiment.get("mdp", {}).get("noise")) or model.get("family") == "gaussian"


def made_across(relate: dict[str, Any]) -> set[str]:
    """The metrics that belong to no single experiment: relations across points."""
    return {f"relate.{name}.{statistic}" for name, relation in relate.items() for statistic in relation["statistics"]}


def compared(sections: dict[str, Any], experiment: dict[str, Any]) -> set[str]:
    """The metrics of comparisons with other specs, made at one point of a study."""
    known = world_of(experiment) == "continuous" and truth_is_known(experiment["mdp"])
    made = set()
    for name, item in sections.get("compare", {}).items():
        distance = item.get("distance", "nmse")
        made |= {f"compare.{name}.{one}" for one in (distance, *(closeness(distance) if known else ()))}
    return made


def closeness(distance: str) -> tuple[str, ...]:
    """Where the truth is known and states are sampled: the same with bounds left out, and both beside the truth."""
    return (f"{distance}_interior", "times_closer", "times_closer_interior")
