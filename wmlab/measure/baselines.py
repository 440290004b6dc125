"""What the extracted model is seen beside: a model of the data, and the trained values without any model.

Shapes: G trained goals, n states.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wmlab.registry.metrics import Blank, Measured, Measurement, Metric
from wmlab.sections.experiment import Baselines, ExperimentSpec


@dataclass(frozen=True, eq=False)
class Combined:
    """What came of acting on combined values."""

    weights: np.ndarray  # [G]
    misfit: float  # part of the reward's square that no combination gives: 0 all is given, 1 nothing
    attained: float  # mean return in the true world


def nearest(trained: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, float]:
    """The weights [G] of trained rewards [G, n] whose sum is nearest to a reward [n] in squares, and what is left."""
    weights: np.ndarray = np.linalg.lstsq(trained.T, wanted, rcond=None)[0]
    total, left = float((wanted**2).sum()), float(((trained.T @ weights - wanted) ** 2).sum())
    return weights, left / total if total > 0 else 0.0


@dataclass(frozen=True)
class BaselineContext:
    """What was attained on one unseen goal without the extracted model; None: not asked for."""

    regressed: float | None = None
    combined: Combined | None = None


def returns(context: BaselineContext) -> Measured:
    """What was attained, by the names of the metrics."""
    values: Measured = {} if context.regressed is None else {"r_regression": {"value": context.regressed}}
    if context.combined is None:
        return values
    attained, misfit = {"value": context.combined.attained}, {"value": context.combined.misfit}
    return values | {"r_combined": attained, "combination_misfit": misfit}


def asked(experiment: ExperimentSpec) -> Baselines:
    return experiment.evaluate.baselines or Baselines()


def regresses(experiment: ExperimentSpec) -> bool:
    return asked(experiment).regression is not None


def combines(experiment: ExperimentSpec) -> bool:
    return asked(experiment).combination is not None


REGRESSION = Measurement(
    Metric(
        "wm.regression_nmse",
        doc="what wm.nmse is of a model of the same form that was fitted to transitions which the agent saw",
    ),
    Metric(
        "wm.regression_delta_nmse",
        doc="what wm.delta_nmse is of a model of the same form that was fitted to transitions which the agent saw",
        label="displacement error of a model of the data (NMSE)",
        headline="always",
    ),
    Metric(
        "wm.regression_delta_nmse_interior", doc="wm.regression_delta_nmse where the true next state touches no bound"
    ),
    Metric(
        "wm.identity_delta_nmse",
        doc="what wm.delta_nmse would be if nothing ever moved: what both models have to beat",
        label="displacement error if nothing moved (NMSE)",
        headline="always",
    ),
    asked_by="evaluate.baselines.regression",
    truth=True,
    logged=True,
    model=True,
    continuous="wmlab.measure.continuous.regression:regression_error",
)
RETURNS = Measurement(
    Metric(
        "unseen.<goal>.r_regression",
        doc="return on <goal>, in the true world, of the policy planned in a model that was fitted to transitions",
        label="return planned in a model of the data",
        world="continuous",
        when=regresses,
        headline="always",
    ),
    Metric(
        "unseen.<goal>.r_combined",
        doc="return on <goal> of acting on the linear combination of trained values whose rewards come nearest to its",
        label="return of combined values",
        when=combines,
        headline="always",
    ),
    Metric(
        "unseen.<goal>.combination_misfit",
        doc="part of the reward of <goal> that no linear combination of the trained rewards gives, 0 to 1",
        when=combines,
    ),
    asked_by="evaluate.unseen.goals.<goal>",
    truth=True,
    model=True,
    stage="baseline",
    per="goal",
    finite=returns,
    continuous=returns,
    goal=Blank(
        "an unseen goal",
        "the unseen goal {}",
        readings={"mean": "average over the unseen goals"},
        always=("mean",),
    ),
)
