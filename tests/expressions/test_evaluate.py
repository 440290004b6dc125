"""Expressions agree with NumPy, JAX and Python's own numbers."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wmlab.expressions import ExpressionError, compile, constant, next_name, substitute

# --- numbers -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("(1 + 2) * 4", 12),
        ("6 / 3", 2.0),
        ("7 // 2", 3),
        ("-7 // 2", -4),
        ("-7 % 3", 2),
        ("7.5 % -2", -0.5),
        ("-2**2", -4),
        ("2**3**2", 512),
        ("2**-1", 0.5),
        ("2**100", 2**100),
        ("5_000", 5000),
        ("1e-4", 1e-4),
        (".5 + 5.", 5.5),
        ("010", 10),
        ("1/sqrt(2)", 1 / math.sqrt(2)),
        ("0.75 * pi", 0.75 * math.pi),
        ("abs(-3)", 3),
        ("min(3, 2.5, 7)", 2.5),
        ("max(3, 2)", 3),
        ("clip(12, 0, 10)", 10),
        ("wrap(7, -3, 3)", 1),
        ("wrap(3, -3, 3)", -3),
        ("wrap(0.1, -pi, pi)", 0.1),
        ("wrap(-1e-20, 0, 1)", 0),
        ("sign(-2.5)", -1),
        ("floor(2.7)", 2),
        ("ceil(2.1)", 3),
        ("round(2.5)", 2),
        ("round(3.5)", 4),
        ("atan2(1, -1)", math.atan2(1, -1)),
        ("tanh(1) + log(e)", math.tanh(1) + 1),
        ("where(1 < 2 < 3, 5, 6)", 5),
        ("where(not 1 == 1 or 2 != 2, 5, 6)", 6),
        ("(1 - p) / 3 + shift * (r3 - r4)", 0.8 / 3 + 0.05 * (0.9 - -0.4)),
    ],
)
def test_numbers_are_exact_where_they_can_be(text, value):
    found = constant(text, {"p": 0.2, "shift": 0.05, "r3": 0.9, "r4": -0.4})
    assert (type(found), found) == (type(value), value)


@pytest.mark.parametrize(
    ("text", "message", "offset", "hint"),
    [
        ("1 / 0", "division by zero", 2, None),
        ("1 + 3 % (n - 2)", "division by zero", 6, "'n - 2' is 0"),
        ("0 ** -1", "0 to the power -1 has no value", 2, None),
        ("2 * sqrt(-1)", "sqrt(-1) has no value", 4, None),
        ("log(n - 2)", "log(0) has no value", 0, None),
        ("(-8) ** 0.5", "a power of a negative number (-8) needs a whole exponent, not 0.5", 5, None),
        ("10**10**10", "a number too large to compute with", 2, None),
        ("exp(1e9)", "a number too large to compute with", 0, None),
        ("clip(1, 3, n)", "clip needs lo <= hi, not 3 and 2", 0, None),
        ("wrap(1, n, n)", "wrap needs lo < hi, not 2 and 2", 0, None),
        ("wrap(1e308, -1e308, 0)", "a number too large to compute with", 0, None),
        ("1 + big", "a number too large to compute with", 4, None),
    ],
)
def test_what_has_no_value_is_an_error_at_its_operator(text, message, offset, hint):
    with pytest.raises(ExpressionError) as caught:
        constant(text, {"n": 2, "big": math.inf})
    assert (caught.value.message, caught.value.offset, caught.value.hint) == (message, offset, hint)


def test_the_branch_not_taken_need_not_have_a_value():
    assert constant("where(n > 0, 1 / n, 0)", {"n": 0}) == 0
    assert constant("where(n != 0 and 1 / n > 1, 1, 0)", {"n": 0}) == 0
    assert constant("where(n == 0 or 1 / n > 1, 1, 0)", {"n": 0}) == 1


# --- arrays ------------------------------------------------------------------------------------------------------

X = np.array([-2.5, -1.0, -0.3, 0.0, 0.7, 1.0, 3.2])
Y = np.array([0.5, 2.0, -1.5, 3.0, 0.1, -4.0, 1.0])
ENV = {"x": X, "y": Y}

# A random tree is (text, value): the text for the parser, the value from NumPy calls written here.
ONE = {
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "exp": np.exp,
    "tanh": np.tanh,
    "abs": np.abs,
    "sqrt": np.sqrt,
    "log": np.log,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sign": np.sign,
    "floor": np.floor,
    "ceil": np.ceil,
    "round": np.round,
}
TWO = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "//": np.floor_divide, "%": np.mod}
COMPARE = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "==": np.equal}
COMPARE["!="] = np.not_equal

leaves = st.one_of(
    st.sampled_from([("x", X), ("y", Y)]),
    st.sampled_from([0.5, 1.0, 2.0, 3.25]).map(lambda number: (f"(x * 0 + {number})", np.full(X.shape, number))),
)


def comparisons(numbers):
    def single(a, sign, b):
        return f"({a[0]} {sign} {b[0]})", COMPARE[sign](a[1], b[1])

    def double(a, first, b, second, c):
        pair = np.logical_and(COMPARE[first](a[1], b[1]), COMPARE[second](b[1], c[1]))
        return f"({a[0]} {first} {b[0]} {second} {c[0]})", pair

    signs = st.sampled_from(sorted(COMPARE))
    either = st.builds(single, numbers, signs, numbers) | st.builds(double, numbers, signs, numbers, signs, numbers)
    return st.one_of(
        either,
        st.builds(lambda c: (f"(not {c[0]})", np.logical_not(c[1])), either),
        st.builds(lambda c, d: (f"({c[0]} and {d[0]})", np.logical_and(c[1], d[1])), either, either),
        st.builds(lambda c, d: (f"({c[0]} or {d[0]})", np.logical_or(c[1], d[1])), either, either),
    )


def wrapped(x, low, high):
    """Into [low, high) by whole turns: another formula than the language's."""
    return x - (high - low) * np.floor((x - low) / (high - low))


