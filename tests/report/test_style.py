"""What all figures share, and what a spec may choose of it."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import get_args, get_type_hints

import matplotlib
import numpy as np
import pytest
from fontTools import subset
from matplotlib.colors import to_hex, to_rgb
from matplotlib.font_manager import FontProperties, findfont

from tests.report import sample
from wmlab.report.drawings import Drawing, style_of
from wmlab.report.figures import fonts
from wmlab.report.figures import style as look
from wmlab.report.figures.painter import paint
from wmlab.report.figures.palettes import PALETTES
from wmlab.report.figures.style import BLUE, HEAT, LINES, SIGNED, STYLE, VALUES, chosen, picture
from wmlab.report.gallery import drawings
from wmlab.report.render import render
from wmlab.sections.figure_style import FigureStyle, inches

HINTS = get_type_hints(FigureStyle)
BUNDLED = Path(matplotlib.get_data_path()) / "fonts" / "ttf"


def test_letters_of_a_users_pdf_are_truetype(users_fonts, monkeypatch):
    monkeypatch.setitem(STYLE, "pdf.fonttype", users_fonts)
    drawn = picture(lambda figure: figure.text(0.5, 0.5, "values"))
    assert b"/CIDFontType2" in drawn.pdf
    assert b"/Type3" not in drawn.pdf


def letters(figure):
    figure.text(0.1, 0.5, "values of Q* − R ≤ 0.5 ± γ, fit")
    figure.text(0.1, 0.2, "1e-3", fontfamily="DejaVu Serif")


def test_fonts_of_a_pdf_hold_no_tables_that_lay_out_text():
    plain = subset.Options, subset.load_font, subset.Subsetter
    with fonts.lean_fonts(common=False):
        assert set(fonts.DROPPED) <= set(subset.Options().drop_tables)
    assert not set(fonts.DROPPED) & set(subset.Options().drop_tables)
    with fonts.lean_fonts(common=True):
        assert plain != (subset.Options, subset.load_font, subset.Subsetter)
    assert plain == (subset.Options, subset.load_font, subset.Subsetter)


def test_fonts_cut_from_common_letters_are_those_cut_from_the_whole_font(users_fonts, monkeypatch):
    monkeypatch.setitem(STYLE, "pdf.fonttype", users_fonts)
    asked = []
    common = fonts.lean_fonts
    monkeypatch.setattr(look, "lean_fonts", lambda wanted: asked.append(wanted) or common(wanted))
    few = picture(letters)
    assert asked == [True]
    monkeypatch.setattr(look, "lean_fonts", lambda wanted: common(False))
    assert picture(letters).pdf == few.pdf


def test_a_letter_that_is_not_common_is_in_the_pdf_all_the_same(users_fonts, monkeypatch):
    monkeypatch.setitem(STYLE, "pdf.fonttype", users_fonts)
    asked = []
    plain = fonts.lean_fonts
    monkeypatch.setattr(look, "lean_fonts", lambda wanted: asked.append(wanted) or plain(wanted))
    rare = picture(lambda figure: figure.text(0.5, 0.5, "values of Ж"))
    assert asked == [True, False] and b"/CIDFontType2" in rare.pdf
    usual = picture(lambda figure: figure.text(0.5, 0.5, "values of Q"))
    assert asked == [True, False, True] and usual.pdf != rare.pdf


@pytest.mark.parametrize("font", get_args(HINTS["font"]))
def test_every_font_that_may_be_chosen_comes_with_matplotlib(font):
    assert Path(findfont(FontProperties(family=[font]), fallback_to_default=False)).parent == BUNDLED


def test_palettes_are_those_that_may_be_chosen_and_have_the_same_names():
    assert set(PALETTES) == set(get_args(HINTS["palette"]))
    assert len({(*palette.colours, *palette.maps) for palette in PALETTES.values()}) == 1


def lightness(colour):
    """Of a colour as the eye takes it, from 0 to 1."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(colour)]
    return math.fsum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_a_greyscale_page_has_no_colour_and_lines_that_differ_in_lightness():
    with chosen(FigureStyle(palette="greyscale")):
        names = [f"wmlab:{name}" for name in PALETTES["greyscale"].colours]
        lines = [to_rgb(colour) for colour in (*names, *LINES[:-1])]  # the last is the ink of the page
        maps = [matplotlib.colormaps[name](np.linspace(0, 1, 9))[:, :3] for name in (VALUES, SIGNED, HEAT)]
        shades = sorted(lightness(colour) for colour in LINES[:-1])
    assert all(max(rgb) - min(rgb) < 1e-9 for rgb in (*lines, *np.concatenate(maps)))
    assert all(b - a > 0.02 for a, b in zip(shades, shades[1:], strict=False))
    assert to_hex(BLUE) == "#0072b2"  # and the next figure has its own again


