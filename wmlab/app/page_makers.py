"""Pages made side by side, each by one process. What a page shows decides its bytes, and not who made it, or when."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

from wmlab.app.figures import known_pictures
from wmlab.report.crew import Crew, Files, answer_questions
from wmlab.report.data import ReportData
from wmlab.report.drawings import Draw, as_json, from_json
from wmlab.report.gallery import drawings
from wmlab.report.studio import Studio


def make_page(data: ReportData, folder: Path, painters: int = 1) -> Files:
    """The files of a page; figures that show the same as in the last one, in its folder, are taken from there."""
    with Studio(painters, known_pictures(folder)) as studio:
        if painters > 1:
            studio.begin(drawings(data))
        return draw_page(data, studio.draw)


def page_text(data: ReportData, folder: Path, painters: int) -> str:
    """The arguments of `make_page` as text, for a process of ours."""
    return json.dumps([as_json(data), str(folder), painters])


def make_page_of_text(text: str) -> Files:
    data, folder, painters = json.loads(text)
    return make_page(from_json(data), Path(folder), painters)


def draw_page(data: ReportData, draw: Draw) -> Files:
    from wmlab.report.render import render  # the templates take a while to import

    return render(data, draw)


class PageMakers(AbstractContextManager["PageMakers"]):
    """Makes so many pages with so many processes: pages side by side, and the figures of one where there are fewer."""

    def __init__(self, pages: int, processes: int):
        at_once = max(1, min(pages, processes))
        self.crew = Crew(at_once, __name__, make_page_of_text) if at_once > 1 else None
        self.painters = max(1, processes // at_once)

    def begin(self, data: ReportData, folder: Path) -> Callable[[], Files]:
        """Have a page made; what is returned waits for it, and makes it where there is one process alone."""
        if self.crew is None:
            return partial(make_page, data, folder, self.painters)
        return self.crew.submit(page_text(data, folder, self.painters)).result

    def __exit__(self, *error: object) -> None:
        if self.crew is not None:
            self.crew.__exit__(*error)


if __name__ == "__main__":
    gc.set_threshold(50_000, 20, 20)  # a process of a short life: looking for garbage is a tenth of it
    answer_questions(make_page_of_text)
