"""What plans for unseen goals are worth, in any sort of world."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from wmlab.registry.metrics import Blank, Measured, Measurement, Metric


@dataclass(frozen=True)
class PlanContext:
    """A plan that was made in a model: what the model promises and, where the truth is known, what came of it."""

    believed: float
    attained: float | None = None
    best: float | None = None  # what the best policy attains
    # Variable: its greatest size on the best way if nothing had to be avoided; mean, least and greatest over starts.
    free_peaks: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)


def returns(context: PlanContext) -> Measured:
    """What a plan attains beside what can be attained, and what the model promised."""
    believed: Measured = {"r_believed": {"value": context.believed}}
    if context.best is None or context.attained is None:
        return believed
    measured: Measured = {
        "r_star": {"value": context.best},
        "r_wm": {"value": context.attained},
        "ratio": {"value": context.attained / context.best if context.best else None},  # of what is out of reach
    }
    return measured | believed


GOAL = Blank(
    "an unseen goal",
    "the unseen goal {}",
    readings={"mean": "average over the unseen goals"},
    always=("mean",),
)


def free_peaks(context: PlanContext) -> Measured:
    """How far variables go on the way of the best policy that need not avoid anything."""
    return {
        f"free_peak.{name}": {
            "value": peak["mean"],
            "by": {"starts": {key: peak[key] for key in ("least", "greatest")}},
        }
        for name, peak in context.free_peaks.items()
    }


RETURNS = Measurement(
    Metric(
        "unseen.<goal>.r_star",
        doc="return on <goal> of the optimal policy (R*)",
        label="R*, discounted return",
        truth=True,
        headline="always",
    ),
    Metric(
        "unseen.<goal>.r_wm",
        doc="return on <goal>, in the true world, of the policy planned in the extracted model (Rᵂᴹ)",
        label="Rᵂᴹ, discounted return",
        truth=True,
        headline="always",
    ),
    Metric(
        "unseen.<goal>.ratio",
        doc="Rᵂᴹ over R* on <goal>: 1 is as good as knowing the world",
        label="Rᵂᴹ / R*",
        truth=True,
        headline="always",
    ),
    Metric(
        "unseen.<goal>.r_believed",
        doc="return on <goal> that the extracted model promises to its own policy; it needs no truth",
        label="return that the model promises",
        headline="without truth",
    ),
    asked_by="evaluate.unseen.goals.<goal>",
    model=True,
    stage="plan",
    per="goal",
    finite=returns,
    continuous=returns,
    goal=GOAL,
)
FREE_PEAKS = Measurement(
    Metric(
        "unseen.<goal>.free_peak.<variable>",
        doc="greatest size of <variable> on the best way to <goal> if nothing had to be avoided, mean over starts that"
        " get there",
        label="greatest size on the unconstrained way",
        by=("starts",),
    ),
    asked_by="evaluate.unseen.goals.<goal>.watch.<variable>",
    truth=True,
    model=True,
    stage="plan",
    per="goal",
    continuous=free_peaks,
    goal=Blank("an unseen goal", "the unseen goal {}"),
    variable=Blank("a variable"),
)
