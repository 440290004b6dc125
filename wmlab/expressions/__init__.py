"""The small closed language of numbers and conditions: `1/sqrt(2)`, `abs(speed) > 6`, `clip(x + wind, -8, 8)`."""

from wmlab.expressions.check import Type, check, name_problem, problems
from wmlab.expressions.evaluate import compile, constant, next_name
from wmlab.expressions.parse import Expression, parse, to_text
from wmlab.expressions.tokens import ExpressionError

__all__ = [
    "Expression",
    "ExpressionError",
    "Type",
    "check",
    "compile",
    "constant",
    "name_problem",
    "next_name",
    "parse",
    "problems",
    "to_text",
]
