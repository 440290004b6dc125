"""The functions, operators and constants of the language: what each means for numbers and for arrays.

An operation on numbers is exact where it can be (integers stay integers) and refuses what has no value; on arrays it
is the array namespace's own (`xp` is numpy or jax.numpy), where such values are NaN.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

CONSTANTS = {"pi": math.pi, "e": math.e}
NEXT = "next"  # next(v): v after the step; it has a meaning only where a caller says so
GOAL = "goal"  # goal(v): the value of v that a goal asks for; likewise
LOOKUPS = {NEXT: "it belongs under mdp.next", GOAL: "it belongs in an expression of goals"}  # take a variable's name
WHERE = "where"  # where(condition, this, otherwise): the one function with a condition among its values


class Undefined(ArithmeticError):
    """An operation that has no value for these numbers; its text is fit for a user."""


@dataclass(frozen=True)
class Operation:
    """What an operator or function does to numbers, and to arrays of a namespace xp."""

    number: Callable[..., Any]
    array: Callable[..., Any]  # (xp, *values)
    doc: str = field(kw_only=True)  # what it is, for the reference


@dataclass(frozen=True)
class Function(Operation):
    """An operation with a name; the last parameter repeats when it ends in '…'."""

    parameters: tuple[str, ...]

    @property
    def many(self) -> bool:
        return self.parameters[-1] == "…"

    @property
    def least(self) -> int:
        return len(self.parameters) - self.many

    def takes(self, count: int) -> bool:
        return count >= self.least if self.many else count == self.least


# --- numbers ---------------------------------------------------------------------------------------------------


def _power(base: float, exponent: float) -> float:
    if base == 0 and exponent < 0:
        raise Undefined(f"0 to the power {exponent:g} has no value")
    if isinstance(base, int) and isinstance(exponent, int) and exponent >= 0:
        # the size is known before the work is done: 10**10**10 must not be tried
        if abs(base) > 1 and (abs(base).bit_length() - 1) * exponent > 1024:
            raise OverflowError
        return base**exponent
    if base < 0 and exponent != math.floor(exponent):
        raise Undefined(f"a power of a negative number ({base:g}) needs a whole exponent, not {exponent:g}")
    return float(base) ** exponent


def _within(name: str, low: float, high: float, function: Callable[[float], float]) -> Callable[[float], float]:
    """A function that is defined only between two bounds (log: above the lower one)."""

    def bounded(x: float) -> float:
        if x < low or x > high or (name == "log" and x == 0):
            raise Undefined(f"{name}({x:g}) has no value")
        return function(x)

    return bounded


def _ordered(name: str, low: float, high: float, strictly: bool = False) -> None:
    if low > high or (strictly and low == high):
        raise Undefined(f"{name} needs lo {'<' if strictly else '<='} hi, not {low:g} and {high:g}")


def _clip(x: float, low: float, high: float) -> float:
    _ordered("clip", low, high)
    return max(low, min(x, high))


def _wrap(x: float, low: float, high: float) -> float:
    _ordered("wrap", low, high, strictly=True)
    if low <= x < high:
        return x
    if math.isinf(float(x - low)) or math.isinf(float(high - low)):
        raise OverflowError
    wrapped = low + (x - low) % (high - low)
    return wrapped if wrapped < high else low  # rounding may land on the far end


def _where(condition: bool, this: float, otherwise: float) -> float:
    return this if condition else otherwise


def _sign(x: float) -> int:
    return (x > 0) - (x < 0)


# --- arrays ----------------------------------------------------------------------------------------------------


def _wrap_array(xp: Any, x: Any, low: Any, high: Any) -> Any:
    wrapped = low + xp.mod(x - low, high - low)
    wrapped = xp.where(wrapped < high, wrapped, low)
    return xp.where(xp.logical_and(x >= low, x < high), x, wrapped)  # what lies inside keeps every bit


def _of(name: str) -> Callable[..., Any]:
    """The namespace's own function of that name."""
    return lambda xp, *values: getattr(xp, name)(*values)


def _pairwise(name: str) -> Callable[..., Any]:
    return lambda xp, *values: functools.reduce(getattr(xp, name), values)


def _plain(function: Callable[..., Any], doc: str) -> Operation:
    """An operator that Python's own numbers and arrays understand alike."""
    return Operation(function, lambda xp, *values: function(*values), doc=doc)


