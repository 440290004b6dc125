"""The benchmark of rendering draws the same page each time, and counts what is painted."""

from __future__ import annotations

from wmlab.bench import report as bench
from wmlab.report import studio
from wmlab.report.drawings import Picture


def test_a_page_is_drawn_once_and_then_known(monkeypatch):
    monkeypatch.setattr(studio, "paint_here", lambda drawing: Picture(f'<svg width="1">{drawing.key}</svg>', b"pdf"))
    page = bench.made_page(2, 1)
    one = bench.time_page(page, 1)
    assert one.painted == 6 and sum(name.endswith(".svg") for name in one.files) == 6  # with bars, curves, and a line
    again = bench.time_page(page, 1, bench.pictures_of(page, one.files))
    assert again.painted == 0 and again.files == one.files
