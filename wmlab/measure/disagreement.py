"""What is measured of an ensemble: how far its members are apart, and whether that says where they are wrong."""

from __future__ import annotations

from wmlab.registry.metrics import Measurement, Metric

DISAGREEMENT = Measurement(
    Metric(
        "wm.disagreement",
        doc="variance of displacements among the members of an ensemble, over that of the ensemble's own displacements;"
        " it needs no truth",
        label="disagreement",
        headline="always",
    ),
    Metric(
        "wm.disagreement_rank",
        doc="Spearman correlation, over states, of how far members are apart with how wrong the ensemble is",
        label="rank correlation of disagreement with error",
        truth=True,
    ),
    Metric(
        "wm.disagreement_covers",
        doc="share of predictions whose error is at most twice the standard deviation among members",
        label="share of errors within two deviations",
        truth=True,
    ),
    asked_by="evaluate.disagreement",
    model=True,
    continuous="wmlab.measure.continuous.disagreement:disagreement",
)
