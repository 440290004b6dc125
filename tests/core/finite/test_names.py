"""Names of states in large worlds: written when they are asked for, the same as if they were listed."""

from __future__ import annotations

import numpy as np
import pytest

from wmlab.core.finite import names as module
from wmlab.core.finite.names import WrittenNames
from wmlab.core.finite.space import FiniteSpace
from wmlab.registry import mdps

FREE = np.array([[True, False, True], [True, True, True]])


def town() -> FiniteSpace:
    kind = mdps["dynamics"]
    spec = {
        "state": {"x1": {"integers": [-2, 3], "edge": "clip"}, "y": {"integers": [0, 4], "edge": "wrap"}},
        "actions": {"go": {"far": 1}},
        "next": {"x1": "x1 + far", "y": "y"},
    }
    return kind.traits.space(kind.build(spec))


def grid() -> FiniteSpace:
    return FiniteSpace.grid(FREE, ["up"], {(1, 1): "G"}, {"ice": [(0, 2), (1, 0)]})


@pytest.mark.parametrize("make", [town, grid])
def test_names_are_the_same_listed_and_written_one_by_one(make, monkeypatch):
    listed = make()
    monkeypatch.setattr(module, "LISTED", 0)
    written = make()
    assert isinstance(listed.names, tuple) and isinstance(written.names, WrittenNames)
    assert tuple(written.names) == listed.names == written.names[:] and written.names == make().names
    assert [written.index(name) for name in listed.names] == list(range(listed.size))
    assert written.names[-1] == listed.names[-1] and written.names[1:3] == listed.names[1:3]
    assert written.size == listed.size and "nowhere" not in written.names and 3 not in written.names


@pytest.mark.parametrize(
    "name", ["(0, 1)", "(00, 0)", "(9, 9)", "(0, 99999999999)", "x1=-2, y=9", "x1=4, y=0", "", "H"]
)
@pytest.mark.parametrize("make", [town, grid])
def test_a_name_that_no_state_bears_is_not_found(make, name, monkeypatch):
    monkeypatch.setattr(module, "LISTED", 0)
    with pytest.raises(LookupError, match="no state"):
        make().index(name)


def test_regions_have_the_states_of_their_cells(monkeypatch):
    assert grid().regions == {"ice": (1, 2)} and grid().index("G") == 3
