"""Worlds of which only states and actions are known."""

from __future__ import annotations

from typing import Any

import pytest

from wmlab.registry import Finding, Scope, mdps

KIND = mdps["unknown"]


def counted(**more: Any) -> dict[str, Any]:
    state = {"row": {"integers": [0, 1]}, "column": {"integers": [0, 2]}}
    return {"kind": "unknown", "state": state, "actions": ["stay", "go"], **more}


def findings(**more: Any) -> list[Finding]:
    return list(KIND.check(KIND.build(counted(**more)), Scope()))


def test_plans_start_where_the_variables_of_an_unknown_world_are_said_to_start():
    options = KIND.build(counted(reset={"row": 1, "column": {"uniform": [0, 1]}}))
    assert KIND.traits.space(options).names[3] == "row=1, column=0"
    assert KIND.traits.reset(options).tolist() == [0, 0, 0, 0.5, 0.5, 0]


def test_plans_start_anywhere_where_nothing_is_said():
    assert KIND.traits.reset(KIND.build(counted())).tolist() == [1 / 6] * 6


def test_variables_with_too_many_values_are_refused_before_their_states_are_listed():
    wide = {"x": {"integers": [0, 99_999]}, "y": {"integers": [0, 99_999]}}
    assert [finding.message for finding in findings(state=wide)] == ["10 000 000 000 states; 2 000 000 are allowed"]
    assert findings() == []


def test_a_world_whose_actions_are_in_error_has_no_space_to_compare_with():
    with pytest.raises(LookupError):
        KIND.traits.space(KIND.build({"kind": "unknown", "states": 4, "actions": {"push": [0, 1]}}))
