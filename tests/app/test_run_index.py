"""The page of all runs: which figure stands for a run."""

from __future__ import annotations

import pytest

from wmlab.app.run_index import picture_of


@pytest.mark.parametrize(
    ("figures", "best"),
    [
        (["sheet-models-as-arrows", "sheet-values-and-ways", "plane-goal"], "sheet-values-and-ways"),
        (["sheet-models-as-arrows", "plane-goal"], "sheet-models-as-arrows"),
        (["bars-goals", "curve-wm.tv", "map-goal"], "map-goal"),
    ],
)
def test_values_and_ways_stand_for_a_continuous_world_and_not_small_arrows(figures, best, tmp_path):
    folder = tmp_path / "spec" / "laptop" / "figures"
    folder.mkdir(parents=True)
    for name in figures:
        (folder / f"{name}.svg").touch()
    assert picture_of(folder.parent, tmp_path) == f"spec/laptop/figures/{best}.svg"
