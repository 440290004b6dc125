"""Names, arguments and types are checked before anything is computed."""

from __future__ import annotations

import pytest

from wmlab.expressions import ExpressionError, check, name_problem, parse, problems

KNOWN = {"speed": "number", "angle": "number", "safe": "boolean"}


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("speed + 2 * pi", "number"),
        ("abs(speed) > 6", "boolean"),
        ("-1 < speed < 1 and not safe or angle == 0", "boolean"),
        ("where(safe, speed, 0)", "number"),
        ("where(speed > 0, safe, speed < 1)", "boolean"),
        ("max(speed, angle, 1, 2)", "number"),
        ("angle + e * next(speed)", "number"),
    ],
)
def test_what_means_something_passes(text, want):
    check(parse(text), KNOWN, want, allow_next=["speed"])
    assert problems(parse(text), KNOWN, want, allow_next=["speed"]) == ()


@pytest.mark.parametrize(
    ("text", "message", "offset", "hint"),
    [
        ("1 + sped", "unknown name 'sped'", 4, "did you mean 'speed'?"),
        ("zz", "unknown name 'zz'", 0, "known here: angle, safe or speed"),
        ("max", "unknown name 'max'", 0, "it is a function: max(a, b, …)"),
        ("sqr(speed)", "unknown function 'sqr'", 0, "did you mean 'sqrt'?"),
        ("ln(speed)", "unknown function 'ln'", 0, "write log(…)"),
        ("pow(speed, 2)", "unknown function 'pow'", 0, "write '**' for a power"),
        ("speed(2)", "unknown function 'speed'", 0, "it is a number; to multiply, write '*'"),
        ("1 + clip(speed, 2)", "clip takes 3 values, not 2", 4, "clip(x, lo, hi)"),
        ("min(1)", "min takes 2 or more values, not 1", 0, "min(a, b, …)"),
        ("sin()", "sin takes 1 value, not 0", 0, "sin(x)"),
        ("1 + safe", "expected a number, but 'safe' is a condition", 4, "where(safe, 1, 0) is a number"),
        ("speed < 1", "expected a number, but 'speed < 1' is a condition", 0, "where(speed < 1, 1, 0) is a number"),
        ("where(speed, 1, 2)", "expected a condition, but 'speed' is a number", 6, "compare it, as in 'speed > 0'"),
        ("next(angle)", "next(angle) is not known here", 5, "known here: speed"),
        ("next(1 + 2)", "next takes the name of one state variable", 0, "known here: speed"),
    ],
)
def test_a_mistake_is_named_with_its_place_and_what_next(text, message, offset, hint):
    with pytest.raises(ExpressionError) as caught:
        check(parse(text), KNOWN, allow_next=["speed"])
    assert (caught.value.message, caught.value.offset, caught.value.hint) == (message, offset, hint)


def test_next_has_no_meaning_unless_the_caller_gives_it_one():
    with pytest.raises(ExpressionError, match="has no meaning here"):
        check(parse("next(speed)"), KNOWN)


def test_a_number_is_no_condition():
    with pytest.raises(ExpressionError, match="expected a condition, but 'speed' is a number"):
        check(parse("speed"), KNOWN, want="boolean")


def test_every_mistake_comes_at_once_and_from_left_to_right():
    found = problems(parse("a + sinn(b) + safe + clip(c)"), KNOWN)
    assert [error.offset for error in found] == [0, 4, 9, 14, 21]


def test_a_mistake_is_told_once_and_not_again_by_what_holds_it():
    assert len(problems(parse("not (1 + max(where(zz, zz2, 3), 2) > 1)"), KNOWN, "boolean")) == 2


def test_a_constant_that_is_also_a_name_of_the_spec_is_refused_rather_than_guessed():
    with pytest.raises(ExpressionError, match="'e' is both a constant and a name of the spec"):
        check(parse("2 * e"), {"e": "number"})
    check(parse("2 * x"), {"e": "number", "x": "number"})


@pytest.mark.parametrize("name", ["x", "_x", "speed_2", "T"])
def test_plain_names_may_be_declared(name):
    assert name_problem(name) is None


@pytest.mark.parametrize("name", ["", "2x", "a b", "a.b", "x__y", "é", "pi", "e", "max", "next", "not", "a-b"])
def test_words_of_the_language_and_odd_names_may_not_be_declared(name):
    assert repr(name)[1:-1] in (name_problem(name) or "")
