"""What is claimed of values that are poor beside a model that is good cannot be had for nothing."""

from __future__ import annotations

import pytest

from tests.gallery.contents import ROOT, Gallery
from wmlab.graph.study import open_study
from wmlab.results.cases import ClaimContext
from wmlab.results.claims import evaluate_claims


@pytest.mark.parametrize("name", ["mountaincar_position", "reacher"])
def test_a_model_in_which_nothing_moves_is_not_good_beside_poor_values(name):
    gallery = Gallery.at()
    stored = gallery.results(name)
    claims = open_study(str(ROOT / gallery.entries[name].spec)).resolved.claims
    context = ClaimContext([{}], stored["seeds"], lambda text, where: float(text))

    def holds(metrics):
        [contrast] = evaluate_claims({"it": claims["poor_values_good_model"]}, metrics, context)
        assert "reason" not in contrast  # it was measured
        return contrast["holds"]

    still = {**stored["metrics"]["wm.identity_nmse"], "metric": "wm.nmse"}
    assert holds(stored["metrics"])
    assert not holds({**stored["metrics"], "wm.nmse": still})
