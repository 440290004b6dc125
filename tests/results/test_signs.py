"""Each sign of a failed reading, from numbers alone: what is said, and from where on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from wmlab.graph.study import open_study
from wmlab.registry import AgentChoice
from wmlab.results.findings import findings
from wmlab.results.identified import marked
from wmlab.results.point_facts import PointFacts

SPECS = Path(__file__).parents[2] / "specs"


@pytest.fixture(scope="module")
def continuous():
    return open_study(str(SPECS / "mountaincar_position.yaml"), "smoke").resolved.points[0].experiment


@pytest.fixture(scope="module")
def finite():
    return open_study(str(SPECS / "quickstart.yaml")).resolved.points[0].experiment


def facts(experiment, metrics=None, measured=None, plans=None, where=None):
    """One point with one seed."""
    plans = {goal: [plan] for goal, plan in (plans or {}).items()}
    return PointFacts(where or {}, experiment, [0], metrics or {}, [measured or {}], plans)


def told(*points):
    return [(one["id"], one["severity"], one["sentence"]) for one in findings(points)]


@pytest.mark.parametrize(
    ("error", "severity", "words"), [(1.02, "failed", "no better"), (0.6, "doubtful", "hardly better"), (0.4, "", "")]
)
def test_a_model_that_moves_like_nothing_is_said_to_stand_still(continuous, error, severity, words):
    point = facts(continuous, {"wm.delta_nmse": error}, {"yardsticks": {"standing_still": 1.0}})
    sentence = (
        f"The model is {words} than standing still: wm.delta_nmse is {error}, and a model in which nothing moves has 1."
    )
    assert told(point) == ([("standing_still", severity, sentence)] if severity else [])


@pytest.mark.parametrize(("gained", "failed"), [(0.20, True), (0.207, True), (0.4, False)])
def test_a_return_near_that_of_acting_at_random_is_hardly_trained(continuous, gained, failed):
    point = facts(continuous, {"agent.return": gained}, {"yardsticks": {"acting_at_random": 0.2}})
    assert [one[0] for one in told(point)] == (["hardly_trained"] if failed else [])


def test_an_exact_agent_is_never_called_untrained(finite):
    point = facts(finite, {"agent.return": 0.1}, {"yardsticks": {"acting_at_random": 0.2}})
    assert told(point) == []


def test_values_that_are_held_against_a_wrong_grid_are_said_to_be(continuous):
    point = facts(continuous, {"q.nmse": 1.2, "q.grid_nmse": 2.29})
    sentence = (
        "q.max_error is limited by a grid, which gets the values of the agent's own policy wrong by 2.29 of their "
        "variance (q.grid_nmse); make evaluate.value_error.grid finer."
    )
    assert told(point) == [("values_on_a_grid", "note", sentence)]  # q.nmse itself is from rollouts here
    drawn = replace(continuous, agent=AgentChoice({**continuous.agent.data, "policy": "uniform"}))
    assert told(facts(drawn, {"q.nmse": 1.2, "q.grid_nmse": 2.29})) == [
        ("values_on_a_grid", "doubtful", sentence.replace("q.max_error is", "q.max_error and q.nmse (1.2) are"))
    ]
    assert told(facts(drawn, {"q.nmse": 1.2, "q.grid_nmse": 0.05})) == []


def test_an_r_star_that_a_coarser_grid_changes_is_limited_by_its_grid(continuous):
    plan = {"shape": [31, 31], "coarser": {"r_star": 0.3, "shape": [16, 16]}}
    metrics = {"unseen.top.r_star": 0.4, "unseen.top.r_wm": 0.4}
    cure = "make evaluate.unseen.solver.grid finer."
    assert told(facts(continuous, metrics, plans={"top": plan})) == [
        (
            "grid_limited",
            "doubtful",
            f"R* of top is limited by its grid: it is 0.4 on 31 x 31 points and 0.3 on 16 x 16; {cure}",
        )
    ]
    close = {**plan, "coarser": {"r_star": 0.39, "shape": [16, 16]}}
    assert told(facts(continuous, metrics, plans={"top": close})) == []
    assert told(facts(continuous, {**metrics, "unseen.top.r_wm": 0.5}, plans={"top": close})) == [
        (
            "grid_limited",
            "doubtful",
            f"R* of top is limited by its grid: a plan made in the model attains 0.5, more than R* = 0.4; {cure}",
        )
    ]


def test_goals_that_nobody_reaches_and_plans_that_get_nowhere_are_told_apart(continuous):
    plans = {"top": {}, "moon": {}}
    metrics = {"unseen.top.r_star": 0.4, "unseen.top.r_wm": 0.0, "unseen.moon.r_star": 0.0, "unseen.moon.r_wm": 0.0}
    assert told(facts(continuous, metrics, plans=plans)) == [
        ("plan_gets_nowhere", "failed", "The plan for top gets nowhere: it attains 0 of R* = 0.4."),
        (
            "out_of_reach",
            "doubtful",
            "The goal moon is out of reach: R* is 0 from every start, so there is no ratio.",
        ),
    ]


DESCENT = {"steps": 200, "last_move": 1e-9, "may_be_off": 0.27, "settled": False}


@pytest.mark.parametrize(
    ("notes", "words"),
    [
        ({"still_falling": 0.3}, "its loss fell by 30 % in the last fifth of its updates; give it more extract.steps."),
        (
            DESCENT,
            "the last of 200 steps still moved a probability by 1e-09, so that some may be off by 0.27; give it more "
            "extract.steps, or take a method that needs none.",
        ),
        ({**DESCENT, "may_be_off": 1.0, "diverged": True}, "it diverges; take extract.step_size below 1."),
    ],
)
def test_an_extraction_that_was_under_way_has_not_settled(continuous, notes, words):
    point = facts(continuous, measured={"extraction": notes})
    assert told(point) == [("not_settled", "doubtful", f"The extraction has not settled: {words}")]
    settled = {"still_falling": 0.01, **DESCENT, "may_be_off": 1e-5}
    assert told(facts(continuous, measured={"extraction": settled})) == []


@pytest.mark.parametrize(
    ("notes", "name", "words"),
    [
        ({"ties": 3}, "had_a_choice", "at 3 of 16 pairs of state and action several successors explain the values"),
        ({"pairs_with_another_kernel": 2}, "had_a_choice", "at 2 of 16 pairs of state and action another choice of"),
        ({"moved_by_tie_break": 5}, "had_a_choice", "that nearest to uniform was taken"),
        ({"left_at_a_vertex": 1}, "had_a_choice", "rounding hid which of several kernels"),
        ({"least_probability": -0.3}, "off_the_simplex", "The model is no world: a probability is -0.3. Plans"),
        ({"greatest_deviation_of_a_sum_from_one": 0.4}, "off_the_simplex", "sum to one but for 0.4. Plans are made"),
    ],
)
def test_what_an_extraction_notes_is_said(finite, notes, name, words):
    misfit = {"pairs": 0, "of": 16, "tolerance": 1e-6, "worst": {"state": "a", "action": "b", "residual": 0.0}}
    quiet = {"ties": 0, "moved_by_tie_break": 0, "least_probability": -1e-9, "misfit": misfit}
    ((found, severity, sentence),) = told(facts(finite, measured={"extraction": {**quiet, **notes}}))
    assert (found, severity) == (name, "doubtful") and words in sentence
    assert told(facts(finite, measured={"extraction": quiet})) == []


def test_rates_that_were_found_are_told_and_seeds_that_found_others(continuous):
    def said(*rates):
        seeds = [{"extraction": {"rates": each}} for each in rates]
        return [sentence for _, _, sentence in told(PointFacts({}, continuous, range(len(seeds)), {}, seeds, {}))]

    one = {"angle": "speed"}
    begins, held = "Rates that the first reading found:", "; the second was held to them."
    assert said(one, one) == [f"{begins} angle by speed{held}"]
    assert said({}) == [f"{begins} none."]
    assert said(one, {}, one) == [f"{begins} angle by speed (seeds 0, 2); none (seeds 1){held}"]


def test_the_worst_seed_speaks_where_others_are_well(finite):
    seeds = [
        {"extraction": {"ties": 0, "least_probability": 0.0}},
        {"extraction": {"ties": 7, "least_probability": -2.0}},
    ]
    ((first, _, sentence), (second, _, _)) = told(PointFacts({}, finite, [0, 1], {}, seeds, {}))
    assert (first, second) == ("off_the_simplex", "had_a_choice") and "-2" in sentence


@pytest.mark.parametrize(("left", "severity"), [(0.1, None), (0.3, "doubtful"), (0.7, "failed")])
def test_values_that_no_world_explains_are_called_so(finite, left, severity):
    sentence = (
        "No world was found that explains the agent's values: what is left of the Bellman equation is "
        f"{100 * left:.0f} % of how much the values vary."
    )
    expected = [("fits_no_world", severity, sentence)] if severity else []
    assert told(facts(finite, measured={"extraction": {"unexplained": left}})) == expected


def test_values_that_many_worlds_explain_are_called_so(finite):
    ((name, severity, sentence),) = told(facts(finite, {"ident.width": 0.83, "ident.simplex_nullity": 3.0}))
    assert (name, severity) == ("fits_many", "doubtful") and "an interval of 0.83" in sentence
    assert told(facts(finite, {"ident.width": 1e-9, "ident.simplex_nullity": 3.0})) == []


def test_rank_and_what_is_left_to_probabilities_are_told_apart():
    spec = open_study(str(SPECS / "theory" / "singular_example.yaml")).resolved
    plain, simplex = (
        next(point.experiment for point in spec.points if point.where["variant"] == name)
        for name in ("plain", "simplex")
    )
    metrics = {"ident.nullity": 1.0, "ident.simplex_nullity": 0.0}
    ((name, severity, sentence),) = told(facts(plain, metrics))
    assert (name, severity) == ("rank_lost", "doubtful")
    assert "ident.nullity is 1" in sentence and "ident.simplex_nullity is 0" in sentence
    assert told(facts(simplex, metrics)) == []
    assert told(facts(plain, {"ident.nullity": 0.0, "ident.simplex_nullity": 0.0})) == []


def test_one_sentence_speaks_for_all_points_and_names_the_worst(continuous):
    points = [
        facts(continuous, {"wm.delta_nmse": error}, {"yardsticks": {"standing_still": 1.0}}, where={"goals": goals})
        for goals, error in ((1, 1.5), (2, 2.5), (3, 0.1))
    ]
    (finding,) = findings(points)
    assert (finding["where"], finding["points"], finding["of"]) == ({"goals": 2}, 2, 3)
    assert finding["sentence"].startswith(
        "At goals = 2: The model is no better than standing still: wm.delta_nmse is 2.5"
    )
    assert finding["sentence"].endswith("It is the worst of 2 such cases.")


def test_what_is_no_number_is_no_sign(continuous):
    odd = {"extraction": {"unexplained": "much", "last_move": None}, "yardsticks": {"standing_still": float("nan")}}
    assert told(facts(continuous, {"wm.delta_nmse": 3.0}, odd)) == []


def test_a_rank_that_is_too_small_is_said_before_everything_else(continuous):
    said = {"metrics": {"ident.local_share": {"value": 0.5, "by": {"dimension": {"position": 0.9, "velocity": 0.1}}}}}
    metrics = {"ident.local_rank": 1.0, "wm.delta_nmse": 1.2}
    point = facts(continuous, metrics, {"yardsticks": {"standing_still": 1.0}})
    first, second = told(replace(point, identified=[said]))
    assert first[:2] == ("not_identified", "doubtful") and second[:2] == ("standing_still", "failed")
    assert first[2].startswith(
        "The model may be wrong: the values determine 1 of 2 directions of a next state (ident.local_rank). These "
        "values cannot tell next states apart that differ in the other one, least of all in velocity (10 % of it is "
        "told);"
    )
    assert told(facts(continuous, {"ident.local_rank": 2.0})) == []


def test_claims_on_a_model_that_is_not_determined_are_marked(continuous):
    case = {"where": {}, "holds": True}
    claims = [
        {"id": metric, "metric": metric, "cases": [case]}
        for metric in ("wm.nmse", "unseen.fast.ratio", "unseen.fast.r_star", "fit.residual", "agent.return")
    ]
    kept = marked(claims, [facts(continuous, {"ident.local_rank": 1.0})])
    assert [one["id"] for one in kept if "not_identified" in one] == ["wm.nmse", "unseen.fast.ratio"]
    assert kept[0]["not_identified"] == "not identified: the values determine 1 of 2 directions"
    assert marked(claims, [facts(continuous, {"ident.local_rank": 2.0})]) == claims
