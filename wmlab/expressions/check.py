"""Whether an expression means something: known names, the right number of arguments, numbers and conditions apart."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Literal

from wmlab.errors import one_of, suggest
from wmlab.expressions.functions import CONSTANTS, ELSEWHERE, FUNCTIONS, GOAL, LOOKUPS, NEXT, WHERE
from wmlab.expressions.parse import Expression, to_text
from wmlab.expressions.tokens import KEYWORDS, ExpressionError
from wmlab.expressions.tree import COMPARISONS, Call, Chain, Name, Node, Number, Unary

Type = Literal["number", "boolean"]


def check(
    expression: Expression,
    known: Mapping[str, Type],
    want: Type = "number",
    allow_next: Collection[str] = (),
    allow_goal: Collection[str] = (),
) -> None:
    """Raise the first mistake in an expression.

    `allow_next` and `allow_goal` hold the v for which next(v) and goal(v) have a meaning.
    """
    for problem in problems(expression, known, want, allow_next, allow_goal):
        raise problem


def problems(
    expression: Expression,
    known: Mapping[str, Type],
    want: Type = "number",
    allow_next: Collection[str] = (),
    allow_goal: Collection[str] = (),
) -> tuple[ExpressionError, ...]:
    """Every mistake in an expression, from left to right."""
    checker = _Checker(known, {NEXT: allow_next, GOAL: allow_goal})
    checker.expect(expression.root, want)
    return tuple(sorted(checker.errors, key=lambda error: error.offset))


def type_of(expression: Expression, known: Mapping[str, Type]) -> Type:
    """Whether an expression is a number or a condition; a number where it has mistakes."""
    return _Checker(known, {}).type(expression.root) or "number"


def name_problem(name: str) -> str | None:
    """Why a name could not be used in expressions, or None: for those who declare names."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) or "__" in name:
        return f"'{name}' is not a name: letters, digits and single underscores, not starting with a digit"
    if name in CONSTANTS:
        return f"'{name}' is the constant {CONSTANTS[name]:.6g}; take another name"
    if name in FUNCTIONS or name in KEYWORDS or name in LOOKUPS:
        return f"'{name}' is a word of the expression language; take another name"
    return None


class _Checker:
    def __init__(self, known: Mapping[str, Type], lookups: Mapping[str, Collection[str]]):
        self.known, self.lookups = known, lookups  # of next and goal: the variables that they may look up
        self.errors: list[ExpressionError] = []

    def report(self, message: str, offset: int, hint: str | None = None) -> None:
        self.errors.append(ExpressionError(message, offset, hint))

    def expect(self, node: Node, want: Type) -> None:
        actual = self.type(node)
        if actual is None or actual == want:
            return  # None: its own mistake is already reported
        shown = _shown(node)
        if want == "boolean":
            example = f"'{to_text(node)} > 0'" if len(shown) <= 60 else "'… > 0'"
            self.report(f"expected a condition, but {shown} is a number", node.offset, f"compare it, as in {example}")
        else:
            hint = f"where({to_text(node)}, 1, 0) is a number" if len(shown) <= 60 else None
            self.report(f"expected a number, but {shown} is a condition", node.offset, hint)

    def type(self, node: Node) -> Type | None:
        """What a node is, or None where its mistakes leave that open."""
        match node:
            case Number():
                return "number"
            case Name():
                return self.name(node)
            case Call():
                return self.call(node)
            case Unary():
                wanted: Type = "boolean" if node.operator == "not" else "number"
                self.expect(node.operand, wanted)
                return wanted
            case Chain():
                return self.chain(node)

    def chain(self, node: Chain) -> Type:
        operator = node.steps[0].operator
        wanted: Type = "boolean" if operator in ("and", "or") else "number"
        for operand in (node.first, *(step.operand for step in node.steps)):
            self.expect(operand, wanted)
        return "boolean" if operator in COMPARISONS else wanted

    def name(self, node: Name) -> Type | None:
        if node.id in CONSTANTS:
            if node.id in self.known:  # two meanings: refuse rather than choose
                self.report(f"'{node.id}' is both a constant and a name of the spec", node.offset, "rename yours")
            return "number"
        if node.id in self.known:
            return self.known[node.id]
        if node.id in FUNCTIONS:
            hint: str | None = f"it is a function: {node.id}({', '.join(FUNCTIONS[node.id].parameters)})"
        else:
            hint = suggest(node.id, [*self.known, *CONSTANTS]) or _listing(self.known)
        self.report(f"unknown name {_shown(node)}", node.offset, hint)
        return None

    def call(self, node: Call) -> Type | None:
        if node.function in LOOKUPS:
            return self.lookup(node)
        function = FUNCTIONS.get(node.function)
        if function is None:
            for argument in node.arguments:
                self.type(argument)
            self.report(f"unknown function '{_cut(node.function)}'", node.offset, self.function_hint(node.function))
            return None
        if not function.takes(len(node.arguments)):
            parameters = ", ".join(function.parameters)
            count = f"{function.least}{' or more' if function.many else ''}"
            takes = f"{node.function} takes {count} value{'s' if function.least > 1 else ''}"
            self.report(f"{takes}, not {len(node.arguments)}", node.offset, f"{node.function}({parameters})")
            return None
        if node.function == WHERE:
            return self.where(node)
        for argument in node.arguments:
            self.expect(argument, "number")
        return "number"

    def where(self, node: Call) -> Type | None:
        condition, this, otherwise = node.arguments
        self.expect(condition, "boolean")
        chosen = self.type(this)
        if chosen is None:
            return self.type(otherwise)
        self.expect(otherwise, chosen)
        return chosen

    def lookup(self, node: Call) -> Type | None:
        """next(v) and goal(v): what they take is a name, not a value."""
        function, allowed = node.function, self.lookups.get(node.function, ())
        variable = node.arguments[0] if len(node.arguments) == 1 else None
        if not allowed:
            self.report(f"{function}(…) has no meaning here", node.offset, LOOKUPS[function])
        elif not isinstance(variable, Name):
            noun = "state variable" if function == NEXT else "variable"
            self.report(f"{function} takes the name of one {noun}", node.offset, _listing(allowed))
        elif variable.id not in allowed:
            hint = suggest(variable.id, allowed) or _listing(allowed)
            self.report(f"{function}({_cut(variable.id)}) is not known here", variable.offset, hint)
        return "number"

    def function_hint(self, name: str) -> str | None:
        if name in self.known or name in CONSTANTS:
            return "it is a number; to multiply, write '*'"
        if name in ELSEWHERE:
            return f"write {ELSEWHERE[name]}(…)"
        return "write '**' for a power" if name == "pow" else suggest(name, FUNCTIONS)


def _listing(names: Collection[str]) -> str | None:
    return f"known here: {one_of(sorted(names))}" if 0 < len(names) <= 12 else None


def _shown(node: Node) -> str:
    return f"'{_cut(to_text(node))}'"


def _cut(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "…"
