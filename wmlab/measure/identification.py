"""What is measured of how much of the world values pin down, without a model."""

from __future__ import annotations

from wmlab.registry.metrics import Blank, Measurement, Metric

RANKS = Measurement(
    Metric(
        "ident.rank",
        doc="rank of M: how many directions the goals tell apart",
        label="rank of M",
        headline="without truth",
    ),
    Metric("ident.least_rank", doc="least rank of M, each discount and policy on its own"),
    Metric("ident.nullity", doc="dimension of the kernel of M: what it leaves open, states less rank"),
    Metric(
        "ident.simplex_nullity",
        doc="dimension of the kernel of M with a row of ones added: what is open to probabilities that sum to one",
    ),
    Metric("ident.sigma_min", doc="smallest singular value of M"),
    Metric("ident.gap", doc="smallest distance between two columns of M"),
    asked_by="evaluate.identify",
    stage="identify",
    finite="wmlab.measure.finite.identification:ranks",
)
LOCAL = Measurement(
    Metric(
        "ident.local_rank",
        doc="rank of the slopes of M at a next state, over all goals: how many directions of a next state values tell"
        " apart there; median over states",
        label="local rank of M",
        headline="always",
        by=("states",),
    ),
    Metric(
        "ident.local_share",
        doc="share of a next state, each variable in units of its range, that lies in directions which values tell"
        " apart; mean over states and variables",
        label="share of a next state that values tell",
        by=("dimension",),
    ),
    Metric(
        "ident.local_sigma_min",
        doc="smallest singular value of the slopes of M, each variable in units of its range; median over states",
        label="smallest singular value of M's slopes",
        by=("index",),
    ),
    asked_by="evaluate.identify",
    stage="identify",
    continuous="wmlab.measure.continuous.identification:local_ranks",
)
WIDTH = Measurement(
    Metric(
        "ident.width",
        doc="widest interval that a transition probability may lie in and still explain the agent's values",
        label="identified width",
        headline="always",
    ),
    asked_by="evaluate.identify.width",
    stage="identify",
    finite="wmlab.measure.finite.identification:widest_interval",
)
BOUNDS = Measurement(
    Metric("bound.<theorem>.upper", doc="the upper bound of <theorem>: what it promises for these values at most"),
    Metric("bound.<theorem>.lower", doc="the lower bound of <theorem>: what it says that no method can beat"),
    asked_by="evaluate.identify.bounds.<theorem>",
    truth=True,
    stage="identify",
    finite="wmlab.measure.finite.identification:theorem_bounds",
    theorem=Blank("a theorem"),
)
