"""Numbers are short where they are read, and never mislead."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from wmlab.report.text import apart, compact, duration, moment, number, plural, stated, uncertain


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.99932145, "0.9993"),
        (0.99999, "1.000"),  # rounded, and seen to be
        (1.0, "1"),  # exact
        (68, "68"),
        (8_000_000, "8\u202f000\u202f000"),
        (0.001342, "0.001342"),
        (12345.678, "12346"),
        (1.2e-4, "1.200\u00a0×\u00a010⁻⁴"),
        (9.99996e-5, "1.000\u00a0×\u00a010⁻⁴"),
        (-0.982, "−0.9820"),
        (-3.5e7 - 0.5, "−3.500\u00a0×\u00a010⁷"),
        (0.0, "0"),
        (None, "–"),
        (math.nan, "–"),
        (math.inf, "∞"),
        (-math.inf, "−∞"),
        (True, "true"),
        ("far", "far"),
    ],
)
def test_a_number_is_shown_in_four_digits(value: object, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("mean", "error", "text"),
    [
        (0.98712, 0.0023, "0.9871 ± 0.0023"),
        (0.5417, 0.0402, "0.542 ± 0.040"),
        (1.2e-4, 8e-6, "(1.200 ± 0.080)\u00a0×\u00a010⁻⁴"),
        (123.4, 56.7, "123 ± 57"),
        (0.8712, 0.0, "0.8712 ± 0"),
        (0.8712, 7.9e-17, "0.8712 ± 0"),  # equal seeds whose mean was rounded
        (0.8712, 3e-9, "0.8712 ± 3.0\u00a0×\u00a010⁻⁹"),
        (0.0, 0.25, "0.00 ± 0.25"),
        (0.5, None, "0.5000"),
        (None, 0.1, "–"),
        (math.nan, math.nan, "–"),
    ],
)
def test_a_standard_error_decides_how_many_digits_its_mean_has(mean: object, error: object, text: str) -> None:
    assert uncertain(mean, error) == text


def test_a_number_just_below_its_bound_is_not_rounded_onto_it() -> None:
    assert apart(0.99899999, 0.999) == "0.99899999"
    assert apart(0.9951, 0.999) == "0.9951"
    assert apart(0.999, 0.999) == "0.9990"
    assert apart(0.5, None) == "0.5000"


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
def test_what_is_shown_lies_on_the_same_side_of_the_bound(value: float, bound: float) -> None:
    assume(value != bound)
    shown = apart(value, bound).replace("−", "-").replace("\u202f", "")
    if "×" in shown:
        mantissa, power = shown.split("\u00a0×\u00a010")
        shown = f"{mantissa}e{power.translate(str.maketrans('⁻⁰¹²³⁴⁵⁶⁷⁸⁹', '-0123456789'))}"
    assert (float(shown) > bound) == (value > bound)
    assert (float(shown) < bound) == (value < bound)


@given(st.floats(allow_nan=True, allow_infinity=True), st.floats(allow_nan=True, allow_infinity=True))
def test_every_float_can_be_shown(mean: float, error: float) -> None:
    assert number(mean) and uncertain(mean, abs(error)) and stated(mean)


def test_a_figure_of_the_paper_keeps_the_digits_that_the_paper_gives() -> None:
    assert stated(0.999) == "0.999"
    assert stated(1.2e-4) == "1.2\u00a0×\u00a010⁻⁴"
    assert stated(-0.98) == "−0.98"
    assert stated(1 / 3) == "0.3333"
    assert stated(None) == "–"


def test_a_setting_reads_as_in_a_spec() -> None:
    assert compact({"strategy": "future", "k": 4}) == "{strategy: future, k: 4}"
    assert compact([5, 10_000_000, None, True, 0.1]) == "[5, 10_000_000, null, true, 0.1]"


def test_time_is_told_in_the_unit_that_suits_it() -> None:
    spans = [0, 0.01, 0.44, 9.96, 59.7, 764.2, 7500, None]
    told = ["0.0 s", "< 0.1 s", "0.4 s", "10 s", "1 min 00 s", "12 min 44 s", "2 h 05 min", "–"]
    assert [duration(span) for span in spans] == told
    assert moment("2025-03-14T11:26:53+02:00") == "14 March 2025, 09:26 UTC"
    assert moment("yesterday") == "yesterday"
    assert (plural(1, "seed"), plural(0, "seed"), plural(12_000, "stage")) == (
        "1 seed",
        "0 seeds",
        "12\u202f000 stages",
    )