def larger(parts):
    def where(c, a, b):
        return f"where({c[0]}, {a[0]}, {b[0]})", np.where(c[1], a[1], b[1])

    def binary(a, operator, b):
        return f"({a[0]} {operator} {b[0]})", TWO[operator](a[1], b[1])

    def largest(a, b, c):
        return f"max({a[0]}, {b[0]}, {c[0]})", np.maximum(np.maximum(a[1], b[1]), c[1])

    def power(a, n):
        return f"{a[0]}**{n}" if a[0].isalpha() else f"({a[0]})**{n}", np.power(a[1], float(n))

    return st.one_of(
        st.builds(lambda f, a: (f"{f}({a[0]})", ONE[f](a[1])), st.sampled_from(sorted(ONE)), parts),
        st.builds(binary, parts, st.sampled_from(sorted(TWO)), parts),
        st.builds(lambda a: (f"(-{a[0]})", np.negative(a[1])), parts),
        st.builds(power, parts, st.sampled_from([0, 1, 2, 3])),
        st.builds(lambda a, b: (f"atan2({a[0]}, {b[0]})", np.arctan2(a[1], b[1])), parts, parts),
        st.builds(largest, parts, parts, parts),
        st.builds(lambda a, b: (f"min({a[0]}, {b[0]})", np.minimum(a[1], b[1])), parts, parts),
        st.builds(lambda a: (f"clip({a[0]}, -1, 1)", np.minimum(np.maximum(a[1], -1), 1)), parts),
        st.builds(where, comparisons(parts), parts, parts),
    )


@settings(deadline=None)
@given(st.recursive(leaves, larger, max_leaves=8))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_random_expression_agrees_with_numpy(pair):
    text, value = pair
    if len(text) > 1_500:
        return
    np.testing.assert_allclose(compile(text, ["x", "y"])(np, ENV), value, rtol=1e-12, atol=1e-300)


@settings(deadline=None)
@given(comparisons(st.recursive(leaves, larger, max_leaves=3)))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_random_condition_agrees_with_numpy(pair):
    text, value = pair
    if len(text) > 1_500:
        return
    np.testing.assert_array_equal(compile(text, ["x", "y"], want="boolean")(np, ENV), value)


# Python's and NumPy's sines differ in the last bit, which a floor or a tangent may blow up: the same cases each time.
@settings(derandomize=True, deadline=None)
@given(st.recursive(leaves, larger, max_leaves=6))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_random_expression_of_numbers_agrees_with_arrays(pair):
    text, value = pair
    if len(text) > 1_500:
        return
    for at in (0, 3, 4):
        try:
            found = constant(text, {"x": float(X[at]), "y": float(Y[at])})
        except ExpressionError:
            continue  # no value as a number; NaN or infinite somewhere as an array
        np.testing.assert_allclose(found, value[at], rtol=1e-9, atol=1e-12)


@settings(deadline=None)
@given(st.floats(-50, 50))
def test_wrap_turns_into_its_range_and_leaves_what_lies_inside(x):
    turned = float(compile("wrap(x, -pi, pi)", ["x"])(np, {"x": np.array(x)}))
    assert -math.pi <= turned < math.pi
    assert math.isclose(math.cos(turned - wrapped(x, -math.pi, math.pi)), 1, abs_tol=1e-12)
    assert turned == constant("wrap(x, -pi, pi)", {"x": x})
    if -math.pi <= x < math.pi:
        assert turned == x


def test_known_numbers_never_widen_an_array():
    x = np.ones(3, dtype=np.float32)
    program = compile(substitute("sqrt(2) * x**2 + where(x > g, x, 1/3) + clip(x, -pi, pi) + g", {"g": 10}), ["x"])
    assert program(np, {"x": x}).dtype == np.float32


def test_the_same_program_runs_in_jax_and_under_its_gradient():
    import jax
    import jax.numpy as jnp

    program = compile("where(x > 0, x**2 * sin(y), wrap(x, -1, 1)) // 1 + clip(x, -1, 1) + max(x, y, 0)", ["x", "y"])
    env = {"x": jnp.asarray(X, jnp.float32), "y": jnp.asarray(Y, jnp.float32)}
    found = jax.jit(lambda env: program(jnp, env))(env)
    np.testing.assert_allclose(found, program(np, ENV), rtol=1e-5, atol=1e-6)
    assert jax.grad(lambda x: compile("x**2", ["x"])(jnp, {"x": x}))(0.0) == 0.0


def test_dynamics_read_the_old_state_and_the_next():
    program = compile(substitute("angle + dt * next(speed)", {"dt": 0.5}), ["angle"], allow_next=["speed"])
    assert program(np, {"angle": 1.0, next_name("speed"): 4.0}) == 3.0


def test_an_expression_of_constants_gives_a_plain_number_or_condition():
    assert compile("6 / 4", ["x"])(np, {}) == 1.5
    assert compile("1 < 2", ["x"], want="boolean")(np, {}) is True


def test_unknown_names_and_divisions_by_zero_show_when_compiling():
    with pytest.raises(ExpressionError, match="unknown name 'z'"):
        compile("x + z", ["x"])
    with pytest.raises(ExpressionError, match="division by zero"):
        compile("x + 1 / 0", ["x"])


def test_the_language_of_expressions_never_imports_arrays():
    code = "import sys, wmlab.expressions; print({'jax', 'numpy'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "set()"
