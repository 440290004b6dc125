"""A continuous experiment from the command to the page, with the model of another agent beside its own."""

from __future__ import annotations

import pytest

from tests.system.lab import REPOSITORY, finish

SPEC = REPOSITORY / "specs" / "mountaincar_velocity.yaml"


@pytest.mark.slow
def test_two_mountaincar_agents_are_trained_inverted_compared_and_reported(lab):
    said = finish(lab.start("run", SPEC, "--profile", "smoke", "--jobs", "2"), patience=600)
    assert "done: 20/20 stages in" in said.err
    metrics = lab.results("mountaincar_velocity", "smoke")["metrics"]
    assert {"wm.delta_nmse_interior", "fit.residual", "agent.td_error", "unseen.mean.ratio"} <= set(metrics)
    assert set(metrics["compare.platonic.nmse"]["by"]["from the truth"]) == {"this model", "the other"}
    assert (
        metrics["compare.platonic.times_closer"]["mean"] > 0 < metrics["compare.platonic.times_closer_interior"]["mean"]
    )
    figures = {path.stem for path in (lab.report("mountaincar_velocity", "smoke") / "figures").iterdir()}
    assert {"sheet-values-and-ways", "sheet-what-an-action-does", "sheet-models-as-arrows"} <= figures
    assert {"plane-where-the-agent-has-been", "plane-where-the-model-is-wrong", "plane-gentle_car"} <= figures
    lab.wmlab("run", SPEC, "--profile", "smoke")
    assert lab.ran() == []
