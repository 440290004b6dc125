"""Explanations on the screen."""

from __future__ import annotations

import json

from wmlab.explain.show import show_explanation
from wmlab.graph.study import open_study


def test_the_answer_comes_first_and_theory_and_premises_follow():
    text = show_explanation(open_study("specs/quickstart.yaml"))
    first, *rest = text.splitlines()
    assert first == "Yes, in theory: only one world explains these values, the true one."
    assert rest[0].startswith("  asked of a finite, deterministic world of 68 states and 4 actions; 1 goal paid on arr")
    assert any(line.startswith("  Theorem 2(a) covers this: almost surely the values have exactly") for line in rest)
    assert "    ✓ rewards are generic (noise with a density is added)" in rest


def test_points_of_which_the_same_is_to_be_said_stand_together():
    text = show_explanation(open_study("specs/theory/local_unknown_support.yaml"))
    assert "variant = local; goals = 1, 2" in text and "  likewise at goals = 2: 1 more goal" in text
    assert "from 1 goal with rewards drawn at random to 2 goals with" in " ".join(text.split())
    covered = text.split("variant = local; goals = 3\n")[1]
    assert covered.startswith("Yes, in theory") and "\n  Theorem (local), unknown support covers this" in covered


def test_json_has_a_row_for_each_point():
    rows = json.loads(show_explanation(open_study("specs/theory/theorem_2a.yaml"), "json"))
    assert [row["where"]["variant"] for row in rows] == ["optimal", "uniform", "random", "indicator", "stochastic"]
    assert [row["promised"] for row in rows] == ["one world"] * 3 + ["nothing"] * 2


def test_a_suite_is_explained_spec_by_spec():
    text = show_explanation(open_study("specs/theory.yaml"))
    assert "theorem_2a: variant = optimal" in text and "multiple_horizons: variant = two_goals" in text


def test_terms_are_explained_once_below_where_they_are_used():
    text = show_explanation(open_study("specs/quickstart.yaml"))
    body, terms = text.split("\nterms:\n")
    assert "|G| ≥ 1" in body and "  |G|            the number of goals" in terms.splitlines()
    assert not any(line.strip().startswith("ρ") for line in terms.splitlines())  # not used here


def test_nothing_is_said_twice_in_one_line():
    text = show_explanation(open_study("specs/mountaincar_position.yaml"))
    assert "    ✓ rewards are indicator\n" in text and "    ✓ episodes end on arrival (they end on arrival)" not in text
