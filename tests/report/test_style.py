"""What all figures share."""

from __future__ import annotations

from wmlab.report.figures.style import STYLE, picture


def test_letters_of_a_users_pdf_are_truetype(users_fonts, monkeypatch):
    monkeypatch.setitem(STYLE, "pdf.fonttype", users_fonts)
    drawn = picture(lambda figure: figure.text(0.5, 0.5, "values"))
    assert b"/CIDFontType2" in drawn.pdf
    assert b"/Type3" not in drawn.pdf