@pytest.mark.parametrize("palette", ["okabe_ito", "tol_bright"])
def test_maps_of_values_darken_all_the_way_and_signs_have_their_own_ends(palette):
    with chosen(FigureStyle(palette=palette)):
        values = [lightness(rgb) for rgb in matplotlib.colormaps[VALUES](np.linspace(0, 1, 9))[:, :3]]
        less, nothing, more = matplotlib.colormaps[SIGNED]([0.0, 0.5, 1.0])[:, :3]
    assert all(a > b for a, b in zip(values, values[1:], strict=False))
    assert less[2] > less[0] and more[0] > more[2] and lightness(nothing) > max(lightness(less), lightness(more))


def width_of(svg):
    return float(re.search(r'<svg[^>]* width="([\d.]+)pt"', svg)[1]) / 72


def test_a_figure_is_as_wide_as_asked_in_its_font_and_colours():
    (grid,) = sample.maps()[:1]
    usual = paint(Drawing("map", grid))
    styled = paint(Drawing("map", grid, FigureStyle("STIXGeneral", "84mm", "greyscale")))
    assert width_of(usual.svg) == pytest.approx(4.3, abs=0.01) and width_of(styled.svg) == pytest.approx(
        84 / 25.4, abs=0.01
    )
    assert b"STIXGeneral" in styled.pdf and b"STIXGeneral" not in usual.pdf
    assert "<text" in usual.svg and "<text" not in styled.svg and 'id="STIXGeneral' in styled.svg  # outlines
    assert "#0072b2" in usual.svg and "#0072b2" not in styled.svg
    assert paint(Drawing("map", grid)) == usual


def test_all_figures_of_a_page_have_the_style_of_its_spec():
    asked = {"style": {"font": "DejaVu Serif", "width": "3.25in"}}
    document = sample.document(report={**sample.results()["report"], **asked})
    assert {drawing.style for drawing in drawings(document)} == {FigureStyle("DejaVu Serif", "3.25in")}
    plain = drawings(sample.document())
    assert {drawing.style for drawing in plain} == {FigureStyle()} and style_of({}) == FigureStyle()
    assert not {one.key for one in plain} & {one.key for one in drawings(document)}


@pytest.mark.parametrize(
    ("text", "length"), [("3.25in", 3.25), ("84mm", 84 / 25.4), ("8.4 cm", 8.4 / 2.54), ("216pt", 3)]
)
def test_widths_have_units(text, length):
    assert inches(text) == pytest.approx(length)


@pytest.mark.parametrize("text", ["3.25", "in", "-3in", "3 feet", "1e1in", ""])
def test_what_is_no_width_is_none(text):
    assert inches(text) is None


def test_the_tables_of_a_page_lie_beside_it():
    files = render(sample.document(), lambda asked: [look.Picture("<svg>", b"") for _ in asked])
    page = files["index.html"].decode()
    names = {name for name in files if name.startswith("tables/")}
    assert names == {f"tables/{name}.{sort}" for name in ("claims", "metrics") for sort in ("csv", "tex")}
    assert all(f'href="{name}"' in page for name in names)
    rows = files["tables/metrics.csv"].decode().splitlines()
    metric = sample.results()["metrics"]["goals=5/wm.mse"]
    assert (
        rows[0].startswith("metric,goals=5,goals=5 se_over_seeds,goals=5 n")
        and f"wm.mse,{metric['mean']!r}," in rows[1]
    )
    claims = files["tables/claims.csv"].decode().splitlines()
    assert claims[0] == "claim,tested,paper,measured,verdict,source" and len(claims) == 1 + len(
        sample.results()["claims"]
    )
    latex = files["tables/claims.tex"].decode()
    assert latex.count(r"\\") == len(claims) and "one\\_unsafe" in latex and latex.endswith("\\end{tabular}\n")
