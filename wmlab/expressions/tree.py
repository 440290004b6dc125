"""The tree of an expression, and the tree as text again.

A chain of operators of one rank is one node ('a + b - c', 'a < b < c'), so that a long sum is flat and every walk
over a tree is as shallow as its brackets.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

# How tightly operators bind; unary minus and 'not' have ranks of their own.
RANKS = {
    **dict.fromkeys(["or"], 1),
    **dict.fromkeys(["and"], 2),
    **dict.fromkeys(["<", "<=", ">", ">=", "==", "!="], 4),
    **dict.fromkeys(["+", "-"], 5),
    **dict.fromkeys(["*", "/", "//", "%"], 6),
    **dict.fromkeys(["**"], 8),
}
UNARY_RANKS = {"not": 3, "-": 7, "+": 7}
COMPARISONS = frozenset(operator for operator, rank in RANKS.items() if rank == 4)
_ATOM = 9


@dataclass(frozen=True)
class Number:
    """A number as written."""

    value: int | float
    offset: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Name:
    """A name of the spec, or pi or e."""

    id: str
    offset: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Unary:
    """-x, +x or not x."""

    operator: str
    operand: Node
    offset: int = field(default=0, compare=False)


@dataclass(frozen=True)
class ChainStep:
    """One operator of a chain and what stands behind it."""

    operator: str
    operand: Node
    offset: int = field(default=0, compare=False)  # of the operator


@dataclass(frozen=True)
class Chain:
    """Operators of one rank, read from left to right; a power has one step."""

    first: Node
    steps: tuple[ChainStep, ...]

    @property
    def rank(self) -> int:
        return RANKS[self.steps[0].operator]

    @property
    def offset(self) -> int:
        return self.first.offset


@dataclass(frozen=True)
class Call:
    """A function of the language and its arguments."""

    function: str
    arguments: tuple[Node, ...]
    offset: int = field(default=0, compare=False)


Node: TypeAlias = Number | Name | Unary | Chain | Call


def children(node: Node) -> tuple[Node, ...]:
    """What a node is made of, from left to right."""
    match node:
        case Unary():
            return (node.operand,)
        case Chain():
            return (node.first, *(step.operand for step in node.steps))
        case Call():
            return node.arguments
    return ()


def walk(root: Node) -> Iterator[tuple[Node, int]]:
    """Every node with its depth, from left to right, without recursion: the tree may still be too deep for that."""
    waiting = [(root, 1)]
    while waiting:
        node, depth = waiting.pop()
        yield node, depth
        waiting.extend((child, depth + 1) for child in reversed(children(node)))


def to_text(node: Node) -> str:
    """The expression as text, with the brackets it needs; parsing it gives the same tree."""
    match node:
        case Number():
            return repr(node.value)
        case Name():
            return node.id
        case Call():
            return f"{node.function}({', '.join(to_text(argument) for argument in node.arguments)})"
        case Unary():
            space = " " if node.operator == "not" else ""
            return f"{node.operator}{space}{_bracketed(node.operand, UNARY_RANKS[node.operator])}"
        case Chain():
            if node.rank == RANKS["**"]:
                return _power(node)
            parts = [_bracketed(node.first, node.rank + 1)]
            parts += [f"{step.operator} {_bracketed(step.operand, node.rank + 1)}" for step in node.steps]
            return " ".join(parts)


def _power(node: Chain) -> str:
    """2**3**2 and 2**-1 need no brackets on the right, (2**3)**2 and (-2)**2 do on the left."""
    exponent = node.steps[0].operand
    signed = isinstance(exponent, Unary) and exponent.operator != "not"
    return f"{_bracketed(node.first, _ATOM)}**{_bracketed(exponent, UNARY_RANKS['-'] if signed else RANKS['**'])}"


def _bracketed(node: Node, least: int) -> str:
    text = to_text(node)
    return text if _rank(node) >= least else f"({text})"


def _rank(node: Node) -> int:
    match node:
        case Unary():
            return UNARY_RANKS[node.operator]
        case Chain():
            return node.rank
    return _ATOM
