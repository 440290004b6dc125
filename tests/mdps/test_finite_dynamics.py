"""Worlds of whole numbers: what is enumerated, what is refused, and how their states are named."""

from __future__ import annotations

import importlib
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.making import goals_section
from wmlab.errors import StageError
from wmlab.explain.facts import goal_facts, world_facts
from wmlab.graph.stage import canonical
from wmlab.registry import Scope, WorldChoice, mdps

KIND = mdps["dynamics"]
COUNTER = {
    "state": {"n": {"integers": [0, 4], "edge": "clip"}},
    "actions": {"step": [-1, 1]},
    "next": {"n": "n + step"},
}


def make(**changes):
    return KIND.run(KIND.build(COUNTER | changes), 0)


def findings(**changes) -> list[tuple[tuple, str]]:
    return [(each.path, each.message) for each in KIND.check(KIND.build(COUNTER | changes), Scope())]


def successor(world, action: str, **state: int) -> dict[str, float]:
    """Where an action leads, in a world without chance."""
    reached = world.kernel.successors[world.space.index(state), world.space.action(action), 0]
    return dict(zip(world.space.coordinates.names, world.space.coordinates.values[reached].tolist(), strict=True))


@pytest.mark.parametrize(("edge", "ends"), [("clip", (0, 4)), ("wrap", (4, 0))])
def test_an_edge_holds_or_goes_round(edge, ends):
    world = make(state={"n": {"integers": [0, 4], "edge": edge}})
    assert successor(world, "step=-1", n=0) == {"n": ends[0]}
    assert successor(world, "step=1", n=4) == {"n": ends[1]}
    assert successor(world, "step=1", n=1) == {"n": 2}


def test_ranges_below_zero_wrap_into_themselves():
    world = make(state={"n": {"integers": [-2, 2], "edge": "wrap"}}, next={"n": "n + 7 * step"})
    assert world.space.names == ("n=-2", "n=-1", "n=0", "n=1", "n=2")
    assert [successor(world, "step=1", n=n)["n"] for n in range(-2, 3)] == [0, 1, 2, -2, -1]


def test_next_of_a_variable_is_its_value_after_the_step_and_its_edge():
    world = make(
        state={"n": {"integers": [0, 4], "edge": "clip"}, "a": {"integers": [0, 9]}},
        next={"a": "2 * next(n)", "n": "n + step"},
    )
    assert successor(world, "step=1", n=4, a=3) == {"n": 4, "a": 8}


def test_names_go_in_the_order_in_which_they_are_written_also_after_a_plan_has_sorted_them():
    mdp = {
        "kind": "dynamics",
        "state": {"x": {"integers": [0, 2], "edge": "clip"}, "b": {"integers": [0, 3], "edge": "wrap"}},
        "actions": {"go": {"up": 2, "right": 1}, "back": {"up": -1}},
        "let": {"z": "up + right", "a": "z * 2", "moved": "a > 0"},
        "next": {"x": "x + where(moved, 1, 0)", "b": "b + a"},
        "derived": {"w": "x + b", "c": "w * 2"},
    }
    written, planned = (
        KIND.run(KIND.build(each), 0) for each in (mdp, json.loads(canonical(WorldChoice(mdp).ordered_data)))
    )
    assert planned.space.names[:5] == ("x=0, b=0", "x=0, b=1", "x=0, b=2", "x=0, b=3", "x=1, b=0")
    assert planned.space.actions == ("go", "back") and planned.space.coordinates.names == ("x", "b", "w", "c")
    assert planned.space.names == written.space.names
    assert (planned.kernel.successors == written.kernel.successors).all()
    assert successor(planned, "go", x=0, b=3) == {"x": 1, "b": 1, "w": 2, "c": 4}


def test_outcomes_that_lead_to_one_state_are_added_up():
    noise = {
        "wind": {"kind": "uniform", "low": -1, "high": 1},
        "gust": {"kind": "categorical", "values": [0, 1, 9], "probabilities": [0.75, 0.25, 0]},
    }
    world = make(noise=noise, next={"n": "n + wind + gust"})
    row = world.kernel.to_dense()[2, 0]
    np.testing.assert_allclose(row, [0, 0.25, 1 / 3, 1 / 3, 1 / 12], atol=1e-15)
    assert world.kernel.width == 4


@given(st.data())
@settings(max_examples=25, deadline=None)
def test_the_table_is_what_a_step_at_a_time_gives(data):
    low, size = data.draw(st.integers(-3, 3)), data.draw(st.integers(1, 5))
    edge = data.draw(st.sampled_from(["clip", "wrap"]))
    weights = data.draw(st.lists(st.integers(1, 9), min_size=1, max_size=4))
    chances = [weight / sum(weights) for weight in weights]
    draws = list(range(-1, len(weights) - 1))
    world = make(
        state={"n": {"integers": [low, low + size], "edge": edge}, "m": {"integers": [0, 2], "edge": "wrap"}},
        noise={"wind": {"kind": "categorical", "values": draws, "probabilities": chances}},
        next={"n": "n + step * m + wind", "m": "m + where(next(n) > n, 1, wind)"},
    )
    expected = np.zeros((world.space.size, 2, world.space.size))
    for n in range(low, low + size + 1):
        for m in range(3):
            for action, step in enumerate((-1, 1)):
                for wind, chance in zip(draws, chances, strict=True):
                    to = n + step * m + wind
                    to = min(max(to, low), low + size) if edge == "clip" else (to - low) % (size + 1) + low
                    then = (m + (1 if to > n else wind)) % 3
                    here, there = (world.space.index({"n": a, "m": b}) for a, b in ((n, m), (to, then)))
                    expected[here, action, there] += chance
    np.testing.assert_allclose(world.kernel.to_dense(), expected, atol=1e-12)


