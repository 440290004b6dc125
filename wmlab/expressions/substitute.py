"""Known numbers put into an expression's text, and places in the new text found again in the old one."""

from __future__ import annotations

from collections.abc import Mapping

from wmlab.expressions.functions import LOOKUPS
from wmlab.expressions.tokens import ExpressionError, Token, tokens


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
