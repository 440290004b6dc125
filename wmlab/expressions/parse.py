"""From text to tree, by binding powers."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field

from wmlab.expressions import tree
from wmlab.expressions.functions import CONSTANTS, GOAL, LOOKUPS, NEXT
from wmlab.expressions.tokens import ExpressionError, Token, number, tokens
from wmlab.expressions.tree import RANKS, UNARY_RANKS, Call, Chain, ChainStep, Name, Node, Number, Unary
from wmlab.limits import EXPRESSION_DEPTH

MULTIPLY = "to multiply, write '*'"  # the hint where two values follow each other
COMMA = "put a comma between two values, or '*' to multiply"  # the same, where commas have a meaning


@dataclass(frozen=True)
class Expression:
    """A parsed expression and the names it needs."""

    root: Node
    text: str = field(compare=False)
    names: tuple[str, ...] = field(compare=False)  # in order of appearance; without constants, next(…) and goal(…)
    nexts: tuple[str, ...] = field(compare=False)  # the v of every next(v)
    goals: tuple[str, ...] = field(compare=False)  # the v of every goal(v)

    def __str__(self) -> str:
        return self.text


@functools.lru_cache(maxsize=4096)
def parse(text: str) -> Expression:
    """The tree of an expression, or an ExpressionError at the first word that does not fit."""
    parser = _Parser(text)
    root = parser.whole()
    names: dict[str, None] = {}
    looked_up: dict[str, dict[str, None]] = {function: {} for function in LOOKUPS}
    inside: set[int] = set()  # offsets of names that a lookup takes
    for node, depth in tree.walk(root):
        if depth > EXPRESSION_DEPTH:
            raise _too_deep(node.offset)
        if isinstance(node, Call) and node.function in LOOKUPS:
            looked_up[node.function].update((child.id, None) for child in node.arguments if isinstance(child, Name))
            inside.update(child.offset for child in node.arguments)
        elif isinstance(node, Name) and node.id not in CONSTANTS and node.offset not in inside:
            names[node.id] = None
    return Expression(root, text, tuple(names), tuple(looked_up[NEXT]), tuple(looked_up[GOAL]))


def to_text(expression: Expression | Node) -> str:
    """The expression in its plainest form; parsing it gives the same tree."""
    return tree.to_text(expression.root if isinstance(expression, Expression) else expression)


class _Parser:
    def __init__(self, text: str):
        self.tokens = tokens(text)
        self.token = next(self.tokens)
        self.depth = 0

    def whole(self) -> Node:
        first = self.token
        if first.kind == "end":
            raise ExpressionError("an expression is missing", 0)
        root = self.expression(0)
        if self.token.kind != "end":
            raise self.surprise("an operator", after=True)
        return root

    def advance(self) -> Token:
        token, self.token = self.token, next(self.tokens, self.token)
        return token

    def expression(self, least: int) -> Node:
        """Everything from here on that binds at least so tightly."""
        self.depth += 1
        if self.depth > EXPRESSION_DEPTH:
            raise _too_deep(self.token.offset)
        left = self.operand()
        while (rank := RANKS.get(self.token.text, -1)) >= max(least, 1):
            left = self.chain(left, rank)
        self.depth -= 1
        return left

    def chain(self, first: Node, rank: int) -> Node:
        if rank == RANKS["**"]:
            operator = self.advance()
            return Chain(first, (ChainStep(operator.text, self.expression(rank), operator.offset),))
        steps: list[ChainStep] = []
        while RANKS.get(self.token.text) == rank:
            operator = self.advance()
            if operator.text == "%" and self.token.text in ("", ")", ","):
                raise _percent(steps[-1].operand if steps else first, operator)
            steps.append(ChainStep(operator.text, self.expression(rank + 1), operator.offset))
        return Chain(first, tuple(steps))

    def operand(self) -> Node:
        token = self.token
        if token.text in UNARY_RANKS:
            self.advance()
            return Unary(token.text, self.expression(UNARY_RANKS[token.text]), token.offset)
        if token.kind == "number":
            return Number(number(self.advance()), token.offset)
        if token.kind == "name":
            self.advance()
            return self.call(token) if self.token.text == "(" else Name(token.text, token.offset)
        if token.text == "(":
            self.advance()
            inner = self.expression(0)
            self.close(token)
            return inner
        raise self.surprise("a number, a name or '('")

    def call(self, name: Token) -> Call:
        opening = self.advance()
        arguments: list[Node] = []
        while self.token.text != ")" or arguments:
            arguments.append(self.expression(0))
            if self.token.text != ",":
                break
            self.advance()
        self.close(opening, COMMA)
        return Call(name.text, tuple(arguments), name.offset)

    def close(self, opening: Token, forgotten: str = MULTIPLY) -> None:
        if self.token.kind == "end":
            raise ExpressionError("'(' is never closed", opening.offset)
        if self.token.text != ")":
            raise self.surprise("')' or an operator", after=True, forgotten=forgotten)
        self.advance()

    def surprise(self, expected: str, after: bool = False, forgotten: str = MULTIPLY) -> ExpressionError:
        """The word that does not fit; `after` a complete operand something was often forgotten."""
        token, hint = self.token, None
        if after and (token.text == "(" or token.kind in ("number", "name")):
            hint = forgotten
        if token.text in ("if", "else"):
            hint = "write where(condition, this, otherwise)"
        elif after and token.text == ",":
            hint = "only a function takes several values, as in max(a, b)"
        elif after and token.text == ")":
            return ExpressionError("')' closes nothing", token.offset)
        return ExpressionError(f"expected {expected}, not {token}", token.offset, hint)


def _percent(of: Node, sign: Token) -> ExpressionError:
    """60%, which is no number here."""
    hint = f"write {of.value / 100:g}" if isinstance(of, Number) else "for percent, divide by 100"
    return ExpressionError("'%' is the remainder of a division, and nothing follows it", sign.offset, hint)


def _too_deep(offset: int) -> ExpressionError:
    return ExpressionError(f"nested more than {EXPRESSION_DEPTH} deep", offset, "give a part a name under `let`")
