"""Curves for TensorBoard: what stages report stands in event files, read back record by record."""

from __future__ import annotations

import struct
import subprocess
import sys
from pathlib import Path

import pytest

from tests.system.lab import REPOSITORY
from wmlab.app.tensorboard import TensorBoardLog
from wmlab.cli import main
from wmlab.runtime.events import StageFinished, StageProgress

event_pb2 = pytest.importorskip("tensorboardX.proto.event_pb2")


def scalars(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """Steps and values by tag, of the one event file in a folder: records of a length, a checksum, data, a checksum."""
    (file,) = folder.glob("events.out.tfevents.*")
    data, found, place = file.read_bytes(), {}, 0
    while place < len(data):
        (length,) = struct.unpack_from("<Q", data, place)
        event = event_pb2.Event.FromString(data[place + 12 : place + 12 + length])
        place += 16 + length
        for value in event.summary.value:
            found.setdefault(value.tag, []).append((event.step, value.simple_value))
    return found


def test_each_stage_has_its_curves_under_its_label(tmp_path):
    with TensorBoardLog(tmp_path, "run") as board:
        for done in (100, 200):
            board(StageProgress("a", "x: train seed=0", done, 300, "", {"return": done / 1000, "loss": 2.0}))
            board(StageProgress("b", "x: train seed=1", done, 300, "", {"return": 0.5}))
            board(StageProgress("c", "x: plan", done, 300))
        board(StageFinished("a", "key", "x: train seed=0", "train", "ran"))
    found = {path.name: scalars(path) for path in (tmp_path / "tensorboard" / "run").iterdir()}
    assert found == {
        "x: train seed=0": {
            "return": [(100, pytest.approx(0.1)), (200, pytest.approx(0.2))],
            "loss": [(100, 2.0), (200, 2.0)],
        },
        "x: train seed=1": {"return": [(100, 0.5), (200, 0.5)]},
    }


def test_a_folder_that_cannot_be_written_costs_the_curves_and_nothing_else(tmp_path):
    (tmp_path / "tensorboard").write_text("in the way")
    with TensorBoardLog(tmp_path, "run") as board:
        for _ in range(2):
            board(StageProgress("a", "x", 1, 3, "", {"return": 1.0}))
        board(StageFinished("a", "key", "x", "train", "ran"))
    assert (tmp_path / "tensorboard").read_text() == "in the way"


def test_a_run_keeps_curves_in_the_cache_and_says_how_to_see_them(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("WMLAB_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    spec = str(REPOSITORY / "specs" / "examples" / "q_learning.yaml")
    with pytest.raises(SystemExit) as end:
        main(["run", spec, "--profile", "smoke", "--jobs", "0", "--log", "tensorboard"])
    assert end.value.code == 0
    (run,) = (tmp_path / "home" / "tensorboard").iterdir()
    said = capsys.readouterr().err
    assert f"run: {run.name}" in said and "curves: tensorboard --logdir home/tensorboard" in said
    curves = [scalars(path) for path in run.iterdir()]
    assert curves and all(len(points) > 0 for stage in curves for points in stage.values())


def test_without_the_library_it_is_refused_before_anything_runs(tmp_path):
    hidden = "import sys; sys.modules['tensorboardX'] = None; sys.argv[0] = 'wmlab'; from wmlab.cli import main; main()"
    command = [
        sys.executable,
        "-c",
        hidden,
        "run",
        str(REPOSITORY / "specs" / "quickstart.yaml"),
        "--log",
        "tensorboard",
    ]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert said.returncode == 2
    assert "--log tensorboard needs tensorboardX" in said.stderr and "wmlab[tensorboard]" in said.stderr
    assert list(tmp_path.iterdir()) == []
