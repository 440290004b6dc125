"""A figure that shows what it showed is not painted again, and one that was harmed is."""

from __future__ import annotations

import json

import pytest

from wmlab.cli import main
from wmlab.report import studio
from wmlab.report.drawings import Picture

SPEC = """
wmlab: 1
name: hall
mdp: {kind: gridworld, map: "######\\n#....#\\n######\\n"}
goals: {reward: {kind: indicator}, at: [[1, 1], [1, 4]], terminate: on_arrival}
agent: {kind: exact, discount: 0.9}
extract: {kind: column_matching}
evaluate: {model_error: {}, unseen: {goals: {middle: {reach: [1, 3]}, left: {reach: [1, 2]}}}}
report: {maps: {}}
"""


@pytest.fixture
def painted(tmp_path, monkeypatch):
    """The sorts of figures that are painted, one after another, in a folder with a spec."""
    sorts = []

    def paint(drawing):
        sorts.append(drawing.sort)
        return Picture(f'<svg width="1">{drawing.key}</svg>', drawing.key.encode())

    monkeypatch.setattr(studio, "paint_here", paint)
    monkeypatch.setattr("wmlab.app.reporting.usable_cores", lambda: 1)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("WMLAB_HOME", raising=False)
    (tmp_path / "hall.yaml").write_text(SPEC)
    return sorts


def command(*words):
    with pytest.raises(SystemExit) as stop:
        main([*words])
    assert stop.value.code == 0


def files_of(folder):
    return {path.name: path.read_bytes() for path in (folder / "figures").iterdir()}


def test_a_report_is_written_again_without_painting_what_has_not_changed(tmp_path, painted):
    command("run", "hall.yaml", "--jobs", "0")
    folder = tmp_path / "reports" / "hall" / "full"
    first, pages = files_of(folder), (folder / "index.html").read_bytes()
    assert painted.count("bars") == 1 and painted.count("map") >= 2 and len(painted) == len(first) // 2
    assert set(json.loads(first["keys.json"])) == {name.rpartition(".")[0] for name in first if name != "keys.json"}
    painted.clear()
    command("report", "hall.yaml")
    assert painted == [] and files_of(folder) == first and (folder / "index.html").read_bytes() == pages


def test_a_figure_that_was_harmed_or_shows_something_else_is_painted(tmp_path, painted):
    command("run", "hall.yaml", "--jobs", "0")
    folder = tmp_path / "reports" / "hall" / "full"
    first, count = files_of(folder), len(painted)
    painted.clear()
    (folder / "figures" / "map-left.pdf").write_bytes(b"harmed")
    command("report", "hall.yaml")
    assert painted == ["map"] and files_of(folder) == first
    (folder / "figures" / "keys.json").write_text("{}")
    painted.clear()
    command("report", "hall.yaml")
    assert len(painted) == count and files_of(folder) == first


def test_other_results_leave_the_figures_that_they_do_not_change(tmp_path, painted):
    command("run", "hall.yaml", "--jobs", "0")
    painted.clear()
    (tmp_path / "hall.yaml").write_text(SPEC.replace("reach: [1, 2]", "reach: [1, 1]"))
    command("run", "hall.yaml", "--jobs", "0")
    assert sorted(painted) == ["bars", "map"]  # of one goal, and of all
