"""Text to tree and back."""

from __future__ import annotations

import ast
import operator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wmlab.expressions import ExpressionError, constant, parse, to_text
from wmlab.expressions.tree import Call, Chain, ChainStep, Name, Node, Number, Unary, walk

ATOMS = st.one_of(
    st.integers(0, 10**20).map(Number),
    st.floats(0, 1e300, allow_nan=False).map(Number),
    st.sampled_from(["x", "speed", "_a", "pi"]).map(Name),
)
CHAINS = [["+", "-"], ["*", "/", "//", "%"], ["<", "<=", ">", ">=", "==", "!="], ["and"], ["or"]]


def chains(parts: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    def of(operators: list[str]) -> st.SearchStrategy[Node]:
        steps = st.lists(st.builds(ChainStep, st.sampled_from(operators), parts), min_size=1, max_size=3).map(tuple)
        return st.builds(Chain, parts, steps)

    return st.one_of([of(operators) for operators in CHAINS])


def branches(parts: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    return st.one_of(
        chains(parts),
        st.builds(lambda a, b: Chain(a, (ChainStep("**", b),)), parts, parts),
        st.builds(Unary, st.sampled_from(["-", "+", "not"]), parts),
        st.builds(Call, st.sampled_from(["max", "sin", "where", "next"]), st.lists(parts, max_size=3).map(tuple)),
    )


@settings(deadline=None)
@given(st.recursive(ATOMS, branches, max_leaves=15))
def test_printing_and_parsing_again_gives_the_same_tree(tree):
    again = parse(to_text(tree))
    assert again.root == tree
    assert numbers(again.root) == numbers(tree)
    assert to_text(again) == to_text(tree)


def numbers(root: Node) -> list[str]:
    """Every number as written, for == does not tell 1 from 1.0."""
    return [repr(node.value) for node, _ in walk(root) if isinstance(node, Number)]


PYTHON = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: operator.not_,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


def by_python(node: ast.expr) -> Any:
    """The value of a tree that Python's own parser made."""
    match node:
        case ast.Constant():
            return node.value
        case ast.UnaryOp():
            return PYTHON[type(node.op)](by_python(node.operand))
        case ast.BinOp():
            return PYTHON[type(node.op)](by_python(node.left), by_python(node.right))
        case ast.BoolOp():
            return (all if isinstance(node.op, ast.And) else any)([by_python(value) for value in node.values])
        case ast.Compare():
            values = [by_python(value) for value in (node.left, *node.comparators)]
            pairs = zip(node.ops, values, values[1:], strict=False)
            return all(PYTHON[type(sign)](left, right) for sign, left, right in pairs)
    raise AssertionError(node)


OPERATORS = ["+", "-", "*", "/", "//", "%", "**"]
OPERANDS = ["1", "2", "3", "-2", "+1", "2.5", "(1 + 2)", "-(3 - 1)", "--2"]


STEPS = st.lists(st.tuples(st.sampled_from(OPERATORS), st.sampled_from(OPERANDS)), max_size=5)


@settings(deadline=None)
@given(st.sampled_from(OPERANDS), STEPS)
def test_operators_bind_as_in_python(first, steps):
    text = " ".join([first, *(f"{sign} {operand}" for sign, operand in steps)])
    try:
        ours = constant(text)
    except ExpressionError:
        return  # too large, or no value; the values are tested elsewhere
    theirs = by_python(ast.parse(text, mode="eval").body)
    assert (type(ours), ours) == (type(theirs), theirs)


CONDITIONS = ["1 < 2", "3 < 2", "1 < 2 < 3", "1 < 3 < 2", "2 == 2 != 3", "not 1 < 2", "not not 1 < 2"]
CONDITIONS += ["(1 < 2 or 2 < 1)", "not (1 < 2 and 2 < 1)"]


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["and", "or"]), st.sampled_from(CONDITIONS)), max_size=5))
def test_conditions_bind_as_in_python(steps):
    text = " ".join(["1 <= 1", *(f"{sign} {operand}" for sign, operand in steps)])
    theirs = by_python(ast.parse(text, mode="eval").body)
    assert constant(f"where({text}, 1, 0)") == int(theirs)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("-2**2", "-2**2"),
        ("(-2)**2", "(-2)**2"),
        ("2**(3**2)", "2**3**2"),
        ("(2**3)**2", "(2**3)**2"),
        ("2**(-1)", "2**-1"),
        ("((a)+(b))*c", "(a + b) * c"),
        ("a-(b-c)", "a - (b - c)"),
        ("(a-b)-c", "(a - b) - c"),
        ("not(a<b)", "not a < b"),
        ("5_000 + 1e-4", "5000 + 0.0001"),
        ("where( x>0,1 , 2 )", "where(x > 0, 1, 2)"),
        ("a\n + b", "a + b"),
    ],
)
def test_text_is_shown_with_the_brackets_it_needs(text, shown):
    assert to_text(parse(text)) == shown
    assert parse(shown) == parse(text)


def test_an_expression_knows_the_names_it_needs():
    parsed = parse("angle + dt * next(speed) + 2 * pi * angle")
    assert parsed.names == ("angle", "dt")
    assert parsed.nexts == ("speed",)


def test_the_same_text_is_parsed_once():
    assert parse("1 + 2 * 3") is parse("1 + 2 * 3")


@pytest.mark.parametrize(
    ("text", "message", "offset", "hint"),
    [
        ("", "an expression is missing", 0, None),
        ("1 +", "expected a number, a name or '(', not the end", 3, None),
        ("max(1, 2", "'(' is never closed", 3, None),
        ("1 + 2)", "')' closes nothing", 5, None),
        ("2x", "'2x' is not a number", 0, "to multiply, write '2 * x'"),
        ("0x1F", "'0x1F' is not a number", 0, "write it in decimal"),
        ("2 (3)", "expected an operator, not '('", 2, "to multiply, write '*'"),
        ("max(2 3)", "expected ')' or an operator, not '3'", 6, "put a comma between two values, or '*' to multiply"),
        ("60%", "'%' is the remainder of a division, and nothing follows it", 2, "write 0.6"),
        ("1 - (2.5 %)", "'%' is the remainder of a division, and nothing follows it", 9, "write 0.025"),
        ("x%", "'%' is the remainder of a division, and nothing follows it", 1, "for percent, divide by 100"),
        ("1, 2", "expected an operator, not ','", 1, "only a function takes several values, as in max(a, b)"),
        ("a if b else c", "expected an operator, not 'if'", 2, "write where(condition, this, otherwise)"),
        ("x ^ 2", "'^' has no meaning in an expression", 2, "write '**' for a power"),
        ("x = 2", "'=' has no meaning in an expression", 2, "write '==' to compare; an expression sets nothing"),
        ("2 * π", "'π' has no meaning in an expression", 4, "write 'pi'"),
        ("x.y", "'.' has no meaning in an expression", 1, "an expression has no attributes"),
        ("__x", "'__x' is not a name: it holds two underscores in a row", 0, None),
        ("1 + \x00", "the character U+0000 has no meaning in an expression", 4, None),
        ("1" * 2001, "an expression of 2001 characters; 2000 are allowed", 2000, None),
    ],
)
def test_a_word_that_does_not_fit_is_named_with_its_place(text, message, offset, hint):
    with pytest.raises(ExpressionError) as caught:
        parse(text)
    assert (caught.value.message, caught.value.offset, caught.value.hint) == (message, offset, hint)
