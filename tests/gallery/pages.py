"""Pages whose numbers come from the gallery: filling them in, and finding every number that does not.

`<!--= reacher wm.nmse -->(1.17 ± 0.05) × 10⁻⁴<!--/-->` is a value, `<!-- run reacher -->` … `<!-- /run -->` a block;
readers of the page see neither mark. tests/gallery/language.py says what may be asked. While a run is pending, a value
of an earlier version may stand in the place of its own, with a † behind it; `<!-- note † -->` says what that means.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import zip_longest
from pathlib import Path

from tests.gallery.blocks import BLOCKS
from tests.gallery.contents import ROOT, Gallery, GalleryError, NotYet
from tests.gallery.language import answer

NOT_YET = "*not yet*"
EARLIER = "\u2009†"  # behind a value of an earlier version, which stands until its run is in the gallery
VALUE = re.compile(r"<!--= ([^>]+?) -->(.*?)<!--/-->", re.DOTALL)
BLOCK = re.compile(rf"^<!-- ({'|'.join(BLOCKS)}) ([^>]+?) -->\n(.*?)^<!-- /\1 -->$", re.DOTALL | re.MULTILINE)
# A line that begins with a comment is HTML to its end: Markdown within it would be shown as it stands.
AT_A_LINES_START = re.compile(r"^ {0,3}<!--[=/]", re.MULTILINE)

DIGIT = "0-9⁰¹²³⁴-⁹₀-₉½⅓⅔¼¾"
NUMBER = re.compile(rf"(?<![A-Za-z{DIGIT}])[{DIGIT}][{DIGIT}., \u202f]*[{DIGIT}]|(?<![A-Za-z])[{DIGIT}]")
WORDS = (
    "zero two three five six seven eight nine ten eleven twelve twenty thirty forty fifty sixty hundred thousand "
    "million twice thrice half third thirds quarter quarters tenth tenths dozen double"
)
IN_WORDS = re.compile(rf"\b(?:{'|'.join(WORDS.split())})\b|\bfour\b(?! rooms)", re.IGNORECASE)
HIDDEN = (  # what is no statement in numbers: code, where links lead, versions
    re.compile(r"^( *)```.*?^\1```$", re.DOTALL | re.MULTILINE),
    re.compile(r"`(?=[^`\n]*[A-Za-z_]{2})[^`\n]*`"),  # with a name in it: a number alone is no code
    re.compile(r"(?<=\])\([^)\s]*\)"),
    re.compile(r"\bPython \d+\.\d+"),
    re.compile(r"<!--.*?-->", re.DOTALL),
)


@dataclass(frozen=True)
class Page:
    """A page, where its links begin, and from which heading on it says what was measured."""

    path: Path
    base: str  # from the page to the gallery
    measured: str = ""  # a heading; empty for the whole page

    @property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    def measured_part(self, text: str) -> range:
        """Where, in its text, the page says what was measured."""
        if not self.measured:
            return range(len(text))
        start = text.index(self.measured)
        end = text.find("\n## ", start + 1)
        return range(start, len(text) if end < 0 else end)


PAGES = (
    Page(ROOT / "README.md", "reports/gallery/", "\n## What was measured\n"),
    Page(ROOT / "docs" / "results.md", "../reports/gallery/"),
)


def fill(text: str, base: str, gallery: Gallery) -> str:
    """The page with every value and every block as the gallery has it now."""
    text = BLOCK.sub(lambda found: _block(found, base, gallery), text)
    return VALUE.sub(partial(_value, gallery=gallery), text)


def _block(found: re.Match[str], base: str, gallery: Gallery) -> str:
    kind, names = found[1], found[2]
    return f"<!-- {kind} {names} -->\n\n{_written(kind, names, base, gallery)}\n<!-- /{kind} -->"


@cache  # a test asks thousands of times
def _written(kind: str, names: str, base: str, gallery: Gallery) -> str:
    return BLOCKS[kind](names.split(), base, gallery)


@cache
def _said(question: str, gallery: Gallery) -> str:
    try:
        return answer(question, gallery)
    except NotYet:
        return NOT_YET


def _value(found: re.Match[str], gallery: Gallery) -> str:
    said = _said(found[1], gallery)
    if said == NOT_YET and found[2].endswith(EARLIER):
        return found[0]
    same = found[2].split() == said.split()  # a line may end within a value
    return f"<!--= {found[1]} -->{found[2] if same else said}<!--/-->"


def problems(page: Page, text: str, gallery: Gallery) -> Iterator[str]:
    """What a page says that the gallery does not: values that have drifted, and numbers without a source."""
    try:
        now = fill(text, page.base, gallery)
    except GalleryError as error:
        yield str(error)
        return
    if now != text:
        pairs = enumerate(zip_longest(text.splitlines(), now.splitlines(), fillvalue=""), 1)
        line, (old, new) = next(pair for pair in pairs if pair[1][0] != pair[1][1])
        yield f"line {line}: the page says\n  {old}\nand the gallery\n  {new}"
    for match in AT_A_LINES_START.finditer(text):
        yield f"line {_line(text, match.start())}: a marker begins it"
    for at, number in stray(page, text):
        yield f"line {_line(text, at)}: '{number}' has no source"


def stray(page: Page, text: str) -> Iterator[tuple[int, str]]:
    """Numbers in no marker, with where they stand; where a page says what was measured, those in words as well."""
    bare = text
    for pattern in (BLOCK, VALUE, *HIDDEN):
        bare = pattern.sub(_blank, bare)
    for match in NUMBER.finditer(bare):
        yield match.start(), match[0]
    part = page.measured_part(text)
    for match in IN_WORDS.finditer(bare, part.start, part.stop):
        yield match.start(), match[0]


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
