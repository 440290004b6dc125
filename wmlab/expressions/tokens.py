"""Words of an expression, each with its place; everything else is refused with a reason."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from wmlab.errors import WmlabError
from wmlab.expressions.functions import LOOKUPS
from wmlab.limits import EXPRESSION_CHARACTERS

LARGEST = sys.float_info.max

KEYWORDS = ("and", "or", "not")


class ExpressionError(WmlabError):
    """A mistake in an expression, at an offset (from 0) into its text."""

    exit_code = 2

    def __init__(self, message: str, offset: int, hint: str | None = None):
        super().__init__(message)
        self.message, self.offset, self.hint = message, offset, hint


@dataclass(frozen=True)
class Token:
    """A number, a name, an operator or keyword, or the end."""

    kind: Literal["number", "name", "operator", "end"]
    text: str
    offset: int

    def __str__(self) -> str:
        return "the end" if self.kind == "end" else f"'{_short(self.text)}'"


# ASCII only: a digit or letter that merely looks like one would change the meaning unseen.
_SPACE = re.compile(r"[ \t\r\n]+")
_DIGITS = r"[0-9]+(?:_[0-9]+)*"
_NUMBER = re.compile(rf"(?:{_DIGITS}(?:\.(?:{_DIGITS})?)?|\.{_DIGITS})(?:[eE][-+]?{_DIGITS})?")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OPERATOR = re.compile(r"\*\*|//|<=|>=|==|!=|[-+*/%<>(),]")

# What people write by habit from elsewhere, and what it is called here.
_HABITS = {
    "&&": "write 'and'",
    "||": "write 'or'",
    ":=": "an expression sets nothing",
    "&": "write 'and'",
    "|": "write 'or'",
    "!": "write 'not'",
    "^": "write '**' for a power",
    "=": "write '==' to compare; an expression sets nothing",
    "[": "write '(' and ')'; an expression has no lists",
    "]": "write '(' and ')'; an expression has no lists",
    "{": "write '(' and ')'",
    "}": "write '(' and ')'",
    ".": "an expression has no attributes",
    "'": "an expression has no texts",
    '"': "an expression has no texts",
    "\u2212": "write '-'",
    "\u2013": "write '-'",
    "\u00d7": "write '*'",
    "\u00b7": "write '*'",
    "\u00f7": "write '/'",
    "\u2264": "write '<='",
    "\u2265": "write '>='",
    "\u2260": "write '!='",
    "\u03c0": "write 'pi'",
    "\u221a": "write 'sqrt(…)'",
    "\u00b2": "write '**2'",
    "\u00b3": "write '**3'",
}


def tokens(text: str) -> Iterator[Token]:
    """The words of an expression in order, closed by one of kind 'end'."""
    if len(text) > EXPRESSION_CHARACTERS:
        message = f"an expression of {len(text)} characters; {EXPRESSION_CHARACTERS} are allowed"
        raise ExpressionError(message, EXPRESSION_CHARACTERS)
    at = 0
    while at < len(text):
        if space := _SPACE.match(text, at):
            at = space.end()
            continue
        token = _token(text, at)
        yield token
        at += len(token.text)
    yield Token("end", "", len(text.rstrip(" \t\r\n")))


def number(token: Token) -> int | float:
    """The value of a number token: an int unless it has a point or an exponent."""
    digits = token.text.replace("_", "")
    value = int(digits) if digits.isdigit() else float(digits)
    if abs(value) > LARGEST:
        raise ExpressionError("a number too large to compute with", token.offset)
    return value


def _token(text: str, at: int) -> Token:
    if match := _NUMBER.match(text, at):
        _refuse_glued(text, at, match.end())
        return Token("number", match.group(), at)
    if match := _NAME.match(text, at):
        word = match.group()
        if "__" in word:
            raise ExpressionError(f"'{_short(word)}' is not a name: it holds two underscores in a row", at)
        _refuse_letter(text, match.end())
        return Token("operator" if word in KEYWORDS else "name", word, at)
    if match := _OPERATOR.match(text, at):
        return Token("operator", match.group(), at)
    _refuse_letter(text, at)
    for habit, hint in _HABITS.items():
        if text.startswith(habit, at):
            raise ExpressionError(f"'{habit}' has no meaning in an expression", at, hint)
    raise ExpressionError(f"{_show(text[at])} has no meaning in an expression", at)


def _refuse_glued(text: str, start: int, end: int) -> None:
    """A number ends before a letter, a point or an underscore: '2x' and '1.2.3' are no numbers."""
    if _NAME.match(text, end) or text.startswith(".", end):
        rest = re.compile(r"[A-Za-z0-9_.]*").match(text, end)
        glued = text[start : rest.end() if rest else end]
        name = glued[end - start :]
        hint = None
        if re.fullmatch("0[xXoObB][0-9a-fA-F]+", glued):
            hint = "write it in decimal"
        elif name.isidentifier() and name[0] != "_":
            hint = f"to multiply, write '{text[start:end]} * {_short(name)}'"
        raise ExpressionError(f"'{_short(glued)}' is not a number", start, hint)
    _refuse_letter(text, end)


def _refuse_letter(text: str, at: int) -> None:
    """Letters and digits of other alphabets look alike and are not the same name."""
    if at < len(text) and not text[at].isascii() and text[at].isalnum() and text[at] not in _HABITS:
        message = f"{_show(text[at])} is not one of the letters A-Z, a-z and digits that names and numbers are made of"
        raise ExpressionError(message, at)


def _short(word: str) -> str:
    return word if len(word) <= 40 else word[:39] + "…"


def _show(character: str) -> str:
    return f"'{character}'" if character.isprintable() else f"the character U+{ord(character):04X}"


# --- known numbers put into a text, and places in the new text looked up in the old one ---------------------------


def substitute(text: str, values: Mapping[str, int | float]) -> str:
    """The text with the values of known names written in; as it is where it cannot be read.

    Functions keep their names, and so does the variable in next(v) and goal(v).
    """
    try:
        words = list(tokens(text))
    except ExpressionError:
        return text
    parts, at = [], 0
    for position, word in enumerate(words):
        if word.kind == "name" and word.text in values and not _is_kept(words, position):
            value = repr(values[word.text])
            parts += [text[at : word.offset], f"({value})" if value.startswith("-") else value]
            at = word.offset + len(word.text)
    return "".join([*parts, text[at:]])


def written_offset(written: str, text: str, offset: int) -> int:
    """The place in an expression as it was written of an offset into it after `substitute`."""
    try:
        old, new = list(tokens(written)), list(tokens(text))
    except ExpressionError:
        return offset  # nothing was put in
    at = 0  # of the new words, the first that stands for the old one
    for word in old:
        replaced = word.kind == "name" and new[at].text != word.text
        taken = 4 if replaced and new[at].text == "(" else 1  # a negative number is ( - n )
        last = new[at + taken - 1]
        if offset < last.offset + max(len(last.text), 1):
            return word.offset if replaced else word.offset + max(offset - new[at].offset, 0)
        at += taken
    return len(written)


def _is_kept(words: list[Token], position: int) -> bool:
    """Whether a name is a function's, or the variable that next(…) or goal(…) looks up."""
    if words[position + 1].text == "(":
        return True
    return position > 1 and words[position - 1].text == "(" and words[position - 2].text in LOOKUPS
