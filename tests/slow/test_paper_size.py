"""The paper's own settings, at full size for a moment: they compile, they run, and they fit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import wmlab

UPDATES = 2
FITS = 10  # updates of P-learning
FINITE = {"fourrooms_deterministic": 5, "fourrooms_windy": 4, "fourrooms_teleporting": 68}  # goals, at the most
CONTINUOUS = ("mountaincar_position", "mountaincar_velocity", "reacher")
SHORT = (f"agent.steps={UPDATES * 16_384}", f"agent.checkpoints={UPDATES}", "seeds=1", "claims=null")
ROOM = 12 * 2**30


@pytest.mark.slow
@pytest.mark.parametrize("name", FINITE)
def test_two_updates_of_a_finite_spec_at_the_papers_size_run_and_fit_in_memory(name, tmp_path, monkeypatch, capsys):
    sweep = f"sweep.goals={{goals.at.first: [{FINITE[name]}]}}"
    found = run(name, (*SHORT, sweep, "report=null"), tmp_path, monkeypatch)
    assert found.results["steps"] == [16_384, 32_768]
    tell(name, peaks(tmp_path), capsys)


@pytest.mark.slow
@pytest.mark.parametrize("name", CONTINUOUS)
def test_training_and_extraction_of_a_continuous_spec_at_the_papers_size_fit_in_memory(
    name, tmp_path, monkeypatch, capsys
):
    # Plans on a grid are no part of this: they do not depend on the size of a network.
    sets = [*SHORT, f"extract.steps={FITS}", "evaluate.unseen=null", "evaluate.value_error=null"]
    sets += ["evaluate.model_error.samples=1000"] + (["compare=null"] if name == "mountaincar_velocity" else [])
    found = run(name, sets, tmp_path, monkeypatch)
    assert found.results["steps"] == [16_384, 32_768]
    assert found.results["metrics"]["wm.nmse"]["mean"] > 0
    tell(name, peaks(tmp_path), capsys)


def run(name, sets, folder, monkeypatch):
    monkeypatch.setenv("WMLAB_HOME", str(folder / "cache"))
    monkeypatch.chdir(folder)
    specs = Path(__file__).parents[2] / "specs"
    found = wmlab.load(specs / f"{name}.yaml", profile="paper", sets=list(sets)).run(jobs=1, progress=False)
    assert found.run.ok
    return found


def peaks(folder):
    """The peak memory of each kind of stage, and its seconds."""
    (log,) = (folder / "cache" / "runs").glob("*.jsonl")
    found = {}
    for line in log.read_text().splitlines():
        event = json.loads(line)
        if event["type"] == "stage" and event.get("peak_memory"):
            peak, seconds = found.get(event["kind"], (0, 0.0))
            found[event["kind"]] = max(peak, event["peak_memory"]), max(seconds, event["seconds"])
    return found


def tell(name, found, capsys):
    with capsys.disabled():
        for kind, (peak, seconds) in found.items():
            print(f"\n{name} {kind}: peak memory {peak / 2**30:.2f} GiB, {seconds:.0f} s", end="")
    assert max(peak for peak, _ in found.values()) < ROOM
