"""A time left is told when it means something."""

from __future__ import annotations

import pytest

from wmlab.runtime import tally as tallies
from wmlab.runtime.events import RunFinished, RunStarted, StageFinished, StageProgress, StageStarted
from wmlab.runtime.tally import StageTally


class Clock:
    now = 0.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(tallies, "time", clock)
    return clock


def do(tally, clock, kind, id, seconds):
    tally.update(StageStarted(id, id, 1, kind))
    clock.now += seconds
    tally.update(StageFinished(id, id, id, kind, "ran", seconds))


def started(jobs=1, cached=0, **kinds):
    tally = StageTally()
    tally.update(RunStarted(sum(kinds.values()) + cached, cached, jobs, kinds))
    return tally


def test_the_first_stages_of_many_say_nothing_for_they_also_compile(clock):
    tally = started(plan=1000)
    do(tally, clock, "plan", "a", 8.0)
    assert str(tally) == "1/1000 stages"
    do(tally, clock, "plan", "b", 0.1)
    do(tally, clock, "plan", "c", 0.1)
    assert str(tally) == "3/1000 stages, about 2 min left"  # 997 of a tenth of a second


def test_nothing_is_told_while_a_kind_is_left_that_has_not_run(clock):
    tally = started(train=2, measure=2)
    do(tally, clock, "train", "a", 60.0)
    assert "left" not in str(tally)
    do(tally, clock, "measure", "b", 2.0)
    assert str(tally) == "2/4 stages, about 62 s left"


def test_a_long_stage_tells_by_its_own_progress_and_workers_share_the_rest(clock):
    tally = started(jobs=2, train=4)
    tally.update(StageStarted("a", "a", 1, "train"))
    tally.update(StageStarted("b", "b", 2, "train"))
    clock.now = 30.0
    tally.update(StageProgress("a", "a", 1, 100))
    assert "left" not in str(tally)
    tally.update(StageProgress("a", "a", 30, 100))
    assert str(tally) == "0/4 stages, about 3 min left"  # (4 * 100 - 2 * 30) / 2 seconds


def test_a_few_seconds_are_not_worth_a_word(clock):
    tally = started(plan=5)
    for id in "abc":
        do(tally, clock, "plan", id, 1.0)
    assert str(tally) == "3/5 stages"


def test_the_last_line_says_what_became_of_the_run(clock):
    tally = started(cached=8)
    for id in "abcdefgh":
        tally.update(StageFinished(id, id, id, "plan", "cached"))
    assert tally.last_line(RunFinished({}, 0.1)) == "done: all 8 stages were cached"
    tally = started(plan=3)
    do(tally, clock, "plan", "a", 1.0)
    assert tally.last_line(RunFinished({}, 75.0, interrupted=True)) == (
        "stopped: 1/3 stages in 75 s; what is finished is kept"
    )
