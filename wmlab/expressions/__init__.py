"""The small closed language of numbers and conditions: `1/sqrt(2)`, `abs(speed) > 6`, `clip(x + wind, -8, 8)`."""

from wmlab.expressions.check import Type, check, name_problem, problems, type_of
from wmlab.expressions.evaluate import compile, constant, goal_name, next_name, program
from wmlab.expressions.parse import COMMA, MULTIPLY, Expression, parse, to_text
from wmlab.expressions.tokens import ExpressionError, substitute, written_offset

__all__ = [
    "COMMA",
    "MULTIPLY",
    "Expression",
    "ExpressionError",
    "Type",
    "check",
    "compile",
    "constant",
    "goal_name",
    "name_problem",
    "next_name",
    "parse",
    "problems",
    "program",
    "substitute",
    "to_text",
    "type_of",
    "written_offset",
]
