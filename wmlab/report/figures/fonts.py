"""The fonts of a PDF: cut to the letters of a figure, from a part of the font that common letters are in.

A font has thousands of letters, and a figure some dozens. To cut them out of the whole font takes a third of the time
that drawing a figure does; cut out of a part that was made once, the same bytes take a quarter of that. The options
and the way to load a font are fontTools'; matplotlib hands none through.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

from fontTools import subset

DROPPED = ["GDEF", "GPOS", "GSUB", "kern", "FFTM"]  # tables that lay out text, where in a PDF each letter has its place
LATIN, GREEK = range(0x20, 0x100), range(0x391, 0x3CA)
COMMON = (*LATIN, *GREEK, *map(ord, "–—‘’“”…†•′ᵀᴹᵂ⁰⁴⁵⁶⁷⁸⁹⁺⁻₀₁₂₃←↑→↓↔∂∇∈−∑√∞∩∪∼≈≠≤≥⊂⊆★ﬀﬁﬂﬃﬄ"))

_Options, _Subsetter, _load_font = subset.Options, subset.Subsetter, subset.load_font


class RareLetters(Exception):
    """A figure has letters that are not in the part of a font that was made for common ones."""


@dataclass(frozen=True)
class CommonPart:
    """A font with its common letters alone, and where each glyph of the whole font is in it."""

    content: bytes
    places: Mapping[int, int]


@cache
def common_part(file: str, number: int) -> CommonPart:
    """The common letters of a font, cut out once."""
    options = _Options(glyph_names=True, recommended_glyphs=True, font_number=number, notdef_outline=True)
    options.drop_tables += DROPPED
    with _load_font(file, options) as font:
        cutter = _Subsetter(options)
        cutter.populate(unicodes=COMMON)
        cutter.subset(font)
        content = io.BytesIO()
        font.save(content, reorderTables=False)
    return CommonPart(content.getvalue(), cutter.glyph_index_map)


def lean_options(**options: Any) -> subset.Options:
    chosen = _Options(**options)
    chosen.drop_tables += DROPPED
    return chosen


def load_common(file: Any, options: subset.Options, *rest: Any, **more: Any) -> Any:
    """In the place of a font, the part of it that common letters are in."""
    part = common_part(os.fspath(file), max(0, options.font_number))
    font = _load_font(io.BytesIO(part.content), lean_options(), *rest, **more)
    font.common = part
    return font


class CommonSubsetter(subset.Subsetter):
    """Takes glyphs by their places in the whole font, and finds them in the part that is there."""

    glyph_index_map: dict[int, int]

    def populate(self, gids: Sequence[int] = (), **others: Any) -> None:
        if others or not gids:
            raise RareLetters  # asked for in another way than we know
        self.asked = tuple(gids)

    def subset(self, font: Any) -> None:
        places = font.common.places
        if not all(gid in places for gid in self.asked):
            raise RareLetters
        super().populate(gids=[places[gid] for gid in self.asked])
        super().subset(font)
        self.glyph_index_map = {gid: self.glyph_index_map[places[gid]] for gid in self.asked}


@contextmanager
def lean_fonts(common: bool) -> Iterator[None]:
    """Leave out of the fonts of a PDF what lays out text; `common`: of common letters alone, else RareLetters."""
    subset.Options = lean_options
    if common:
        subset.load_font, subset.Subsetter = load_common, CommonSubsetter
    try:
        yield
    finally:
        subset.Options, subset.load_font, subset.Subsetter = _Options, _load_font, _Subsetter
