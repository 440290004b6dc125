"""What the benchmark of ensembles times are the programs of a fit."""

from __future__ import annotations

from wmlab.bench import p_learning


def test_an_ensemble_is_timed_beside_one_model_with_its_batch_shared_and_with_a_batch_each(monkeypatch):
    name, case = next(iter(p_learning.ENSEMBLES.items()))
    monkeypatch.setattr(p_learning, "ENSEMBLES", {name: case})
    (line,) = p_learning.compare_ensembles(seconds=0.02, turns=1)
    assert line.startswith("small: 2x64, batch 256")
    assert "5 models:" in line and "10 models:" in line and line.count("with a batch each") == 2
    view, _ = p_learning.prepare(case)
    state, stats = p_learning.together(view, case.options, 5, shared=True)()
    assert stats.loss.shape == (5,) and int(state.update) == 2
