"""What is certain of the return on unseen goals, and what is possible, over all worlds that explain the values."""

from __future__ import annotations

from dataclasses import dataclass

from wmlab.measure.plans import GOAL
from wmlab.registry.metrics import Measured, Measurement, Metric
from wmlab.sections.experiment import ExperimentSpec


@dataclass(frozen=True)
class GuaranteeContext:
    """Returns on one unseen goal: bounds over all worlds that fit and, where the truth is known, what came of them."""

    certain: float
    possible: float
    cautious: float | None = None  # what the policy whose return is certain attains
    best: float | None = None  # what the best policy attains
    slack_needed: float | None = None  # from which on the true world is among those that fit; none where it never is


def guaranteed(context: GuaranteeContext) -> Measured:
    """The return that is certain and the one that is possible, beside what is attained."""
    measured: Measured = {"r_certain": {"value": context.certain}, "r_possible": {"value": context.possible}}
    if context.best is None or context.cautious is None:
        return measured
    ratio = context.certain / context.best if context.best else None  # of what is out of reach
    return measured | {
        "r_cautious": {"value": context.cautious},
        "certain_ratio": {"value": ratio},
        "slack_needed": {"value": context.slack_needed},
    }


GUARANTEED = Measurement(
    Metric(
        "unseen.<goal>.r_certain",
        doc="return on <goal> that is certain: of the best policy, in the worst of the worlds that explain the values",
        label="certain return",
        headline="always",
    ),
    Metric(
        "unseen.<goal>.r_possible",
        doc="return on <goal> that is possible: of the best policy, in the best of the worlds that explain the values",
        label="possible return",
        headline="always",
    ),
    Metric(
        "unseen.<goal>.r_cautious",
        doc="return on <goal>, in the true world, of the policy whose return is certain",
        label="return of the cautious policy",
        truth=True,
    ),
    Metric(
        "unseen.<goal>.certain_ratio",
        doc="the certain return over R* on <goal>: 1 is as good as knowing the world",
        label="certain return / R*",
        truth=True,
        headline="always",
    ),
    Metric(
        "unseen.<goal>.slack_needed",
        doc="slack from which on the true kernel is among those that explain the values, so that what is called "
        "certain on <goal> holds",
        label="slack that the true kernel needs",
        truth=True,
    ),
    asked_by="evaluate.unseen.goals.<goal>",
    beside="evaluate.unseen.guarantee",
    stage="guarantee",
    per="goal",
    finite=guaranteed,
    goal=GOAL,
)


# --- which goal to add -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DesignContext:
    """What goals would be worth to add, by the certain return (more is better) or by width (less is better)."""

    by: str
    now: float
    ranking: dict[str, float]  # goal: what is certain, or how wide it is, once it is added; the best first


def suggested(context: DesignContext) -> Measured:
    """How things are with the goals that there are, and with the best of the candidates added."""
    name = "r_certain" if context.by == "guarantee" else "width"
    best = next(iter(context.ranking.values()), context.now)  # where every candidate is a goal already
    return {
        f"design.{name}": {"value": context.now},
        f"design.{name}_next": {"value": best, "by": {"goal": context.ranking}},
    }


def by_guarantee(experiment: ExperimentSpec) -> bool:
    return experiment.ranks_by == "guarantee"


def by_width(experiment: ExperimentSpec) -> bool:
    return experiment.ranks_by == "width"


DESIGN = Measurement(
    Metric(
        "design.r_certain",
        doc="certain return that exact values of the present goals give in the world that evaluate.design.using names "
        "(prior: mean over several), mean over the unseen goals",
        when=by_guarantee,
    ),
    Metric(
        "design.r_certain_next",
        doc="the same with the best candidate added to the goals; by goal, with each of the best candidates",
        label="certain return with one more goal",
        when=by_guarantee,
        headline="always",
    ),
    Metric(
        "design.width",
        doc="widest interval of a transition probability that exact values of the present goals leave in the world "
        "that evaluate.design.using names (prior: mean over several), mean over states and actions",
        when=by_width,
    ),
    Metric(
        "design.width_next",
        doc="the same with the best candidate added to the goals; by goal, with each of the best candidates",
        label="identified width with one more goal",
        when=by_width,
        headline="always",
    ),
    asked_by="evaluate.design",
    stage="design",
    finite=suggested,
)
