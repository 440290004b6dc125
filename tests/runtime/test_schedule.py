"""The order of things, without processes."""

from __future__ import annotations

from tests.runtime.toys import plan_of, stage
from wmlab.runtime.schedule import StageSchedule, seconds_ahead

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
    assert schedule(stages=(wide, A)).heads() == [wide, A]
    assert schedule(stages=(wide, A, B)).heads() == [A, wide]  # B waits for A
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


def seeds(count, **options):
    """train, read and plan for several seeds, in the order of a plan: all of one seed, then all of the next."""
    stages = []
    for seed in range(count):
        train = stage("add", f"train {seed}", number=seed, long=True)
        read = stage("add", f"read {seed}", {"a": train}, number=seed + 10, long=True)
        stages += [train, read, stage("add", f"plan {seed}", {"a": read}, number=seed + 20, long=True)]
    return stages


def test_the_third_training_does_not_wait_until_the_first_two_are_read():
    plan = schedule(stages=seeds(3))
    first, second = plan.take(1, small=False), plan.take(1, small=False)
    plan.done(first.id)
    plan.done(second.id)
    assert [plan.take(1, small=False).label for _ in range(3)] == ["train 2", "read 0", "read 1"]


def test_what_is_expected_to_take_long_starts_first():
    short, slow = stage("add", "short", number=1, long=True), stage("add", "slow", number=2, long=True)
    stages, keys = plan_of(short, slow)
    plan = StageSchedule(stages, keys, lambda hash: False, seconds={short.id: 10.0, slow.id: 100.0})
    assert [plan.take(1, small=False).label for _ in range(2)] == ["slow", "short"]


def test_a_way_is_as_long_as_its_stages_together():
    stages, _ = plan_of(A, B, C, LONG)
    assert seconds_ahead(stages, {B.id: 5.0}) == {A.id: 7.0, B.id: 6.0, C.id: 1.0, LONG.id: 60.0}
