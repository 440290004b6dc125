"""With a budget nothing is begun that would not end in time, and what is left is told."""

from __future__ import annotations

import time

from tests.runtime.toys import plan_of, run_toys, stage, tree
from wmlab.runtime import budget as budgets
from wmlab.runtime import events
from wmlab.runtime.budget import Budget
from wmlab.runtime.estimates import Estimator, PastStage, StageParameters


def past(seconds, **params):
    return PastStage(StageParameters.of(params), seconds, 1e8)


def estimator_of(stages, *before):
    return Estimator(stages, {next(iter(stages.values())).module: before})


def test_a_stage_that_would_not_end_in_time_is_not_begun_and_smaller_ones_are(tmp_path):
    long, short = stage("add", "long", number=1000), stage("add", "short", number=2)
    user = stage("add", "user", {"a": long}, number=3)
    plan, _ = plan_of(long, short, user)
    estimator = estimator_of(plan, past(2.0, number=2), past(1000.0, number=1000))
    outcome, heard, _ = run_toys(
        [long, short, user], tmp_path, jobs=0, estimator=estimator, until=time.monotonic() + 60
    )
    assert outcome.ran == [short.id] and set(outcome.left) == {long.id, user.id} and not outcome.ok
    assert outcome.counts == {"ran": 1, "cached": 0, "failed": 0, "skipped": 0, "left": 2}
    (spent,) = [event for event in heard if isinstance(event, events.BudgetSpent)]
    assert spent.kinds == {"add": 2} and str(spent).startswith("the budget is spent: 2 stages are left (add × 2, about")
    again, _, _ = run_toys([long, short, user], tmp_path, jobs=0)
    assert again.cached == [short.id] and set(again.ran) == {long.id, user.id}


def test_what_runs_when_the_time_is_over_is_ended_and_goes_on_from_there_later(tmp_path):
    trace = str(tmp_path / "trace")
    slow = stage("count", "slow", long=True, steps=100, sleep=0.1, trace=trace)
    outcome, heard, _ = run_toys([slow], tmp_path / "store", jobs=1, until=time.monotonic() + 7)
    assert outcome.left == [slow.id] and not outcome.failed
    (spent,) = [event for event in heard if isinstance(event, events.BudgetSpent)]
    assert "1 stage is left (count" in str(spent) and "'slow' had begun" in str(spent)
    again, _, _ = run_toys([slow], tmp_path / "store", jobs=1)
    assert again.ran == [slow.id]
    first, second = (tmp_path / "trace").read_text().splitlines()
    assert first == "from 0" and int(second.removeprefix("from ")) > 0


def test_an_estimate_that_was_too_high_is_mended_by_stages_that_end(tmp_path):
    """A guess from far away keeps a stage waiting; the first of its like that ends lets it begin."""
    small, large = stage("add", "small", number=10), stage("add", "large", number=20)
    plan, _ = plan_of(small, large)
    estimator = estimator_of(plan, past(40.0, number=10))  # so that `large` is taken to need 80 s
    assert estimator.seconds(large.id) == 80.0
    outcome, _, _ = run_toys([small, large], tmp_path, jobs=0, estimator=estimator, until=time.monotonic() + 60)
    assert set(outcome.ran) == {small.id, large.id}


def test_the_sizes_of_what_a_stage_builds_on_count():
    narrow, wide = stage("add", "narrow", width=32), stage("add", "wide", width=64)
    readers = [stage("fail", one.label, {"agent": one}, how="raise") for one in (narrow, wide)]
    plan, _ = plan_of(narrow, wide, *readers)
    estimator = Estimator(plan, {})
    assert estimator.seconds(readers[1].id) is None
    estimator.learn(readers[0].id, 3.0, None)
    assert estimator.seconds(readers[0].id) == 3.0 and estimator.seconds(readers[1].id) == 6.0
    estimator.learn(readers[1].id, 5.0, None)
    assert estimator.seconds(readers[1].id) == 5.0


def test_time_left_is_that_of_open_stages_shared_by_workers(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(budgets.time, "monotonic", lambda: now[0])
    stages = [stage("add", str(number), number=number) for number in (10, 20, 30)]
    plan, _ = plan_of(*stages)
    budget = Budget(plan, 2, estimator_of(plan, past(100.0, number=10)))
    ids = list(plan)
    assert budget.time_left(ids) is None  # not before a while
    now[0] = 6.0
    assert budget.time_left(ids) == 300.0
    budget.hear(events.StageStarted(ids[2], "30", 1))
    budget.hear(events.StageProgress(ids[2], "30", 25, 100))
    now[0] = 16.0
    assert budget.seconds(ids) == 200.0  # the longest is more than a half of 100 + 200 + 30
    assert budget.seconds([ids[0], ids[0], ids[2]]) == (100 + 100 + 30) / 2


def test_least_ranks_start_first(tmp_path):
    stages = tree(width=4, depth=2)
    ranks = {one.id: len(stages) - place for place, one in enumerate(stages)}
    outcome, _, _ = run_toys(stages, tmp_path, jobs=0, ranks=ranks)
    leaves = [id for id in outcome.ran if id in {one.id for one in stages[:4]}]
    assert leaves == [one.id for one in reversed(stages[:4])]
