"""Known numbers written into expressions, and mistakes found again where they were written."""

from __future__ import annotations

import numpy as np
import pytest

from wmlab.expressions import compile, goal_name, parse, problems, substitute, type_of, written_offset


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("x + g * dt", "x + 10 * 0.5"),
        ("x ** n", "x ** (-2)"),
        ("g(x) + next(g) + goal(g)", "g(x) + next(g) + goal(g)"),
        ("gg + g_1", "gg + g_1"),
        ("x $ g", "x $ g"),
        ("(g)", "(10)"),
    ],
)
def test_numbers_take_the_place_of_their_names(text, found):
    assert substitute(text, {"g": 10, "dt": 0.5, "n": -2}) == found


@pytest.mark.parametrize("wrong", ["speeed", "wnd"])
def test_a_mistake_is_found_where_it_was_written(wrong):
    written = f"n * (g + dt) - n ** 2 + {wrong} * n"
    text = substitute(written, {"g": 10, "dt": 0.125, "n": -2})
    (problem,) = problems(parse(text), {"speed": "number"})
    assert written_offset(written, text, problem.offset) == written.index(wrong)


def test_an_offset_at_the_end_is_the_end():
    assert written_offset("g +", "10 +", 4) == 3


def test_a_goal_is_looked_up_by_its_variable():
    parsed = parse("abs(x - goal(x)) + y")
    assert parsed.names == ("x", "y") and parsed.goals == ("x",) and parsed.nexts == ()
    program = compile(parsed, ("x", "y"), allow_goal=("x",))
    assert program(np, {"x": np.array([1.0, 4.0]), "y": 1.0, goal_name("x"): 3.0}).tolist() == [3, 2]
    (problem,) = problems(parsed, {"x": "number", "y": "number"})
    assert (problem.message, problem.hint) == ("goal(…) has no meaning here", "it belongs in an expression of goals")


def test_names_may_stand_for_conditions():
    known = {"x": "number", "stuck": "boolean"}
    assert type_of(parse("x > 0 and stuck"), known) == "boolean" and type_of(parse("x + 1"), known) == "number"
    program = compile("where(stuck, 0, x)", known)
    assert program(np, {"x": np.array([1.0, 2.0]), "stuck": np.array([True, False])}).tolist() == [0, 2]
