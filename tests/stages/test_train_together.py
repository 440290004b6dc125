"""Seeds that train together: the same answers for each seed as apart, from one stage that they share."""

from __future__ import annotations

import importlib
import itertools
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import wmlab
from wmlab.agents.pqn import training
from wmlab.agents.pqn.training import stack
from wmlab.errors import StageError
from wmlab.runtime.result import Result
from wmlab.stages import one_seed
from wmlab.stages.one_seed import pack

SPECS = Path(__file__).parents[2] / "specs"
SHORT = ("seeds=[3, 7]", "agent.envs=8", "agent.rollout=16", "agent.steps=256", "agent.minibatch=32")
TOGETHER = "agent.seeds=together"
WORLDS = {
    "finite": (SPECS / "fourrooms_deterministic.yaml", ("sweep.goals={goals.at.first: [1]}",)),
    "continuous": (SPECS / "mountaincar_position.yaml", ("agent.checkpoints=2",)),
}


def planned(world: str, *sets: str):
    path, more = WORLDS[world]
    return wmlab.load(path, profile="smoke", sets=[*SHORT, *more, "agent.network.width=16", *sets]).study.plans[0]


class Kept:
    """A partial result from before, and those that are kept now."""

    def __init__(self, before: Result | None = None):
        self.before, self.saved = before, []

    def load(self):
        return self.before

    def save(self, result):
        self.saved.append(result)


def answer(stage, partial=None, **inputs: Result) -> Result:
    told = []
    context = SimpleNamespace(progress=lambda *now: told.append(now), partial=partial or Kept())
    result = importlib.import_module(stage.module).run(stage.params, inputs, context)
    assert stage.kind == "one_seed" or told[-1][:2] == (2, 2)
    return result


@pytest.mark.parametrize("world", ["finite", pytest.param("continuous", marks=pytest.mark.slow)])
def test_a_seed_trained_with_others_is_what_it_is_alone(world):
    apart, together = planned(world), planned(world, TOGETHER)
    shared = {run.stage("train_together") for run in together.runs}
    trained = answer(together.stage(shared.pop()))
    assert not shared  # one stage for both seeds
    for alone, run in zip(apart.runs, together.runs, strict=True):
        wanted = answer(apart.stage(alone.stage("train")))
        found = answer(together.stage(run.stage("train")), trained=trained)
        assert found.data == wanted.data
        assert found.arrays.keys() == wanted.arrays.keys()
        for name, array in wanted.arrays.items():
            assert found.arrays[name].dtype == array.dtype
            # A state whose two best actions are worth the same up to rounding may be acted on in either way.
            if name not in ("policy", "visits", "returns", "curves/return"):
                np.testing.assert_allclose(found.arrays[name], array, rtol=1e-3, atol=1e-4, err_msg=name)


def test_a_training_of_several_seeds_resumes_to_the_same_bytes(monkeypatch):
    hours = itertools.count(0, 3600)
    monkeypatch.setattr(training.time, "monotonic", lambda: float(next(hours)))  # time to keep every update
    plan = planned("finite", TOGETHER)
    stage = plan.stage(plan.runs[0].stage("train_together"))
    partial = Kept()
    whole = answer(stage, partial)
    (first,) = partial.saved
    assert first.arrays["curves/loss"].shape == (2, 1)  # seeds, updates
    resumed = answer(stage, Kept(first))
    assert resumed.data == whole.data and resumed.arrays.keys() == whole.arrays.keys()
    for name, array in whole.arrays.items():
        np.testing.assert_array_equal(resumed.arrays[name], array)


def test_how_seeds_train_is_no_part_of_what_is_asked_of_each():
    silent, apart, together = (planned("finite", *sets) for sets in ((), ("agent.seeds=apart",), (TOGETHER,)))
    assert set(silent.stages) == set(apart.stages)
    shared = set(apart.stages) & set(together.stages)
    assert {apart.stage(stage).kind for stage in shared} == {"oracle"}
    assert all(
        "seeds" not in plan.stage(run.stage("train")).params.get("agent", {})
        for plan in (apart, together)
        for run in plan.runs
    )


def test_a_single_seed_has_none_to_train_with():
    alone, together = planned("finite", "seeds=1"), planned("finite", "seeds=1", TOGETHER)
    assert set(alone.stages) == set(together.stages)


def test_a_seed_that_diverged_fails_where_it_is_needed_and_the_others_go_on():
    fine = Result({"q": np.ones(2)}, {"steps": [1]})
    trained = pack([0, 1], [fine, StageError("training of seed 1 diverged in update 3 of 9; fine: seeds 0")])
    found = one_seed.run({"seed": 0}, {"trained": trained}, None)
    np.testing.assert_array_equal(found.arrays["q"], 1)
    assert found.data == {"steps": [1]}
    with pytest.raises(StageError, match="seed 1 diverged in update 3 of 9; fine: seeds 0"):
        one_seed.run({"seed": 1}, {"trained": trained}, None)


def test_seeds_that_all_diverge_leave_no_result():
    with pytest.raises(StageError, match="^one; other$"):
        pack([0, 1], [StageError("one"), StageError("other")])


def test_worlds_of_several_shapes_cannot_train_together():
    with pytest.raises(StageError, match="not of one shape.*set agent.seeds: apart"):
        stack([np.zeros(2), np.zeros(3)])


def test_weights_of_earlier_checkpoints_are_kept_where_they_are_asked_for():
    plans = planned("continuous"), planned("continuous", "extract.when=checkpoints")
    last, both = (answer(plan.stage(plan.runs[0].stage("train"))) for plan in plans)
    numbers = [{name.split("/")[1] for name in one.arrays if name.startswith("checkpoints/")} for one in (last, both)]
    assert numbers == [{"1"}, {"0", "1"}]
    assert last.arrays["returns"].shape == both.arrays["returns"].shape
    for name in last.arrays:
        np.testing.assert_array_equal(last.arrays[name], both.arrays[name])
