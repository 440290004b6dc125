"""What a plan is going to cost follows from what ran before, in a range; what is not known is not guessed."""

from __future__ import annotations

import pytest

from tests.runtime.toys import plan_of, stage
from wmlab.runtime.estimates import FLAT, PastStage, StageParameters, plan_cost, stage_cost
from wmlab.runtime.executor import execute
from wmlab.runtime.store import Store

MIB = 2**20


def past(seconds, memory=300 * MIB, **params):
    return PastStage(StageParameters.of(params), seconds, memory)


def test_the_same_question_with_another_seed_costs_about_the_same():
    before = [past(4.0, kind="pqn", steps=100, seed=0), past(6.0, kind="pqn", steps=100, seed=1)]
    cost = stage_cost(StageParameters.of({"kind": "pqn", "steps": 100, "seed": 2}), before, 200 * MIB)
    assert cost.seconds.middle == 5.0 and cost.seconds.low < 4.0 and 6.0 < cost.seconds.high < 12.0
    assert cost.memory.low == cost.memory.middle == cost.memory.high == 300 * MIB


@pytest.mark.parametrize(("steps", "middle"), [(1000, 40.0), (10, 0.4)])
def test_time_and_memory_grow_with_sizes_and_the_range_is_as_wide_as_the_way(steps, middle):
    cost = stage_cost(
        StageParameters.of({"kind": "pqn", "steps": steps}), [past(4.0, FLAT + MIB, kind="pqn", steps=100)], 200 * MIB
    )
    assert cost.seconds.middle == pytest.approx(middle) and cost.seconds.low < cost.seconds.middle < cost.seconds.high
    assert cost.seconds.high / cost.seconds.low > 10
    assert cost.memory.middle == pytest.approx(FLAT + MIB * steps / 100)


def test_what_libraries_and_programs_take_does_not_grow_with_sizes():
    cost = stage_cost(StageParameters.of({"goals": 10_000}), [past(4.0, 800 * MIB, goals=1)], 200 * MIB)
    assert cost.memory.low == cost.memory.high == 800 * MIB and cost.seconds.high > 1000 * cost.seconds.low


def test_a_map_and_a_list_have_the_size_of_their_length():
    before = [past(1.0, map="##\n##\n", goals=[1, 2])]
    cost = stage_cost(StageParameters.of({"map": "##\n##\n" * 3, "goals": [1, 2, 3, 4]}), before, 0.0)
    assert cost.seconds.middle == pytest.approx(6.0)


def test_the_nearest_of_earlier_stages_counts():
    before = [past(1.0, steps=100, rate=0.1), past(50.0, steps=100, rate=0.2)]
    assert stage_cost(StageParameters.of({"steps": 100, "rate": 0.2}), before, 0.0).seconds.middle == 50.0


def test_another_kind_tells_nothing():
    assert stage_cost(StageParameters.of({"agent": {"kind": "pqn"}}), [past(1.0, agent={"kind": "exact"})], 0.0) is None


def test_of_a_plan_the_known_and_the_unknown_are_told_apart(tmp_path):
    store = Store(tmp_path)
    ran = stage("add", "ran", number=1)
    execute(*plan_of(ran), store, jobs=0)
    stages, keys = plan_of(ran, stage("add", "like it", number=2), stage("fail", "other", how="raise"))
    cost = plan_cost(stages, keys, store, jobs=2)
    assert [stages[id].label for id in cost.stages] == ["like it"] and cost.unknown == {"fail": 1}
    assert cost.seconds.low <= cost.seconds.middle <= cost.seconds.high and cost.memory.middle > MIB
    assert plan_cost(*plan_of(ran), store, jobs=2) is None


def test_stages_share_workers_and_memory_is_that_of_those_at_once(tmp_path):
    store = Store(tmp_path)
    execute(*plan_of(stage("add", "ran", number=1)), store, jobs=0)
    plan = plan_of(*(stage("add", f"{number}", number=number) for number in (2, 3, 4, 5)))
    one, two = (plan_cost(*plan, store, jobs=jobs) for jobs in (1, 2))
    assert two.seconds.middle < one.seconds.middle and two.memory.middle > 1.9 * one.memory.middle
