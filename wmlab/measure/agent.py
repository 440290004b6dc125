"""What is measured of an agent itself: its return, and its values."""

from __future__ import annotations

from wmlab.registry.metrics import Measurement, Metric
from wmlab.sections.experiment import ExperimentSpec

RETURN = Measurement(
    Metric(
        "agent.return",
        doc="discounted return of the agent's own policy in the true world, mean over its goals",
        label="agent's return",
        by=("goal",),
        headline="always",
    ),
    asked_by="evaluate.return",
    truth=True,
    finite="wmlab.measure.finite.errors:agent_return",
    continuous="wmlab.measure.continuous.values:agent_return",
)
VALUE_ERROR = Measurement(
    Metric(
        "q.nmse",
        doc="squared error of the agent's Q against the exact Q of its own policy, over the variance of the latter",
        label="Q error (NMSE)",
        by=("goal",),
        headline="always",
    ),
    Metric(
        "q.max_error",
        doc="greatest distance of the agent's Q from the optimal Q; in a continuous world, on a grid",
        by=("goal",),
    ),
    Metric("q.l1_max", doc="greatest distance of the agent's Q from the exact Q of its own policy, summed over goals"),
    Metric(
        "q.grid_nmse",
        doc="what q.nmse would be of values that the grid itself gives for the agent's policy: how far it is to be"
        " trusted. From rollouts, and where they are drawn, without bias: then it may fall below 0",
        label="Q error of the grid (NMSE)",
        by=("goal",),
        world="continuous",
    ),
    asked_by="evaluate.value_error",
    truth=True,
    finite="wmlab.measure.finite.errors:value_error",
    continuous="wmlab.measure.continuous.values:value_error",
)
TD_ERROR = Measurement(
    Metric(
        "agent.td_error",
        doc="mean residual of the Bellman equation that the true world itself leaves, or, where there is `data`, its"
        " held-out transitions: how well values fit themselves",
        label="TD error",
        by=("goal",),
    ),
    asked_by="evaluate.fit",
    truth=True,
    logged=True,
    model=True,  # it is taken where the model's residual is
    continuous="wmlab.measure.continuous.values:td_error",
)


def has_logged_rewards(experiment: ExperimentSpec) -> bool:
    """Whether a log says what was paid, and for which goal."""
    return experiment.data is not None and experiment.data.goal is not None and experiment.data.reward is not None


LOGGED_REWARDS = Measurement(
    Metric(
        "data.reward_error",
        doc="mean distance of the rewards that the spec's goals pay in logged transitions from those that were logged",
        label="reward error in the log",
        when=has_logged_rewards,
    ),
    asked_by="evaluate.fit",
    truth=True,
    logged=True,
    model=True,
    continuous="wmlab.measure.continuous.values:reward_error",
)
