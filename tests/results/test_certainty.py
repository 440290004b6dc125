"""What is said of certainty, by hand-made numbers."""

from __future__ import annotations

import pytest

from wmlab.results.certainty import certain, certainty, floored, not_certain, sentence_of, suggested
from wmlab.results.point_facts import PointFacts


def facts(metrics=None, designs=(), goals=4, guarantees=None) -> PointFacts:
    return PointFacts({}, None, [0], metrics or {}, [], {}, guarantees or {}, designs, goals)


def design(now, *ranking, by="guarantee", using="truth"):
    return {"now": now, "by": by, "using": using, "ranking": [list(pair) for pair in ranking]}


def test_the_sentence_says_the_share_and_the_goal_that_would_help_most():
    found = facts({"unseen.mean.certain_ratio": 0.9719}, [design(0.5, ("(9, 1)", 0.6), ("(1, 1)", 0.55))])
    assert sentence_of(found) == (
        "With 4 goals the agent's values guarantee 0.971 of the optimal return; "
        "the next goal that would help most is (9, 1), which adds 0.1 to the certain return."
    )
    assert certainty([found, facts()]) == [{"where": {}, "sentence": sentence_of(found)}]


def test_a_guarantee_is_never_rounded_up():
    assert floored(0.9989999) == "0.998" and floored(0.05) == "0.05"
    nearly = facts({"unseen.mean.certain_ratio": 1 - 2e-7}, goals=1)
    assert sentence_of(nearly) == "With 1 goal the agent's values guarantee the optimal return, but for 2e-07 of it."


def test_without_truth_it_is_a_return_beside_what_is_possible():
    found = facts({"unseen.mean.r_certain": 0.51, "unseen.mean.r_possible": 0.62}, goals=None)
    assert sentence_of(found) == (
        "The agent's values guarantee a return of 0.51 on the unseen goals, and 0.62 is possible."
    )


def test_a_design_alone_speaks_of_exact_values():
    found = facts(designs=[design(0.3, ("a", 0.3 + 1e-9))])
    assert sentence_of(found) == (
        "Exact values of 4 goals make a return of 0.3 certain; none of the candidates would change that alone."
    )
    wide = facts(designs=[design(0.3, ("a", 0.1), by="width")])
    assert sentence_of(wide).endswith("the next goal that would tell most is a, which takes 0.2 off the mean width.")


IN = {"truth": "", "model": "in the extracted model", "prior": "on average over worlds that the prior allows"}


@pytest.mark.parametrize("using", IN)
def test_a_design_says_whose_exact_values_it_speaks_of(using):
    head = f"{IN[using].capitalize()}, exact" if IN[using] else "Exact"
    for by, says in (
        ("guarantee", "make a return of 0.3 certain"),
        ("width", "leave probabilities open by a mean of 0.3"),
    ):
        found = facts(designs=[design(0.3, ("a", 0.3), by=by, using=using)])
        assert sentence_of(found) == (
            f"{head} values of 4 goals {says}; none of the candidates would change that alone."
        )


@pytest.mark.parametrize("using", IN)
def test_beside_a_guarantee_only_what_a_further_goal_adds_is_said_of_another_world(using):
    known = {"unseen.mean.certain_ratio": 0.5}
    which = f"which, {IN[using]}," if IN[using] else "which"
    found = facts(known, [design(0.3, ("a", 0.4), using=using)])
    assert sentence_of(found) == (
        "With 4 goals the agent's values guarantee 0.5 of the optimal return; "
        f"the next goal that would help most is a, {which} adds 0.1 to the certain return."
    )
    wide = facts(known, [design(0.3, ("a", 0.1), by="width", using=using)])
    assert sentence_of(wide).endswith(f"that would tell most is a, {which} takes 0.2 off the mean width.")
    nothing = facts(known, [design(0.3, using=using)])
    assert sentence_of(nothing).endswith(f"would change that alone{f' {IN[using]}' if IN[using] else ''}.")


def test_seeds_that_disagree_are_outvoted():
    votes = [design(0.1, ("a", 0.3), ("b", 0.2)), design(0.1, ("b", 0.4)), design(0.1, ("b", 0.3), ("a", 0.2))]
    chosen = suggested(votes)
    assert chosen.goal == "b" and chosen.then == pytest.approx(0.3)
    assert suggested([{}]) is None
    assert suggested([design(0.1)]).goal is None  # every candidate is a goal already


def test_nothing_is_guaranteed_where_the_true_world_is_not_among_those_that_fit():
    share, fits, misses = {"unseen.mean.certain_ratio": 0.29}, {"truth_fits": True}, {"truth_fits": False}
    told = "With 4 goals the agent's values would guarantee 0.29 of the optimal return "
    everywhere = facts(share, [design(0.3, ("a", 0.4))], guarantees={"far": [misses, misses], "near": [fits, misses]})
    assert sentence_of(everywhere) == (
        f"{told}if the true world were among the kernels that fit, and it is not; "
        "the next goal that would help most is a, which adds 0.1 to the certain return."
    )
    at_one = facts(share, guarantees={"far": [fits, misses, fits], "near": [fits, fits, fits]})
    assert sentence_of(at_one) == (
        f"{told}if the true world were among the kernels that fit, and at 1 of 3 seeds it is not."
    )
    fitting = facts(share, guarantees={"far": [fits, {}], "near": [fits, fits]})  # a seed that failed says nothing
    assert sentence_of(fitting) == "With 4 goals the agent's values guarantee 0.29 of the optimal return."


def test_the_note_is_worse_the_less_is_certain():
    (low,), (high,) = (list(certain(facts({"unseen.mean.certain_ratio": ratio}))) for ratio in (0.1, 0.9))
    assert low.badness > high.badness and low.severity == "note"
    assert list(certain(facts())) == []


def test_a_true_world_that_does_not_fit_is_said_with_the_slack_that_it_needs():
    fits, loose, ruled_out = {"truth_fits": True}, {"truth_fits": False, "slack_needed": 0.004}, {"truth_fits": False}
    assert list(not_certain(facts(guarantees={"far": [fits, {}]}))) == []
    (sign,) = not_certain(facts(guarantees={"far": [fits, loose]}))
    assert sign.severity == "doubtful" and sign.sentence.endswith(
        "it fits from evaluate.unseen.guarantee.slack = 0.004 on."
    )
    (sign,) = not_certain(facts(guarantees={"far": [loose, ruled_out]}))
    assert sign.sentence.endswith("extract.prior.support rules it out.")
