"""Figures of a difference: drawn anew on one scale from what reports keep of them; else as they were kept, and said."""

from __future__ import annotations

import pytest

from tests.report import sample
from wmlab.app.diff_page import NOWHERE, SideFigure, figure_row
from wmlab.app.figures import kept_drawings
from wmlab.app.report_folder import write_report
from wmlab.report import drawings, gallery
from wmlab.report.diff import DiffPage, FigureRow, render_difference
from wmlab.report.drawings import Drawing, drawings_file
from wmlab.report.render import render
from wmlab.report.series import Bars


def bars(height):
    return Drawing("bars", Bars("far", "goals", ("1",), ((height, None),), ((height, None),)))


def test_what_reports_keep_of_figures_is_drawn_again_on_one_scale():
    old = b"<svg>as on its own page</svg>"
    row = figure_row("bars-far", [SideFigure(old, bars(1.0)), SideFigure(None, bars(9.0)), NOWHERE])
    first, second, third = row.sides
    assert row.note == "" and third is None and b"as on its own page" not in first and b"<svg" in second
    assert figure_row("bars-far", [SideFigure(old, bars(1.0)), SideFigure(None, bars(1.0))]) is None


def test_a_figure_of_which_the_picture_alone_was_kept_is_shown_with_its_own_scale_and_said_so():
    row = figure_row("bars-far", [SideFigure(b"<svg/>", bars(1.0)), SideFigure(b"<svg>old</svg>")])
    assert row.alone == ("B",) and row.sides[1] == b"<svg>old</svg>"
    assert "On a scale of its own: B" in row.note
    of_another_version = Drawing("bars", {"no": "record"})
    row = figure_row("bars-far", [SideFigure(b"<svg/>", of_another_version), SideFigure(b"<svg>b</svg>", bars(1.0))])
    assert row.alone == ("A", "B") and row.sides == (b"<svg/>", b"<svg>b</svg>")


def test_the_page_says_what_is_not_on_one_scale():
    row = FigureRow("bars-far", (b"<svg/>", None), ("the axis across",), ("A",))
    page = render_difference(DiffPage(("a", "b"), figures=(row,))).decode()
    assert "share the ends of their axes and of their colours" in page and "differ in it: the axis across." in page
    assert "On a scale of its own: A" in page


@pytest.fixture(scope="module")
def files():
    return render(sample.document(), lambda asked: [drawings.Picture("<svg></svg>", b"")] * len(asked))


def test_a_report_keeps_what_each_of_its_figures_shows(tmp_path, files):
    write_report(tmp_path / "report", files)
    kept = kept_drawings(tmp_path / "report")
    assert {f"figures/{name}.svg" for name in kept} == {name for name in files if name.endswith(".svg")}
    named = gallery.named_drawings(sample.document())
    assert {name: drawing.text for name, drawing in kept.items()} == {name: one.text for name, one in named.items()}
    (tmp_path / "report" / "drawings.json").write_text("{}")
    assert kept_drawings(tmp_path / "report") == {} == kept_drawings(tmp_path)


@pytest.mark.parametrize(
    "content", [b"[]", b"{", b'{"map": 3}', b'{"map": ["map", {"record": "Gone", "of": {}}, null]}']
)
def test_what_another_version_kept_is_none(tmp_path, files, content):
    write_report(tmp_path / "report", {**files, "drawings.json": content})
    assert kept_drawings(tmp_path / "report") == {}


def test_a_drawing_that_is_too_large_is_not_kept(monkeypatch):
    named = {"a": bars(1.0), "b": bars(2.0)}
    assert drawings_file(named).count(b'"bars"') == 2 and drawings_file({}) == b"{\n\n}\n"
    monkeypatch.setattr(drawings, "KEPT_LETTERS", 10)
    assert b"bars" not in drawings_file(named)
