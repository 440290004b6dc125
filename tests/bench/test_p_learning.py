"""What the benchmark of ensembles times are the programs of a fit."""

from __future__ import annotations

from dataclasses import replace

import pytest

from wmlab.bench import p_learning
from wmlab.core.continuous.view import ContinuousView
from wmlab.extraction.continuous import estimators
from wmlab.extraction.continuous.ensemble import extract_ensemble
from wmlab.extraction.continuous.options import FitOptions


def test_an_ensemble_is_timed_beside_one_model_with_its_batch_shared_and_with_a_batch_each(monkeypatch):
    name, case = next(iter(p_learning.ENSEMBLES.items()))
    monkeypatch.setattr(p_learning, "ENSEMBLES", {name: case})
    (line,) = p_learning.compare_ensembles(seconds=0.02, turns=1)
    assert line.startswith("small: 2x64, batch 256")
    assert "5 models:" in line and "10 models:" in line and line.count("with a batch each") == 2
    view, _ = p_learning.prepare(case)
    state, stats = p_learning.together(view, case.options, 5, shared=True)()
    assert stats.loss.shape == (5,) and int(state.update) == 2


@pytest.fixture
def drawn(monkeypatch):
    """How many states each program that is traced draws for an update of one member."""
    counts, draw = [], estimators.draw

    def counted(view: ContinuousView, options: FitOptions, key):
        batch = draw(view, options, key)
        counts.append(batch.state.shape[0])
        return batch

    monkeypatch.setattr(estimators, "draw", counted)
    return counts


@pytest.mark.parametrize("members", p_learning.MEMBERS)
def test_members_that_share_work_on_as_many_states_together_as_one_model(drawn, members):
    case = p_learning.ENSEMBLES["small: 2x64, batch 256"]
    options = replace(case.options, batch=12 * members, steps=2)  # a size that no other test compiles
    view, _ = p_learning.prepare(replace(case, options=options))
    assert set(drawn) == {options.batch}  # one model
    for shared, each in ((True, 12), (False, options.batch)):
        drawn.clear()
        p_learning.together(view, options, members, shared)
        assert set(drawn) == {each}
    drawn.clear()
    extract_ensemble(view, replace(options, steps=3), 0, members, weighted=False)  # as a spec asks for it
    assert {members * count for count in drawn} == {options.batch}
