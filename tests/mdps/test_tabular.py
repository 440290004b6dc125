"""Worlds written out."""

from __future__ import annotations

import numpy as np
import pytest

from wmlab.core.finite.space import FiniteSpace
from wmlab.errors import StageError
from wmlab.mdps.tabular import kernel_from_rows
from wmlab.registry import Scope, mdps

KIND = mdps["tabular"]
ROWS = {"s0": {"go": "s1", "wait": {"s0": 0.25, "s1": 0.75}}, "s1": {"go": "s1", "wait": "s0"}}


def build(**data):
    return KIND.build({"states": ["s0", "s1"], "actions": ["go", "wait"], "transitions": ROWS, **data})


def findings(**data):
    return [(finding.path, finding.message, finding.hint) for finding in KIND.check(build(**data), Scope())]


def test_what_is_written_is_what_happens():
    world = KIND.run(build(reset="s1"), 0)
    assert world.kernel.to_dense().tolist() == [[[0, 1], [0.25, 0.75]], [[0, 1], [1, 0]]]
    assert world.reset.tolist() == [0, 1]
    assert findings() == []


def test_states_may_be_a_count():
    data = {"states": 2, "transitions": ROWS}
    assert KIND.run(build(**data), 0).space.names == ("s0", "s1")


@pytest.mark.parametrize(
    ("change", "path", "message", "hint"),
    [
        ({"s0": {**ROWS["s0"], "go": {"s1": 0.99}}}, ("transitions", "s0", "go"), "sums to 0.99, not 1", None),
        ({"s0": {**ROWS["s0"], "go": "s11"}}, ("transitions", "s0", "go"), "no state 's11'", "did you mean 's1'?"),
        ({"s0": {"go": "s1"}}, ("transitions", "s0"), "nothing said about action 'wait'", None),
        ({"s0": {**ROWS["s0"], "jump": "s1"}}, ("transitions", "s0", "jump"), "no action 'jump'", None),
        ({"s2x": {}}, ("transitions", "s2x"), "no state 's2x'", None),
        (
            {"s0": {**ROWS["s0"], "go": {"s1": 1.5, "s0": -0.5}}},
            ("transitions", "s0", "go", "s0"),
            "-0.5 is no probability",
            None,
        ),
    ],
)
def test_a_mistake_in_a_row_is_found_in_that_row(change, path, message, hint):
    assert findings(transitions={**ROWS, **change}) == [(path, message, hint)]


def test_a_state_without_a_row_is_missed():
    assert findings(transitions={"s0": ROWS["s0"]}) == [(("transitions",), "nothing said about state 's1'", None)]


def test_a_name_listed_twice_and_a_reset_nowhere_are_found():
    assert (("states", 2), "'s1' is listed twice", None) in findings(states=["s0", "s1", "s1"])
    assert findings(reset="s11") == [(("reset",), "no state 's11'; did you mean 's1'?", None)]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([0.5, 0.49], "transitions.s1.a0: sums to 0.99, not 1"),
        ([1.5, -0.5], "transitions.s1.a0: -0.5 is no probability"),
        ([np.nan, 1.0], "transitions.s1.a0: nan is no probability"),
    ],
)
def test_a_table_from_elsewhere_names_its_first_bad_row(row, message):
    table = np.array([[[1.0, 0.0]], [row]])
    with pytest.raises(StageError) as error:
        kernel_from_rows(table, FiniteSpace.named(2, 1))
    assert str(error.value) == message


def test_a_table_of_another_shape_says_which_was_expected():
    with pytest.raises(StageError, match=r"shape \[2, 1, 2\]; expected \[3, 1, 3\]"):
        kernel_from_rows(np.ones((2, 1, 2)) / 2, FiniteSpace.named(3, 1))
    with pytest.raises(StageError, match="expected \\[states, actions, states\\]"):
        kernel_from_rows(np.ones((2, 2)), FiniteSpace.named(2, 2))
