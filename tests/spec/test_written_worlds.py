"""Numbers under `let` reach the expressions of a world, at every point of a sweep."""

from __future__ import annotations

from pathlib import Path

import wmlab

PENDULUM = Path(__file__).parent.parent / "specs" / "invalid" / "parts" / "pendulum.yaml"  # a sound fragment


def test_a_swept_number_is_written_into_every_expression(tmp_path):
    path = tmp_path / "swept.yaml"
    path.write_text(
        "wmlab: 1\nname: swept\nextends: pendulum.yaml\nsweep: {stride: {let.dt: [0.05, -0.1]}}\n"
        "mdp: {derived: {lift: dt * height}}\n"
        "evaluate: {model_error: {states: uniform}, unseen: {solver: {kind: grid_value_iteration, grid: 8}, starts: 4,"
        ' goals: {up: {reach: {height: 1}, within: 0.1, avoid: "speed > 8 - dt"}}}}\n'
        "extract: {kind: matching}\n"
    )
    (tmp_path / "pendulum.yaml").write_bytes(PENDULUM.read_bytes())
    points = wmlab.load(path).data
    assert [point["mdp"]["next"]["angle"] for point in points] == [
        "angle + 0.05 * next(speed)",
        "angle + (-0.1) * next(speed)",
    ]
    assert [point["mdp"]["derived"]["lift"] for point in points] == ["0.05 * height", "(-0.1) * height"]
    regions = [point["evaluate"]["unseen"]["goals"]["up"]["avoid"] for point in points]
    assert regions == ["speed > 8 - 0.05", "speed > 8 - (-0.1)"]
