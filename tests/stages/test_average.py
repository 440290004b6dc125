"""Models of several agents of one seed, averaged: which agents those are, and what their average predicts."""

from __future__ import annotations

import re
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

import wmlab
from tests.stages.test_continuous import answer
from wmlab.errors import StageError
from wmlab.extraction.continuous.fit import residuals, successors
from wmlab.registry import WorldChoice
from wmlab.runtime.result import Result
from wmlab.stages.continuous.average import require_one_form
from wmlab.stages.continuous.records import load_agent, load_model

SPECS = Path(__file__).parents[2] / "specs"
AGENTS = ("extract agent 1", "extract agent 2")
SETS = ("agent.envs=8", "agent.steps=2048", "agent.network.width=16", "extract.model={depth: 1, width: 16}")


def plan_of(*sets):
    return wmlab.load(SPECS / "mountaincar_position.yaml", profile="smoke", sets=(*SETS, *sets)).study.plans[0]


def seeds_of(plan, kind):
    return [stage.params["seed"] for stage in plan.stages.values() if stage.kind == kind]


def test_every_agent_of_every_seed_draws_from_a_seed_of_its_own():
    plan = plan_of("seeds=[1, 2]", "extract.agents=3")
    trained = seeds_of(plan, "train")
    assert len(trained) == len(set(trained)) == 6 and {1, 2} < set(trained)
    assert sorted(seeds_of(plan, "extract")) == sorted(trained) and seeds_of(plan, "average") == [1, 2]
    labels = [stage.label for stage in plan.stages.values()]
    assert len(labels) == len(set(labels))
    assert "mountaincar_position: train agent 3 seed=2" in labels


def test_a_seed_s_own_agent_and_its_reading_are_those_of_a_spec_that_reads_it_alone():
    alone, several = plan_of("seeds=[1, 2]"), plan_of("seeds=[1, 2]", "extract.agents=2")
    shared = [stage.kind for stage in alone.stages.values() if stage.id in several.stages]
    assert shared.count("train") == shared.count("extract") == 2


def test_agents_that_train_together_are_trained_in_one_stage_with_those_beside_them():
    plan = plan_of("seeds=[1, 2]", "extract.agents=2", "agent.seeds=together")
    (together,) = [stage for stage in plan.stages.values() if stage.kind == "train_together"]
    assert together.params["seeds"][:2] == [1, 2] and len(set(together.params["seeds"])) == 4
    assert sorted(seeds_of(plan, "one_seed")) == sorted(together.params["seeds"])


def test_agents_beside_a_seed_s_own_keep_no_transitions_and_may_disagree_also_where_states_are_matched():
    plan = plan_of(
        "extract.agents=2", "evaluate.baselines={regression: {transitions: 100}}", "evaluate.disagreement={}"
    )
    kept = [stage.params.get("transitions") for stage in plan.stages.values() if stage.kind == "train"]
    assert kept == [100, None]
    matched = ("extract={kind: matching, store: network, agents: 2}", "evaluate.disagreement={}")
    assert [stage.kind for stage in plan_of(*matched).stages.values()].count("extract") == 2


@pytest.mark.parametrize(("sets", "members"), [((), 2), (("extract.ensemble=2",), 4)], ids=["models", "ensembles"])
def test_an_average_predicts_the_mean_of_its_members_moves_and_is_held_against_the_first_agent(sets, members):
    plan = plan_of("extract.agents=2", "extract.steps=20", *sets)
    stages = {str(role): plan.stages[stage] for role, stage in plan.runs[0].stages.items()}
    found = {}
    for stage in plan.stages.values():
        if stage.kind in ("train", "extract", "average"):
            found[stage.id] = answer(stage, {name: found[source] for name, source in stage.inputs.items()})
    space = WorldChoice(stages["train"].params["mdp"]).space
    view = load_agent(found[stages["train"].id], space).view()
    average, *read = (load_model(found[stages[role].id], space) for role in ("extract", *AGENTS))
    states = jnp.asarray(found[stages["extract"].id].arrays["held_out"])
    moves = [successors(view, model, states, jnp.zeros(2, jnp.uint32), 1)[0] - states[:, None] for model in read]
    predicted = successors(view, average, states, jnp.zeros(2, jnp.uint32), 1)
    assert average.size == members
    np.testing.assert_allclose(predicted[0] - states[:, None], np.mean(moves, axis=0), atol=1e-6)
    held = found[stages["extract"].id].arrays["residual"]
    np.testing.assert_allclose(held, residuals(view, states, predicted), atol=1e-6)
    assert found[stages["extract"].id].data["notes"]["agents"] == 2


def test_models_of_agents_that_found_other_rates_have_no_average_and_say_so():
    def model(rates):
        return Result({}, {"model": {"form": "network", "options": {"rates": rates}}})

    require_one_form([model({"x": "v"}), model({"x": "v"})])
    with pytest.raises(StageError, match=re.escape("(agent 1: x by v; agent 2: none): say extract.model.rates")):
        require_one_form([model({"x": "v"}), model({})])
