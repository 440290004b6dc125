"""Text and numbers as LaTeX that every engine sets, pdflatex as well: nothing but ASCII.

Signs that this program writes become what they mean, in mathematics where LaTeX has them there alone; letters keep
their accents. Any other character stands as its number: `[U+1F600]`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from wmlab.errors import visible
from wmlab.report.text import MISSING, SUPERSCRIPTS, THIN

PLAIN_DIGITS = {code: chr(digit) for digit, code in SUPERSCRIPTS.items()}
POWER = re.compile(r"\u00a0×\u00a010([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)")
TEXT = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\u00a0": "~",
    THIN: r"\,",
    "–": "--",
    "—": "---",
    "…": r"\ldots{}",
    "‘": "`",
    "’": "'",
    "“": "``",
    "”": "''",
    "§": r"\S{}",
    "†": r"\dag{}",
    "ß": r"\ss{}",
    "æ": r"\ae{}",
    "Æ": r"\AE{}",
    "ø": r"\o{}",
    "Ø": r"\O{}",
    "ł": r"\l{}",
    "ı": r"\i{}",
} | {sign: f"\\{sign}" for sign in "&%$#_{}"}
GREEK = (
    *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu"),
    *("xi", "", "pi", "rho", "varsigma", "sigma", "tau", "upsilon", "varphi", "chi", "psi", "omega"),  # not omicron
)
CAPITALS = {sign: f"\\{unicodedata.name(sign).rpartition(' ')[2].capitalize()}" for sign in "ΓΔΘΞΠΣΥΦΨΩ"}
MATHEMATICS = (
    {chr(ord("α") + place): f"\\{name}" for place, name in enumerate(GREEK) if name}
    | {"Λ": r"\Lambda", "ϕ": r"\phi", "ϵ": r"\epsilon", "µ": r"\mu", "ℓ": r"\ell"}
    | CAPITALS
    | {"<": "<", ">": ">", "|": "|", "−": "-", "±": r"\pm", "×": r"\times", "·": r"\cdot", "÷": r"\div", "∞": r"\infty"}
    | {"≤": r"\leq", "≥": r"\geq", "≠": r"\neq", "≈": r"\approx", "∼": r"\sim", "≡": r"\equiv", "∝": r"\propto"}
    | {"→": r"\to", "←": r"\leftarrow", "↑": r"\uparrow", "↓": r"\downarrow", "↔": r"\leftrightarrow"}
    | {"⇒": r"\Rightarrow", "⇔": r"\Leftrightarrow", "∈": r"\in", "∉": r"\notin", "∀": r"\forall", "∃": r"\exists"}
    | {"⊂": r"\subset", "⊆": r"\subseteq", "⊃": r"\supset", "⊇": r"\supseteq", "∪": r"\cup", "∩": r"\cap"}
    | {"∅": r"\emptyset", "⊕": r"\oplus", "⊗": r"\otimes", "⊤": r"\top", "⊥": r"\perp", "∧": r"\wedge", "∨": r"\vee"}
    | {"∑": r"\sum", "∏": r"\prod", "∫": r"\int", "∂": r"\partial", "∇": r"\nabla", "√": r"\surd", "‖": r"\|"}
    | {"½": r"\frac{1}{2}", "°": r"^{\circ}", "′": "'", "★": r"\star", "○": r"\circ", "•": r"\bullet"}
    | {"⟨": r"\langle", "⟩": r"\rangle", "¬": r"\neg"}
)
ACCENTS = dict(zip("\u0300\u0301\u0302\u0303\u0304\u0307\u0308\u030a\u030b\u030c\u0327", "`'^~=.\"rHvc", strict=True))
RAISED = re.compile(r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ᵀᵂᴹ]+")
LOWERED = re.compile(r"[₀₁₂₃₄₅₆₇₈₉₊₋]+")


def latex_table(marks: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table; `marks` align its columns, and cells are LaTeX already."""

    def line(cells: Sequence[str]) -> str:
        return " & ".join(cells) + r" \\"

    return [
        r"% \usepackage{booktabs}",
        rf"\begin{{tabular}}{{{marks}}}",
        r"\toprule",
        line([latex_text(title) for title in heads]),
        r"\midrule",
        *map(line, rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]


def latex_text(text: str) -> str:
    """Text with the signs that LaTeX would act upon taken as they are."""
    return _in_parts(visible(text), mathematics=False)


def latex_number(text: str) -> str:
    """A number as it is printed elsewhere, in mathematics; what stands behind it in brackets stays text."""
    if text.startswith(MISSING):
        return latex_text(text)
    shown, bracket, note = text.partition(" (")  # a power of ten has its bracket in front
    parts = re.split(POWER, visible(shown))
    told = [rf" \times 10^{{{_digits(part)}}}" if place % 2 else _number(part) for place, part in enumerate(parts)]
    return f"${''.join(told)}$" + latex_text(bracket + note)


def _number(text: str) -> str:
    return _in_parts(text.replace("\u00a0", " "), mathematics=True)


def _digits(raised: str) -> str:
    return "".join(PLAIN_DIGITS[ord(sign)] for sign in raised)


def _in_parts(text: str, mathematics: bool) -> str:
    """Signs one by one, but for exponents and indices, which stay together."""
    told, place = [], 0
    while place < len(text):
        for sort, mark in ((RAISED, "^"), (LOWERED, "_")):
            if found := sort.match(text, place):
                plain = unicodedata.normalize("NFKC", found[0]).replace("−", "-")
                told.append(_within(f"{mark}{{{plain}}}", mathematics))
                place = found.end()
                break
        else:
            word = _sign(text[place], mathematics)
            place += 1
            joins = re.search(r"\\[a-zA-Z]+$", word) and text[place : place + 1].isalpha()
            told.append(f"{word} " if joins else word)
    return "".join(told)


def _sign(sign: str, mathematics: bool) -> str:
    if sign in MATHEMATICS:
        return _within(MATHEMATICS[sign], mathematics)
    if sign in TEXT:
        return TEXT[sign]
    return sign if sign.isascii() else _composed(sign)


def _within(word: str, mathematics: bool) -> str:
    return word if mathematics else f"${word}$"


def _composed(sign: str) -> str:
    """A letter with its accents, a sign that stands for plain ones, or the number of the character."""
    letter, *marks = list(unicodedata.normalize("NFKD", sign))
    if letter.isascii() and marks and all(mark in ACCENTS for mark in marks):
        for mark in marks:
            letter = f"\\{ACCENTS[mark]}{{{letter}}}"
        return letter
    plain = unicodedata.normalize("NFKC", sign)
    return "".join(_sign(each, False) for each in plain) if plain.isascii() else f"[U+{ord(sign):04X}]"
