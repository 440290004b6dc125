from __future__ import annotations

import subprocess
import sys

import pytest

from tests.agents.pqn.conftest import make_options
from wmlab.agents.pqn import Options
from wmlab.agents.pqn.check import check
from wmlab.core.continuous.space import ContinuousSpace, Variable
from wmlab.core.finite.space import FiniteSpace
from wmlab.registry import RewardChoice, Scope, agents, build
from wmlab.sections.experiment import GoalsSection

FOUR_GOALS = {"goals": GoalsSection(RewardChoice({}), at={"x": {"linspace": [0, 1, 4]}})}


def messages(options: Options, **sections: object) -> list[tuple[tuple, str]]:
    return [(finding.path, finding.message) for finding in check(options, Scope(**sections))]


def test_the_language_reads_the_options_without_jax():
    program = "import sys; from wmlab.registry import agents; agents['pqn']; assert 'jax' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_papers_table_is_610_updates():
    options = build(Options, {"steps": 10_000_000, "envs": 256, "rollout": 64, "hindsight": {"k": 4}})
    assert options.updates == 610
    assert options.minibatches == 64 * 5
    assert options.gradient_steps == 610 * 320


def test_default_options_have_no_findings():
    assert messages(Options()) == []
    assert agents["pqn"].build({"kind": "pqn"}) == Options()


def test_equal_options_are_one_key_of_the_compilation_cache():
    assert hash(make_options()) == hash(make_options())
    assert make_options() == make_options()


def test_checkpoints_are_even_and_the_last_is_the_end():
    assert make_options(steps=10 * 256, checkpoints=4).checkpoint_updates == (2, 5, 7, 10)


def test_more_checkpoints_than_updates_says_both_remedies():
    options = make_options(steps=32_768, envs=256, rollout=64, checkpoints=20)
    expected = "20 checkpoints from 2 updates (32 768 / (256 envs x 64 steps)); lower it to 2, or envs to 16"
    assert messages(options) == [(("checkpoints",), expected)]


def test_a_training_shorter_than_an_update_is_an_error():
    ((path, message),) = messages(make_options(steps=100))
    assert path == ("steps",)
    assert message == "100 steps are less than one update (16 envs x 16 steps); raise it to 256, or lower envs"


def test_a_minibatch_larger_than_a_rollout_is_an_error():
    assert messages(make_options(minibatch=512)) == [
        (("minibatch",), "512 samples, but a rollout gives 256; lower it to that")
    ]


@pytest.mark.parametrize(
    ("strategy", "message"),
    [
        ("future", "'future' relabels with states reached, but goal: head has only the 4 goals; set hindsight: null"),
        (
            "random",
            "'random' relabels with goals of the set, but goal: head learns all 4 goals from every step;"
            " set hindsight: null",
        ),
    ],
)
def test_a_head_per_goal_excludes_hindsight(strategy: str, message: str):
    assert messages(make_options(hindsight={"strategy": strategy}), **FOUR_GOALS) == [(("hindsight",), message)]


PERTURBED = {"kind": "indicator", "noise": {"kind": "normal", "sd": 1.0}}
LINE = ContinuousSpace((Variable("x", 0, 1, "clip"),), ("stay",), ("u",), ((0.0,),), ((0, 1),))


def outside_the_set(space: object, strategy: str = "future", at: object = "all", **reward: object) -> list[str]:
    """What is said of goals outside the set that pay alike, all of it at one place."""
    network = {"goal": "input", "encoding": "raw"}
    options = make_options(network=network, hindsight={"strategy": strategy, "outside": "alike"})
    goals = GoalsSection(RewardChoice(reward), at=at, terminate="on_arrival")
    said = messages(options, space=space, goals=goals)
    assert all(path == ("hindsight", "outside") for path, _ in said)
    return [message for _, message in said]


@pytest.mark.parametrize(
    "reward", [PERTURBED, {"kind": "indicator", "elsewhere": -1.0}, {"kind": "gaussian", "sigma": 1.0}]
)
def test_goals_outside_the_set_may_pay_alike_where_that_is_another_reward(reward: dict[str, object]):
    assert outside_the_set(FiniteSpace.named(5, ("stay",)), **reward) == []


def test_goals_outside_the_set_pay_alike_only_where_that_means_something():
    chain = FiniteSpace.named(5, ("stay",))
    assert "never with others" in outside_the_set(chain, "random", **PERTURBED)[0]
    assert "have no noise" in outside_the_set(chain, kind="indicator")[0]
    assert "for its own goals" in outside_the_set(chain, at=None, kind="generic", count=2)[0]
    assert "pays alike already" in outside_the_set(LINE, kind="indicator", radius=0.1)[0]


def test_a_table_of_goals_at_every_state_has_a_limit():
    said = outside_the_set(FiniteSpace.named(3_001, ("stay",)), **PERTURBED)
    assert said == ["a table of 3 001 goals, one at each state; at most 3 000"]


def test_returns_over_many_steps_exclude_hindsight():
    ((path, message),) = messages(make_options(network={"goal": "input"}, hindsight={"k": 2}, trace=0.5))
    assert path == ("trace",)
    assert message.endswith("set trace: 0, or hindsight: null")


def test_output_limits_have_an_order():
    assert messages(make_options(network={"output": {"low": 1, "high": -6}})) == [
        (("network", "output"), "low (1) is not below high (-6)")
    ]
