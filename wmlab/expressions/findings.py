"""Mistakes in the expressions of a spec, each with its place."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from wmlab.expressions.check import Type, problems, type_of
from wmlab.expressions.evaluate import compile
from wmlab.expressions.parse import parse
from wmlab.expressions.tokens import ExpressionError
from wmlab.registry import Finding
from wmlab.registry.kinds import Path

NO_VALUE = "it divides by 0, takes a root or a logarithm of what has none, or grows beyond all numbers"


def text_of(written: Any) -> str:
    """An expression as text; a spec may write a plain number."""
    return written if isinstance(written, str) else repr(written)


def expression_findings(
    written: Any,
    known: Mapping[str, Type],
    path: Path,
    want: Type | None = "number",
    allow_next: Collection[str] = (),
    allow_goal: Collection[str] = (),
) -> Iterator[Finding]:
    """What is wrong with one expression, each with its place in the text; `want` None takes numbers and conditions."""
    try:
        parsed = parse(text_of(written))
        wanted = type_of(parsed, known) if want is None else want
        wrong = problems(parsed, known, wanted, allow_next, allow_goal)
        if not wrong:  # what is made of numbers alone must have a value
            compile(parsed, known, want=wanted, allow_next=allow_next, allow_goal=allow_goal)
    except ExpressionError as error:
        wrong = (error,)
    for problem in wrong:
        yield Finding(path, problem.message, problem.hint, offset=problem.offset)


def condition_findings(
    written: Any, names: Collection[str], let: Collection[str], path: Path, allow_goal: Collection[str] = ()
) -> Iterator[Finding]:
    """What is wrong with a condition on the variables of a world; names under `let` may not be among them."""
    known: dict[str, Type] = dict.fromkeys([*let, *names], "number")
    yield from name_clashes(let, names, path)
    yield from expression_findings(written, known, path, "boolean", allow_goal=allow_goal)


def name_clashes(let: Collection[str], variables: Collection[str], path: Path) -> Iterator[Finding]:
    """Names that an expression could read in two ways."""
    for name in variables:
        if name in let:
            yield Finding(path, f"'{name}' is a variable of the world and a name under let", "rename the one under let")