X = ("x",)
FUNCTIONS = {
    WHERE: Function(
        _where,
        _of("where"),
        ("condition", "this", "otherwise"),
        doc="`this` where the condition holds, else `otherwise`",
    ),
    "clip": Function(_clip, _of("clip"), ("x", "lo", "hi"), doc="x, held between lo and hi"),
    "wrap": Function(_wrap, _wrap_array, ("x", "lo", "hi"), doc="x, taken round the circle from lo to hi"),
    "min": Function(min, _pairwise("minimum"), ("a", "b", "…"), doc="the least of them"),
    "max": Function(max, _pairwise("maximum"), ("a", "b", "…"), doc="the greatest of them"),
    "atan2": Function(math.atan2, _of("arctan2"), ("y", "x"), doc="the angle of the point (x, y), in (−π, π]"),
    "abs": Function(abs, _of("abs"), X, doc="x without its sign"),
    "sqrt": Function(_within("sqrt", 0, math.inf, math.sqrt), _of("sqrt"), X, doc="the square root"),
    "exp": Function(math.exp, _of("exp"), X, doc="e to the power x"),
    "log": Function(_within("log", 0, math.inf, math.log), _of("log"), X, doc="the natural logarithm"),
    "sin": Function(math.sin, _of("sin"), X, doc="the sine of x radians"),
    "cos": Function(math.cos, _of("cos"), X, doc="the cosine of x radians"),
    "tan": Function(math.tan, _of("tan"), X, doc="the tangent of x radians"),
    "asin": Function(_within("asin", -1, 1, math.asin), _of("arcsin"), X, doc="the angle whose sine is x"),
    "acos": Function(_within("acos", -1, 1, math.acos), _of("arccos"), X, doc="the angle whose cosine is x"),
    "atan": Function(math.atan, _of("arctan"), X, doc="the angle whose tangent is x"),
    "tanh": Function(math.tanh, _of("tanh"), X, doc="the hyperbolic tangent"),
    "sign": Function(_sign, _of("sign"), X, doc="−1, 0 or 1"),
    "floor": Function(math.floor, _of("floor"), X, doc="the greatest whole number that is not above x"),
    "ceil": Function(math.ceil, _of("ceil"), X, doc="the least whole number that is not below x"),
    "round": Function(round, _of("round"), X, doc="the nearest whole number, halves to the even one"),  # as in numpy
}
ARITHMETIC = "arithmetic"
ROUNDED_DIVISION = "division rounded down, and what is left of it"
COMPARISON = "comparisons; `0 < x < 1` is possible"
LOGIC = "of conditions"
OPERATORS = {
    "+": _plain(operator.add, ARITHMETIC),
    "-": _plain(operator.sub, ARITHMETIC),
    "*": _plain(operator.mul, ARITHMETIC),
    "/": _plain(operator.truediv, ARITHMETIC),
    "//": _plain(operator.floordiv, ROUNDED_DIVISION),
    "%": _plain(operator.mod, ROUNDED_DIVISION),
    "**": Operation(_power, lambda xp, base, exponent: base**exponent, doc="power"),
    "<": _plain(operator.lt, COMPARISON),
    "<=": _plain(operator.le, COMPARISON),
    ">": _plain(operator.gt, COMPARISON),
    ">=": _plain(operator.ge, COMPARISON),
    "==": _plain(operator.eq, COMPARISON),
    "!=": _plain(operator.ne, COMPARISON),
    "and": Operation(lambda a, b: a and b, _of("logical_and"), doc=LOGIC),
    "or": Operation(lambda a, b: a or b, _of("logical_or"), doc=LOGIC),
}
UNARY = {
    "-": _plain(operator.neg, ARITHMETIC),
    "+": _plain(operator.pos, ARITHMETIC),
    "not": Operation(operator.not_, _of("logical_not"), doc=LOGIC),
}


def operator_groups() -> dict[str, str]:
    """Operators that are explained together, as in '+ - * /', and what they are."""
    signs: dict[str, list[str]] = {}
    for sign, operation in (OPERATORS | UNARY).items():
        signs.setdefault(operation.doc, []).append(sign)
    return {" ".join(group): doc for doc, group in signs.items()}


# Names of the same functions elsewhere.
ELSEWHERE = {
    "ln": "log",
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "arctan2": "atan2",
    "maximum": "max",
    "minimum": "min",
    "clamp": "clip",
    "if": WHERE,
    "iif": WHERE,
    "sgn": "sign",
    "int": "floor",
}
