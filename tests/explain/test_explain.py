"""Which statement covers a spec, and what is missing where none does."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.explain.specs import DYNAMICS, EXACT, GENERIC, GRID, INDICATOR, RANDOM, resolved
from wmlab.explain.explain import STATEMENTS, explain
from wmlab.explain.facts import facts_of
from wmlab.explain.finite import no_goal_ends
from wmlab.explain.premises import UNTOLD, rewards_are
from wmlab.graph.study import open_study
from wmlab.registry import build
from wmlab.sections.experiment import ExperimentSpec

ROOT = Path(__file__).parents[2]
VARIANT = {"pseudo_inverse": "plain", "lp": "simplex"}
DETERMINISTIC = {**RANDOM, "branching": 1}
ONE_GENERIC = {"reward": {"kind": "generic", "count": 1}, "terminate": "never"}
NOISY_INDICATOR = {
    "reward": {"kind": "indicator", "noise": {"kind": "uniform", "low": -1, "high": 0}},
    "at": ["s0"],
    "terminate": "never",
}
GAUSSIAN = {"reward": {"kind": "gaussian", "sigma": 1, "jitter": 0.5}, "at": [[1, 1]], "terminate": "never"}
MATCHING = {"kind": "column_matching"}
LP = {"kind": "lp"}
LOCAL = {"kind": "lp", "prior": {"support": {"kind": "neighbours"}}}
SLIP = {**GRID, "slip": {"straight": 0.5, "left": 0.25, "right": 0.25}}


def generic(count):
    return {"reward": {"kind": "generic", "count": count}, "terminate": "never"}


COVERED = {
    "Theorem 2(a)": (DETERMINISTIC, ONE_GENERIC, EXACT, MATCHING),
    "Theorem 2(a) ": (DETERMINISTIC, NOISY_INDICATOR, EXACT, MATCHING),
    "Proposition (Gaussian rewards, deterministic)": (GRID, GAUSSIAN, EXACT, MATCHING),
    "Theorem 3(a)": (RANDOM, GENERIC, EXACT, {"kind": "pseudo_inverse"}),
    "Theorem 3(b)": ({**RANDOM, "branching": 2}, INDICATOR, EXACT, {"kind": "pseudo_inverse"}),
    "Theorem 3(b), unconditional policies": (RANDOM, INDICATOR, {**EXACT, "policy": "uniform"}, LP),
    "Proposition (finite, exact) (a)": (RANDOM, INDICATOR, EXACT, LP),
    "Proposition (Gaussian rewards, stochastic)": (SLIP, {**GAUSSIAN, "at": "all"}, EXACT, LP),
    "Theorem (local), known support": (SLIP, generic(4), EXACT, LOCAL),
    "Theorem (local), known support ": (RANDOM, generic(5), EXACT, LP),
    "Theorem (local), unknown support": (
        {**RANDOM, "branching": 2},
        generic(3),
        EXACT,
        {"kind": "sparse_lp", "size": 2},
    ),
}


def of(tmp_path, mdp, goals, agent, extract):
    return explain(resolved(tmp_path, mdp=mdp, goals=goals, agent=agent, extract=extract))


@pytest.mark.parametrize("name", COVERED)
def test_a_spec_that_meets_all_premises_is_covered(tmp_path, name):
    found = of(tmp_path, *COVERED[name])
    assert found.promised == "one world" and found.missing == ()
    assert found.statement.name == name.strip()
    assert found.verdict.startswith(f"{name.strip()} covers this")


MISSING = {
    "two goals": (RANDOM, generic(3), EXACT, LP, "Theorem (local), known support", ["2 more goals"]),
    "noise": (
        DETERMINISTIC,
        {"reward": {"kind": "indicator"}, "at": ["s0"], "terminate": "never"},
        EXACT,
        MATCHING,
        "Theorem 2(a)",
        ["noise on the rewards (goals.reward.noise), or kind: generic"],
    ),
    "noise and a goal": (
        SLIP,
        {"reward": {"kind": "indicator"}, "at": [[0, 0], [1, 1], [2, 2]], "terminate": "never"},
        EXACT,
        LOCAL,
        "Theorem (local), known support",
        ["noise on the rewards (goals.reward.noise), or kind: generic", "1 more goal"],
    ),
    "a wider support": (
        {**RANDOM, "branching": 3},
        generic(3),
        EXACT,
        {"kind": "sparse_lp", "size": 2},
        "Theorem (local), unknown support",
        ["extract.size: 3"],
    ),
    "independent rewards": (
        {**RANDOM, "states": 2},
        {"reward": {"kind": "table", "of": {"a": [1, 0], "b": [2, 0]}}, "terminate": "never"},
        {**EXACT, "policy": "uniform"},
        {"kind": "pseudo_inverse"},
        "Theorem 3(a)",
        ["noise on the rewards (goals.reward.noise), or kind: generic"],
    ),
}


@pytest.mark.parametrize("name", MISSING)
def test_what_is_missing_is_said_by_the_nearest_statement(tmp_path, name):
    *sections, statement, missing = MISSING[name]
    found = of(tmp_path, *sections)
    assert found.promised == "nothing"
    assert found.statement.name == statement and list(found.missing) == missing
    assert all(need in found.verdict for need in missing)


def test_a_goal_on_the_lattice_may_be_on_an_axis_of_symmetry(tmp_path):
    goals = {"reward": {"kind": "gaussian", "sigma": 1}, "at": [[1, 1]], "terminate": "never"}
    found = of(tmp_path, GRID, goals, EXACT, MATCHING)
    [premise] = found.statement.open
    assert premise.says == "goals lie in general position" and "jitter" in premise.need
    assert found.verdict.endswith("provided that goals lie in general position.")


def test_approximate_values_get_a_bound_with_its_numbers(tmp_path):
    agent = {**EXACT, "policy": {"kind": "random"}, "approximate": {"epsilon": 0.01}}
    found = of(tmp_path, DETERMINISTIC, generic(2), agent, MATCHING)
    assert found.promised == "a bound"
    assert "would cover this if values were exact" in found.verdict
    assert "ε < Δ / (2 (1 + 0.9 × 2))" in found.verdict
    near = next(premise for one in found.further for premise in one.premises if premise.says.startswith("values are"))
    assert near.found == "ε = 0.01"


def test_unconditional_policies_have_the_better_bound(tmp_path):
    agent = {**EXACT, "policy": "uniform", "approximate": {"epsilon": 0.01}}
    found = of(tmp_path, RANDOM, INDICATOR, agent, {"kind": "pseudo_inverse"})
    assert "‖M⁺‖₁ (1 + 0.9 × 1) ε" in found.verdict and "as the policy is unconditional" in found.verdict


def test_without_full_rank_there_is_no_bound(tmp_path):
    agent = {**EXACT, "approximate": {"epsilon": 0.01}}
    found = of(tmp_path, RANDOM, {**INDICATOR, "at": ["s0"]}, agent, {"kind": "pseudo_inverse"})
    assert found.promised == "nothing" and not any(one.promises == "bound" for one in found.further)


def test_horizons_do_not_stand_in_for_goals(tmp_path):
    agent = {"kind": "exact", "discounts": [0.5, 0.9]}
    found = of(tmp_path, RANDOM, ONE_GENERIC, agent, LP)
    assert found.verdict.startswith("Proposition (many horizons and policies) covers this")


def test_p_learning_is_told_where_it_goes(tmp_path):
    found = of(tmp_path, RANDOM, generic(3), EXACT, {"kind": "tabular_p_learning"})
    assert any(one.name == "Theorem 1" for one in found.further)


def test_a_single_discount_calls_for_a_warning(tmp_path):
    spec = ({**RANDOM, "branching": 2}, INDICATOR, EXACT, {"kind": "pseudo_inverse"})
    assert any("a single discount can be singular" in warning for warning in of(tmp_path, *spec).warnings)


def test_rooms_with_doors_call_for_a_warning(tmp_path):
    goals = {"reward": {"kind": "indicator"}, "at": [[0, 0]], "terminate": "on_arrival"}
    assert any("bottlenecks" in warning for warning in of(tmp_path, SLIP, goals, EXACT, LOCAL).warnings)


def continuous(reward, at, terminate, noise=None, estimator="deterministic", **agent):
    sections = {
        "mdp": {**DYNAMICS, "noise": noise or {}},
        "goals": {"reward": reward, "at": at, "terminate": terminate},
        "agent": {**EXACT, **agent},
        "extract": {"kind": "p_learning", "estimator": estimator},
    }
    return build(ExperimentSpec, sections)


FIVE = [{"x": x, "v": v} for x, v in ((0.1, 0.2), (-0.7, 0.4), (0.5, -0.3), (0.9, 0.8), (-0.2, -0.9))]


@pytest.mark.parametrize(("there", "elsewhere", "status"), [(0, -1, "met"), (1, 0, "met"), (-10, -1, "not met")])
def test_an_indicator_that_pays_as_libraries_do_is_one_unless_arriving_is_worth_nothing(there, elsewhere, status):
    reward = {"kind": "indicator", "radius": 0.2, "there": there, "elsewhere": elsewhere}
    facts = facts_of(continuous(reward, FIVE, "on_arrival"))
    premise = rewards_are("indicator")(facts)
    assert facts.agent.discount == pytest.approx(0.9) and premise.status == status
    assert ("but for scale and shift" in premise.found) == (there == 0)


def test_indicator_goals_must_cover_a_rim_around_the_state_space():
    found = explain(continuous({"kind": "indicator", "radius": 0.2}, FIVE, "on_arrival"))
    assert found.statement.name == "Theorem (continuous, deterministic, indicator goals)"
    assert found.missing == (
        "goals everywhere among the states and up to σ around them (a finite set only comes near it)",
    )
    assert any("NMSE" in warning for warning in found.warnings)


def test_five_scattered_gaussian_goals_are_enough_on_a_plane():
    reward = {"kind": "gaussian", "sigma": 0.5, "jitter": 0.1}
    found = explain(continuous(reward, FIVE, "never", policy="uniform"))
    assert found.statement.name == "Theorem (continuous, deterministic, 2 d + 1 Gaussian goals)"
    assert [premise.says for premise in found.statement.open] == ["values are real-analytic in state and goal"]
    four = explain(continuous(reward, FIVE[:4], "never", policy="uniform"))
    assert four.promised == "nothing" and "1 more goal" in four.missing


def test_gaussian_goals_that_end_need_a_small_sigma():
    goals = {"x": {"linspace": [-1, 1, 500]}, "v": {"linspace": [-1, 1, 500]}}
    small = explain(continuous({"kind": "gaussian", "sigma": 0.05}, goals, {"within": 0.5}))
    assert small.statement.name == "Theorem (continuous, deterministic, Gaussian goals that end)"
    large = explain(continuous({"kind": "gaussian", "sigma": 0.4}, goals, {"within": 0.5}))
    premise = next(one for one in large.statement.premises if one.says.startswith("σ²"))
    assert premise.status == "not met" and premise.need == "σ below 0.165"


def test_stochastic_continua_need_an_unconditional_policy():
    gusts = {"gust": {"kind": "normal", "sd": 0.1}}
    found = explain(continuous({"kind": "gaussian", "sigma": 0.5}, FIVE, "never", gusts, "reparameterised"))
    assert found.statement.name == "Theorem (continuous, stochastic, Gaussian goals)"
    assert "one policy for all goals" in found.missing


def test_goals_that_name_some_variables_are_not_the_theorems_goals():
    found = explain(continuous({"kind": "indicator", "radius": 0.1}, [{"x": 0.5}], "on_arrival"))
    assert "goals that name every state variable" in found.missing


def test_episodes_that_end_by_a_table_do_not_end_alike(tmp_path):
    goals = {**INDICATOR, "terminate": {"table": {"s0": ["s1"]}}}
    found = resolved(tmp_path, mdp=RANDOM, goals=goals, agent={**EXACT, "policy": "uniform"}, extract={"kind": "lp"})
    facts = facts_of(found)
    assert facts.goals.ending == "by a table" and facts.goals.rho is None
    assert no_goal_ends(facts).found == "they end by a table"


def test_every_statement_has_a_name_of_its_own_and_can_be_held_against_any_spec(tmp_path):
    names = [statement.name for statement in STATEMENTS]
    assert len(set(names)) == len(names) == 20
    for sections in COVERED.values():
        found = of(tmp_path, *sections)
        assert {premise.status for premise in found.statement.premises} <= {"met", "not met", UNTOLD}
        json.dumps(found.as_json())


def test_explaining_needs_no_jax():
    code = "import wmlab.explain.show, wmlab.graph.study, sys; wmlab.graph.study.open_study('specs/quickstart.yaml'); "
    code += "print(wmlab.explain.show.show_explanation(wmlab.graph.study.open_study('specs/quickstart.yaml'))); "
    code += "assert 'jax' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "\n  Theorem 2(a) covers this" in done.stdout


SENSES = ("ident.nullity is 0", "ident.simplex_nullity is 0", "ident.width is 0")


@pytest.mark.parametrize(
    ("method", "counts"), [("pseudo_inverse", "the first is what counts"), ("lp", "the last will do")]
)
def test_one_world_is_not_promised_at_a_discount_that_may_be_singular(tmp_path, method, counts):
    # At 1/sqrt(2) the paper's example has rank 2, and one kernel alone whose probabilities sum to one.
    spec = open_study(str(ROOT / "specs" / "theory" / "singular_example.yaml")).resolved
    (point,) = (p for p in spec.points if p.where == {"variant": VARIANT[method], "gamma": "singular"})
    found = explain(point.experiment)
    assert found.statement.name == "Theorem 3(b)"
    assert [premise.says.split(":")[0] for premise in found.statement.open] == [
        "the discount and the policy are no exception"
    ]
    assert found.answer.startswith("Yes, in theory, if what only a run can tell turns out well")
    (senses,) = (warning for warning in found.warnings if warning.startswith("one world has three senses"))
    assert all(sense in senses for sense in SENSES) and f"{counts} for {method}" in senses


def test_a_policy_that_is_drawn_is_almost_surely_no_exception(tmp_path):
    drawn = {**EXACT, "policy": {"kind": "random"}}
    found = of(tmp_path, {**RANDOM, "branching": 2}, INDICATOR, drawn, LP)
    assert found.statement.name == "Theorem 3(b)" and not found.statement.open
    assert found.answer.startswith("Yes, in theory: only one world")


def test_goals_that_end_episodes_are_covered_by_the_papers_extension(tmp_path):
    ended = {**GENERIC, "terminate": {"table": {"g0": ["s1"]}}}
    found = of(tmp_path, RANDOM, ended, EXACT, {"kind": "pseudo_inverse"})
    assert found.statement.name == "Theorem 3(a)"
    (said,) = (warning for warning in found.warnings if warning.startswith("goals end episodes"))
    assert "the paper extends its finite results to any such ends (§2, App. D.1)" in said
    table = {**INDICATOR, "terminate": {"table": {"s0": ["s0"]}}}
    shared = of(tmp_path, RANDOM, table, {**EXACT, "policy": "uniform"}, LP)
    assert shared.statement.name != "Theorem 3(b), unconditional policies"


def test_values_do_not_count_where_every_goal_ends(tmp_path):
    learnt = {"kind": "q_learning", "discount": 0.9, "steps": 100}
    for terminate, open_ in (("never", []), ({"table": {"s0": ["s0", "s1"]}}, ["states go on for some goal"])):
        goals = {"reward": {"kind": "indicator"}, "at": ["s0"], "terminate": terminate}
        found = of(tmp_path, DETERMINISTIC, goals, learnt, MATCHING)
        (arbitrary,) = (one for one in found.further if one.name == "Proposition (arbitrary values, deterministic)")
        assert [premise.says.split(",")[0] for premise in arbitrary.open] == open_
