"""Where figures are painted: by several processes at once, each figure once, and none that is there already.

A picture depends on its drawing alone, so that neither the number of processes nor who paints what changes a byte.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager

from wmlab.report.crew import Crew, Files
from wmlab.report.drawings import Drawing, Picture, read_drawing

ENOUGH = 8  # figures: fewer are painted sooner than two processes have imported what it takes
PAINTER = "wmlab.report.figures.painter"  # the module of a process that paints
Known = Callable[[str], Picture | None]  # the picture of a key that is there already


def paint_here(drawing: Drawing) -> Picture:
    """Paint in this process."""
    from wmlab.report.figures.painter import paint  # the libraries for drawing take a second to import

    return paint(drawing)


def paint_text(text: str) -> Files:
    """Paint in this process what a drawing's text says."""
    return paint_here(read_drawing(text)).files


def draw_here(drawings: Sequence[Drawing]) -> list[Picture]:
    """Paint one after another, in this process."""
    return [paint_here(drawing) for drawing in drawings]


def draw_on_one_scale(drawings: Sequence[Drawing]) -> tuple[list[Picture], list[str]]:
    """Paint what stands beside each other, in this process; and what of it is not on one scale, in words."""
    from wmlab.report.figures.painter import paint_beside

    return paint_beside(drawings)


class Studio(AbstractContextManager["Studio"]):
    """Paints figures in so many processes, which start when there is enough to do; few are painted in this one.

    Those that are known are taken as they are.
    """

    def __init__(self, processes: int = 1, known: Known = lambda key: None):
        self.painted = 0  # figures that were not known
        self.crew: Crew | None = None
        self._processes, self._known = processes, known
        self._waiting: dict[str, Drawing] = {}  # by its key
        self._begun: dict[str, Future[Files]] = {}

    def begin(self, drawings: Iterable[Drawing]) -> None:
        """Have figures painted that are wanted soon."""
        for drawing in drawings:
            if drawing.key in self._begun or drawing.key in self._waiting:
                continue
            if (picture := self._known(drawing.key)) is not None:
                self._finish(drawing.key, picture)
            else:
                self._waiting[drawing.key] = drawing
        if self._processes > 1 and (self.crew is not None or len(self._waiting) >= ENOUGH):
            self.crew = self.crew or Crew(self._processes, PAINTER, paint_text)
            for key in list(self._waiting):
                self.painted += 1
                self._begun[key] = self.crew.submit(self._waiting.pop(key).text)

    def draw(self, drawings: Sequence[Drawing]) -> list[Picture]:
        """The pictures of drawings, in their order."""
        self.begin(drawings)
        for drawing in drawings:
            if drawing.key in self._waiting:
                self.painted += 1
                self._finish(drawing.key, paint_here(self._waiting.pop(drawing.key)))
        return [Picture.of(self._begun[drawing.key].result()) for drawing in drawings]

    def _finish(self, key: str, picture: Picture) -> None:
        self._begun[key] = Future()
        self._begun[key].set_result(picture.files)

    def __exit__(self, *error: object) -> None:
        if self.crew is not None:
            self.crew.__exit__(*error)
