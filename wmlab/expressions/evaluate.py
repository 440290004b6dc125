"""Expressions as numbers, and as functions of arrays.

What depends on known numbers alone is worked out with Python's own, once; only the rest is left to arrays. Numbers
reach the arrays as plain Python floats, so that they never widen an array's type.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from wmlab.expressions.check import Type, check
from wmlab.expressions.functions import (
    CONSTANTS,
    FUNCTIONS,
    GOAL,
    LOOKUPS,
    NEXT,
    OPERATORS,
    UNARY,
    WHERE,
    Operation,
    Undefined,
)
from wmlab.expressions.parse import Expression, parse, to_text
from wmlab.expressions.tokens import LARGEST, ExpressionError
from wmlab.expressions.tree import COMPARISONS, Call, Chain, Name, Node, Number, Unary

Value: TypeAlias = int | float | bool
Program: TypeAlias = Callable[[Any, Mapping[str, Any]], Any]  # (xp, env) -> array
Part: TypeAlias = Value | Program


def constant(expression: str | Expression, env: Mapping[str, int | float] | None = None) -> int | float:
    """The number that an expression of known numbers stands for; an int where it is exact."""
    parsed, known = _parsed(expression), env or {}
    check(parsed, _Numbers(known))
    return cast("int | float", _Builder(known).build(parsed.root))


class _Numbers(Mapping[str, Type]):
    """Known numbers as a check asks for them: the type of each, without a copy for every expression."""

    def __init__(self, known: Mapping[str, int | float]):
        self.known = known

    def __getitem__(self, name: str) -> Type:
        if name not in self.known:
            raise KeyError(name)
        return "number"

    def __contains__(self, name: object) -> bool:
        return name in self.known

    def __iter__(self) -> Iterator[str]:
        return iter(self.known)

    def __len__(self) -> int:
        return len(self.known)


def compile(
    expression: str | Expression,
    names: Collection[str] | Mapping[str, Type],
    *,
    want: Type = "number",
    allow_next: Collection[str] = (),
    allow_goal: Collection[str] = (),
) -> Program:
    """A function (xp, env) of an array namespace and a mapping from names to floats or arrays of floats.

    `names` are numbers, or say which of them are conditions. `next(v)` is looked up as env["next(v)"], and `goal(v)`
    likewise. What is made of numbers alone is folded; an expression of nothing else gives a plain float or bool.
    """
    parsed = _parsed(expression)
    check(parsed, names if isinstance(names, Mapping) else dict.fromkeys(names, "number"), want, allow_next, allow_goal)
    return _program(_Builder({}).build(parsed.root))


@functools.cache
def program(text: str, names: tuple[str, ...], want: Type = "boolean", goal: tuple[str, ...] = ()) -> Program:
    """The compiled expression of named numbers, once for each text; `goal` are the v that goal(v) may look up."""
    return compile(text, names, want=want, allow_goal=goal)


def next_name(variable: str) -> str:
    """What a compiled expression looks next(variable) up as."""
    return f"{NEXT}({variable})"


def goal_name(variable: str) -> str:
    """What a compiled expression looks goal(variable) up as."""
    return f"{GOAL}({variable})"


@dataclass(frozen=True)
class _Builder:
    """Folds what is known; the rest becomes a program. The tree has passed the check."""

    known: Mapping[str, int | float]

    def build(self, node: Node) -> Part:
        match node:
            case Number():
                return node.value
            case Name():
                return self.name(node)
            case Unary():
                return _apply(UNARY[node.operator], (self.build(node.operand),), node.offset)
            case Call():
                return self.call(node)
            case Chain():
                return self.comparison(node) if node.steps[0].operator in COMPARISONS else self.chain(node)

    def name(self, node: Name) -> Part:
        if node.id in CONSTANTS:
            return CONSTANTS[node.id]
        if node.id in self.known:
            return _finite(self.known[node.id], node.offset)
        name = node.id
        return lambda xp, env: env[name]

    def call(self, node: Call) -> Part:
        if node.function in LOOKUPS:
            name = f"{node.function}({cast(Name, node.arguments[0]).id})"
            return lambda xp, env: env[name]
        if node.function == WHERE and not callable(condition := self.build(node.arguments[0])):
            return self.build(node.arguments[1 if condition else 2])  # the other one need not have a value
        parts = tuple(self.build(argument) for argument in node.arguments)
        return _apply(FUNCTIONS[node.function], parts, node.offset)

    def chain(self, node: Chain) -> Part:
        left = self.build(node.first)
        for step in node.steps:
            if step.operator in ("and", "or") and not callable(left) and bool(left) == (step.operator == "or"):
                continue  # decided: what follows cannot change it
            right = self.build(step.operand)
            try:
                left = _apply(OPERATORS[step.operator], (left, right), step.offset, exponent=step.operator == "**")
            except ZeroDivisionError:
                hint = None if isinstance(step.operand, Number) else f"'{to_text(step.operand)}' is {right:g}"
                raise ExpressionError("division by zero", step.offset, hint) from None
        return left

    def comparison(self, node: Chain) -> Part:
        """a < b < c is a < b and b < c, with b worked out once."""
        left, result = self.build(node.first), cast(Part, True)
        for step in node.steps:
            right = self.build(step.operand)
            pair = _apply(OPERATORS[step.operator], (left, right), step.offset)
            result = pair if result is True else _apply(OPERATORS["and"], (result, pair), step.offset)
            left = right
        return result


def _parsed(expression: str | Expression) -> Expression:
    return parse(expression) if isinstance(expression, str) else expression


def _apply(operation: Operation, parts: tuple[Part, ...], offset: int, exponent: bool = False) -> Part:
    """The operation on numbers now, or on arrays later."""
    if not any(callable(part) for part in parts):
        return _number(operation, cast("tuple[Value, ...]", parts), offset)
    whole = exponent and isinstance(parts[1], int) and abs(parts[1]) < 2**31
    # a whole exponent stays whole: x**2 is then a product, also in its gradient
    programs = (*(_program(part) for part in parts[:-1]), _program(parts[-1], keep=whole))
    array = operation.array
    return lambda xp, env: array(xp, *(program(xp, env) for program in programs))


def _program(part: Part, keep: bool = False) -> Program:
    if callable(part):
        return part
    value = part if keep or isinstance(part, bool) else float(part)
    return lambda xp, env: value


def _number(operation: Operation, values: tuple[Value, ...], offset: int) -> Value:
    try:
        return _finite(operation.number(*values), offset)
    except Undefined as error:
        raise ExpressionError(str(error), offset) from None
    except OverflowError:
        raise ExpressionError("a number too large to compute with", offset) from None


def _finite(value: Value, offset: int) -> Value:
    if not abs(value) <= LARGEST:
        raise ExpressionError("a number too large to compute with", offset)
    return value
