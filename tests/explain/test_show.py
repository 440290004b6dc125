"""Explanations on the screen."""

from __future__ import annotations

import json

from wmlab.explain.show import show_explanation
from wmlab.lab.study import open_study


def test_the_verdict_comes_first_and_premises_follow():
    text = show_explanation(open_study("specs/quickstart.yaml"))
    first, *rest = text.splitlines()
    assert first.startswith("Theorem 2(a) covers this: almost surely the values have exactly one world in them")
    assert "    ✓ rewards are generic (noise with a density is added)" in rest


def test_points_of_which_the_same_is_to_be_said_stand_together():
    text = show_explanation(open_study("specs/theory/local_unknown_support.yaml"))
    assert "variant = local; goals = 1, 2" in text and "  likewise at goals = 2: 1 more goal" in text
    assert "variant = local; goals = 3\nTheorem (local), unknown support covers this" in text


def test_json_has_a_row_for_each_point():
    rows = json.loads(show_explanation(open_study("specs/theory/theorem_2a.yaml"), "json"))
    assert [row["where"]["variant"] for row in rows] == ["optimal", "uniform", "random", "indicator", "stochastic"]
    assert [row["promised"] for row in rows] == ["one world"] * 3 + ["nothing"] * 2


def test_a_suite_is_explained_spec_by_spec():
    text = show_explanation(open_study("specs/theory.yaml"))
    assert "theorem_2a: variant = optimal" in text and "multiple_horizons: variant = two_goals" in text
