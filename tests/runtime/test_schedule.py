"""The order of things, without processes."""

from __future__ import annotations

from tests.runtime.toys import plan_of, stage
from wmlab.runtime.schedule import StageSchedule

A = stage("add", "a", number=1)
B = stage("add", "b", {"a": A}, number=2)
C = stage("add", "c", {"b": B}, number=3)
LONG = stage("add", "long", number=4, long=True)


def schedule(*present, stages=(A, B, C), wanted=None):
    stages_by_id, keys = plan_of(*stages)
    hashes = {keys[one.id].hash for one in present}
    return StageSchedule(stages_by_id, keys, hashes.__contains__, wanted and [one.id for one in wanted])


def finish_all(plan):
    done = []
    while one := plan.take(1, small=False):
        plan.done(one.id)
        done.append(one.label)
    return done


def test_a_stage_starts_when_its_inputs_are_there():
    assert finish_all(schedule()) == ["a", "b", "c"]
    assert finish_all(schedule(A)) == ["b", "c"]


def test_a_stage_that_is_not_wanted_runs_only_when_it_is_needed():
    assert finish_all(schedule(C, wanted=[C])) == []
    assert finish_all(schedule(B, wanted=[C])) == ["c"]
    assert finish_all(schedule(wanted=[C])) == ["a", "b", "c"]


def test_long_stages_start_first_and_are_not_taken_as_small():
    plan = schedule(stages=(A, LONG))
    assert plan.take(1, small=True) is None
    assert plan.take(1, small=False) is LONG
    assert plan.take(1, small=True) is A


def test_each_number_of_cores_has_a_head_and_the_plan_decides_their_order():
    wide = stage("add", "wide", number=5, cores=2)
    assert schedule(stages=(wide, A, B)).heads() == [wide, A]
    assert schedule(stages=(A, wide, LONG)).heads() == [LONG, wide]


def test_a_failure_loses_those_that_wait_for_it_and_no_others():
    plan = schedule(stages=(A, B, C, LONG))
    assert plan.take(1, small=False) is LONG
    assert plan.take(1, small=False) is A
    assert plan.fail(A.id) == [B.id, C.id]
    assert plan.open == [LONG.id]


def test_a_lost_input_is_done_again_before_its_user_with_what_it_needs():
    hashes = set()
    stages_by_id, keys = plan_of(A, B, C)
    hashes.add(keys[B.id].hash)
    plan = StageSchedule(stages_by_id, keys, hashes.__contains__, [C.id])
    assert plan.take(1, small=False) is C
    hashes.clear()
    plan.redo_input(C.id, B.id)
    assert finish_all(plan) == ["a", "b", "c"]
