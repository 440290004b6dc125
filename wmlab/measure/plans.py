"""What plans for unseen goals are worth, in any sort of world."""

from __future__ import annotations

from dataclasses import dataclass

from wmlab.registry.metrics import Blank, Measured, Measurement, Metric


@dataclass(frozen=True)
class PlanContext:
    """A plan that was made in a model: what the model promises and, where the truth is known, what came of it."""

    believed: float
    attained: float | None = None
    best: float | None = None  # what the best policy attains


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
