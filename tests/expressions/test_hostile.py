"""Nothing but the small language gets through, however it is dressed."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.expressions.hostile import HOSTILE
from wmlab.expressions import ExpressionError, check, compile, constant, parse


def refuse(text: str) -> ExpressionError | None:
    """The error of the whole way from text to number, or None when it is taken."""
    try:
        parsed = parse(text)
        check(parsed, {"x": "number", "y": "number", "ok": "boolean"})
        compile(parsed, ["x", "y", "ok"])
        constant(parsed, {"x": 2, "y": 3})
    except ExpressionError as error:
        return error
    return None


def seconds_to_refuse(text):
    start = time.process_time()
    refuse(text)
    return time.process_time() - start


def test_the_table_holds_two_hundred_inputs():
    assert len(HOSTILE) >= 200


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_input_is_refused_at_once_and_at_a_place(text):
    error = refuse(text)
    assert error is not None, text
    assert 0 <= error.offset <= len(text)
    assert error.message and "\n" not in error.message and len(error.message) < 200
    assert any(seconds_to_refuse(text) < 0.1 for _ in range(5))  # whatever else the machine does meanwhile


@settings(deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_a_number_or_an_error(text):
    error = refuse(text)
    assert error is None or 0 <= error.offset <= len(text)


WORDS = ["x", "y", "1", "0", "2.5", "1e9", "(", ")", ",", "+", "-", "*", "/", "//", "%", "**", "<", "==", "and", "not"]
WORDS += ["max(", "where(", "clip(", "log(", "wrap(", "pi", "exp(", "floor(", "ok"]


@settings(deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=25))
def test_any_heap_of_its_own_words_is_a_number_or_an_error(words):
    text = " ".join(words)
    error = refuse(text)
    assert error is None or 0 <= error.offset <= len(text)


def test_long_flat_sums_are_no_nesting():
    assert constant("+".join(["1"] * 900)) == 900
    assert constant("where(" + "1 < 2 and " * 150 + "1 < 2, 5, 6)") == 5


def test_fifty_deep_is_too_deep_and_forty_is_not():
    assert constant("(" * 40 + "1" + ")" * 40) == 1
    with pytest.raises(ExpressionError, match="nested more than 50 deep"):
        parse("(" * 50 + "1" + ")" * 50)
