"""A grid that would not fit into memory is refused before anything runs."""

from __future__ import annotations

from pathlib import Path

from wmlab.planning import grid_value_iteration as solver
from wmlab.spec.check.validate import validate
from wmlab.spec.compose.document import read

REACHER = Path(__file__).parents[2] / "specs" / "reacher.yaml"


def test_a_grid_too_fine_for_this_machine_says_what_would_fit(monkeypatch):
    monkeypatch.setattr(solver, "usable_memory", lambda: 2**30)
    found = [(error.path, error.message, error.hint) for error in validate(read(str(REACHER)))]
    message = "6.25e+06 points and 9 actions need 5.8 GiB, and there are 1"
    hint = "32 points along each variable would fit"
    assert ("evaluate.unseen.solver.grid", message, hint) in found
    assert ("evaluate.value_error.grid", message, hint) in found
    assert len(found) == 2  # the grids of the other profiles fit
