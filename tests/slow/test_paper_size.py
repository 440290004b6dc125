"""The paper's own settings, at full size for a moment: they compile, they run, and they fit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import wmlab

UPDATES = 2
SPECS = {
    "fourrooms_deterministic": ("sweep.goals={goals.at.first: [5]}", "agent.steps=32_768"),
    "fourrooms_windy": ("sweep.goals={goals.at.first: [4]}", "agent.steps=32_768"),
    "fourrooms_teleporting": ("sweep.goals={goals.at.first: [68]}", "agent.steps=32_768"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SPECS)
def test_two_updates_at_the_papers_size_run_and_fit_in_memory(name, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("WMLAB_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    sets = [*SPECS[name], f"agent.checkpoints={UPDATES}", "seeds=1", "claims=null"]
    specs = Path(__file__).parents[2] / "specs"
    found = wmlab.load(specs / f"{name}.yaml", profile="paper", sets=sets).run(jobs=1, progress=False)
    assert found.finished.ok
    assert found.results["steps"] == [16_384, 32_768]
    (log,) = (tmp_path / "cache" / "runs").glob("*.jsonl")
    stages = [json.loads(line) for line in log.read_text().splitlines()]
    peak = max(stage["peak_memory"] for stage in stages if stage["type"] == "stage" and stage.get("peak_memory"))
    with capsys.disabled():
        print(f"\n{name}: peak memory {peak / 2**30:.2f} GiB")
    assert peak < 12 * 2**30