def test_episodes_start_where_every_variable_may():
    state = {"n": {"integers": [0, 2], "edge": "clip"}, "m": {"integers": [0, 1]}}
    world = make(state=state, next={"n": "n + step", "m": "m"}, reset={"n": {"uniform": [1, 2]}, "m": 1})
    assert {name: share for name, share in zip(world.space.names, world.reset, strict=True) if share} == {
        "n=1, m=1": 0.5,
        "n=2, m=1": 0.5,
    }
    assert (make().reset == 0.2).all()


@pytest.mark.parametrize(
    ("changes", "path", "message"),
    [
        (
            {"state": {"n": {"integers": [0, 4]}}},
            ("next", "n"),
            "n would be -1, outside [0, 4], after step=-1 in n=0",
        ),
        (
            {"next": {"n": "n / 2"}},
            ("next", "n"),
            "n would be 0.5, which is not a whole number, after step=-1 in n=1",
        ),
        ({"next": {"n": "4 / n"}}, ("next", "n"), "n has no value after step=-1 in n=0"),
        (
            {"next": {"n": "n / wind"}, "noise": {"wind": {"kind": "uniform", "low": 1, "high": 2}}},
            ("next", "n"),
            "n would be 0.5, which is not a whole number, after step=-1 in n=1 with wind = 2",
        ),
        (
            {"noise": {"wind": {"kind": "normal", "sd": 1}}},
            ("noise", "wind", "kind"),
            "normal noise has a continuum of values, and a world of whole numbers needs finitely many",
        ),
        (
            {"noise": {"wind": {"kind": "uniform", "low": 0, "high": 1.5}}},
            ("noise", "wind", "high"),
            "1.5 is not a whole number; in a world of whole numbers uniform noise is one",
        ),
        ({"derived": {"share": "1 / n"}}, ("derived", "share"), "has no value at n=0"),
    ],
)
def test_a_step_that_ends_in_no_state_is_found_with_its_state_and_action(changes, path, message):
    assert findings(**changes) == [(path, message)]


def test_what_only_one_branch_of_a_condition_needs_is_not_asked_of_the_other():
    assert findings(next={"n": "where(n > 0, floor(4 / n), 0)"}) == []


def test_rounding_makes_no_number_less_whole():
    assert findings(next={"n": "n + 3 * 0.1 * 10 - 3"}) == []
    assert successor(make(next={"n": "n + 3 * 0.1 * 10 - 3"}), "step=1", n=2) == {"n": 2}


def test_a_world_that_is_too_large_to_try_fails_when_it_is_made(monkeypatch):
    monkeypatch.setattr(importlib.import_module("wmlab.mdps.dynamics.finite"), "TRIED", 5)
    assert findings(state={"n": {"integers": [0, 4]}}) == []
    with pytest.raises(StageError, match=r"mdp\.next\.n: n would be -1, outside \[0, 4\], after step=-1 in n=0"):
        make(state={"n": {"integers": [0, 4]}})


def test_a_world_that_would_not_fit_is_refused_before_any_of_it_is_made():
    axes = {name: {"integers": [0, 999], "edge": "wrap"} for name in ("x", "y", "z", "n")}
    ((path, message),) = findings(state=axes, next={name: name for name in axes})
    assert (path, message) == (("state",), "1 000 000 000 000 states; 2 000 000 are allowed")
    wind = {"wind": {"kind": "uniform", "low": 0, "high": 9_999_999_999}}
    fitting = {"x": {"integers": [0, 99], "edge": "wrap"}}
    ((path, message),) = findings(state=fitting, noise=wind, next={"x": "x + step + wind"})
    assert path == ("state",)
    assert message.startswith("100 x 2 x 10 000 000 000 states, actions and outcomes of chance need ")


def test_ten_thousand_states_are_enumerated_at_once():
    axes = {"x": {"integers": [0, 99], "edge": "wrap"}, "y": {"integers": [0, 99], "edge": "clip"}}
    noise = {"wind": {"kind": "uniform", "low": -1, "high": 1}}
    world = make(state=axes, noise=noise, next={"x": "x + step", "y": "y + wind"})
    assert world.space.size == 10_000 and world.kernel.width == 3
    np.testing.assert_allclose(world.kernel.probabilities.sum(axis=-1), 1, atol=1e-12)


def test_what_is_declared_of_such_a_world_is_known_before_anything_runs():
    noise = {"wind": {"kind": "uniform", "low": -1, "high": 1}, "calm": {"kind": "uniform", "low": 0, "high": 1}}
    facts = world_facts(WorldChoice({"kind": "dynamics", **COUNTER}))
    assert (facts.family, facts.states, facts.actions, facts.deterministic) == ("finite", 5, 2, True)
    facts = world_facts(WorldChoice({"kind": "dynamics", **COUNTER, "noise": noise}))
    assert (facts.successors, facts.deterministic) == (6, False)
    goals = {"reward": {"kind": "indicator"}, "terminate": "never"}
    assert goal_facts(goals_section({**goals, "at": [{"n": n} for n in range(5)]}), facts).spans is True
    paid = {"kind": "expression", "pays": {f"g{number}": "n" for number in range(5)}}
    assert goal_facts(goals_section({**goals, "reward": paid}), facts).spans is None
