"""What is measured of an extracted model: its error, its fit to the agent's values, its distance to other models."""

from __future__ import annotations

from wmlab.registry.metrics import Blank, Measurement, Metric
from wmlab.sections.experiment import ExperimentSpec


def has_walls(experiment: ExperimentSpec) -> bool:
    """Whether variables of a world are held at the ends of their ranges, and no chance is in it."""
    if experiment.against_data:
        return False
    edges = [variable.edge for variable in getattr(experiment.mdp.space, "variables", ())]
    return "clip" in edges and not experiment.mdp.get("noise")


def has_circles(experiment: ExperimentSpec) -> bool:
    """Whether a variable of a world goes round."""
    circles = any(variable.periodic for variable in getattr(experiment.mdp.space, "variables", ()))
    return circles and not experiment.against_data


def is_stochastic(experiment: ExperimentSpec) -> bool:
    """Whether next states of a continuous world, or of its model, are drawn, and can be drawn again."""
    if experiment.against_data:
        return False
    family = None if experiment.extract is None else experiment.extract.get("model", "family")
    return bool(experiment.mdp.get("noise")) or family == "gaussian"


MODEL_ERROR = Measurement(
    Metric(
        "wm.mse",
        doc="mean squared error of the extracted model: of probabilities in a finite world, else of next states",
        label="model error (MSE)",
        headline="always",
        by=("dimension", "action", "action region"),
    ),
    Metric(
        "wm.tv",
        doc="total variation between the extracted model's and the true next states, mean over states and actions",
        label="model error (total variation)",
        world="finite",
        headline="always",
        by=("action",),
    ),
    Metric(
        "wm.l1_max",
        doc="greatest ℓ₁ distance of a row of the extracted model from the true one",
        world="finite",
    ),
    Metric(
        "wm.nmse",
        doc="squared error of the predicted next state over its variance; see wm.identity_nmse for the scale",
        label="model error (NMSE)",
        world="continuous",
        headline="always",
        by=("dimension", "action", "action region"),
    ),
    Metric(
        "wm.identity_nmse",
        doc="what wm.nmse would be if nothing ever moved: what a model has to beat",
        world="continuous",
        by=("dimension", "action", "action region"),
    ),
    Metric(
        "wm.delta_nmse",
        doc="squared error of the predicted displacement over its variance: about 1 if nothing moved",
        label="displacement error (NMSE)",
        world="continuous",
        headline="always",
        by=("dimension", "action", "action region"),
    ),
    Metric(
        "wm.delta_nmse_interior",
        doc="wm.delta_nmse where the true next state touches no bound",
        label="displacement error, bounds left out (NMSE)",
        world="continuous",
        by=("dimension", "action", "action region"),
    ),
    Metric(
        "wm.sd_ratio",
        doc="spread of the extracted model's next states over that of the true ones: 1 is right",
        world="continuous",
        when=is_stochastic,
        by=("dimension",),
    ),
    Metric(
        "wm.energy",
        doc="energy distance between the extracted model's and the true next states: 0 is right",
        world="continuous",
        when=is_stochastic,
        by=("action", "action region"),
    ),
    asked_by="evaluate.model_error",
    truth=True,
    logged=True,
    model=True,
    finite="wmlab.measure.finite.errors:model_error",
    continuous="wmlab.measure.continuous.model_error:model_error",
)
UNWRAPPED = Measurement(
    Metric(
        "wm.mse_unwrapped",
        doc="wm.mse with periodic variables compared as plain numbers: a next state that goes round where the true one"
        " does not, or the other way, is wrong by a whole period",
        label="model error (MSE, angles as numbers)",
        when=has_circles,
        by=("dimension", "action", "action region"),
    ),
    asked_by="evaluate.model_error",
    truth=True,
    model=True,
    continuous="wmlab.measure.continuous.yardstick_errors:unwrapped",
)
SMOOTH = Measurement(
    Metric(
        "wm.smooth_nmse",
        doc="what wm.nmse would be of a model that is right wherever the next state touches no bound, and goes on"
        " smoothly to where it is held by one: what a model has that misses walls alone",
        label="error of missing the walls alone (NMSE)",
        when=has_walls,
        by=("dimension", "action", "action region"),
    ),
    asked_by="evaluate.model_error",
    truth=True,
    model=True,
    continuous="wmlab.measure.continuous.yardstick_errors:smooth_continuation",
)
FIT = Measurement(
    Metric(
        "fit.residual",
        doc="mean residual of the Bellman equation that the extraction solves; it needs no truth",
        label="Bellman residual",
        headline="always",
        by=("goal",),
    ),
    Metric(
        "fit.explained",
        doc="1 less the mean residual over what a model in which nothing moves leaves: 1 is all explained, 0 no more"
        " than by standing still",
        label="share of the residual explained",
        headline="always",
        by=("goal",),
    ),
    Metric("fit.residual_rms", doc="root mean square residual of the Bellman equation: what least squares makes least"),
    Metric("fit.residual_max", doc="greatest residual of the Bellman equation that the extraction solves"),
    asked_by="evaluate.fit",
    model=True,
    finite="wmlab.measure.finite.errors:fit",
    continuous="wmlab.measure.continuous.values:fit",
)
COMPARISON = Measurement(
    Metric(
        "compare.<name>.<distance>",
        doc="distance between this model and that of <name>: <distance>",
        headline="always",
        by=("dimension", "action", "action region", "from the truth"),
    ),
    Metric(
        "compare.<name>.<distance>_interior",
        doc="the same distance over states from which no action leads to a bound",
        by=("dimension", "action", "action region", "from the truth"),
        world="continuous",
        truth=True,
    ),
    Metric(
        "compare.<name>.times_closer",
        doc="how many times closer this model is to that of <name> than to the truth",
        by=("model",),
        world="continuous",
        truth=True,
        headline="always",
    ),
    Metric(
        "compare.<name>.times_closer_interior",
        doc="the same over states from which no action leads to a bound: without walls that both miss",
        by=("model",),
        world="continuous",
        truth=True,
    ),
    asked_by="compare.<name>.distance.<distance>",
    stage="compare",
    per="name",
    finite="wmlab.measure.finite.errors:comparison",
    continuous="wmlab.measure.continuous.model_error:comparison",
    name=Blank("another spec", "comparison {}"),
    distance=Blank(
        "the one that is asked for",
        readings={
            "nmse": "error of the next state over its variance",
            "mse": "mean squared difference",
            "tv": "mean total variation",
        },
    ),
)
