"""Where figures are painted: by several processes at once, each figure once, and none that is there already.

A picture depends on its drawing alone, so that neither the number of processes nor who paints what changes a byte.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from queue import Empty, SimpleQueue

from wmlab.report.drawings import Drawing, Picture

ENOUGH = 8  # figures: fewer are painted sooner than two processes have imported what it takes
Known = Callable[[str], Picture | None]  # the picture of a key that is there already


def paint_here(drawing: Drawing) -> Picture:
    """Paint in this process."""
    from wmlab.report.figures.painter import paint  # the libraries for drawing take a second to import

    return paint(drawing)


def draw_here(drawings: Sequence[Drawing]) -> list[Picture]:
    """Paint one after another, in this process."""
    return [paint_here(drawing) for drawing in drawings]


class Studio(AbstractContextManager["Studio"]):
    """Paints figures in so many processes, which start when there is enough to do; few are painted in this one."""

    def __init__(self, processes: int = 1):
        self.painted = 0  # figures that were not known
        self._processes = processes
        self._waiting: dict[str, Drawing] = {}  # by its key
        self._begun: dict[str, Future[Picture]] = {}
        self._threads: ThreadPoolExecutor | None = None
        self._free: SimpleQueue[Painter] = SimpleQueue()
        self._painters: list[Painter] = []
        self._here = threading.Lock()  # the library paints one figure at a time

    def begin(self, drawings: Iterable[Drawing], known: Known = lambda key: None) -> None:
        """Have figures painted that are wanted soon; those that are known are taken as they are."""
        for drawing in drawings:
            if drawing.key in self._begun or drawing.key in self._waiting:
                continue
            if (picture := known(drawing.key)) is not None:
                self._begun[drawing.key] = Future()
                self._begun[drawing.key].set_result(picture)
            else:
                self._waiting[drawing.key] = drawing
        if self._processes > 1 and (self._threads is not None or len(self._waiting) >= ENOUGH):
            self._threads = self._threads or ThreadPoolExecutor(self._processes, "painter")
            for key in list(self._waiting):
                self.painted += 1
                self._begun[key] = self._threads.submit(self._have_painted, self._waiting.pop(key))

    def draw(self, drawings: Sequence[Drawing]) -> list[Picture]:
        """The pictures of drawings, in their order."""
        self.begin(drawings)
        for drawing in drawings:
            if drawing.key in self._waiting:
                self.painted += 1
                self._begun[drawing.key] = Future()
                self._begun[drawing.key].set_result(self._paint_here(self._waiting.pop(drawing.key)))
        return [self._begun[drawing.key].result() for drawing in drawings]

    def _paint_here(self, drawing: Drawing) -> Picture:
        with self._here:
            return paint_here(drawing)

    def _have_painted(self, drawing: Drawing) -> Picture:
        """Paint in another process; in this one where that cannot be, which also says in words what is wrong."""
        try:
            painter = self._free.get_nowait()
        except Empty:
            painter = None
        try:
            if painter is None:
                painter = Painter()
                self._painters.append(painter)
            picture = painter.paint(drawing)
        except (OSError, ValueError):  # it could not be started, was killed, or failed at this figure
            return self._paint_here(drawing)
        self._free.put(painter)
        return picture

    def __exit__(self, *_: object) -> None:
        if self._threads is not None:
            self._threads.shutdown(cancel_futures=True)
        for painter in self._painters:
            painter.close()


class Painter:
    """A process that paints."""

    def __init__(self) -> None:
        path = os.pathsep.join(os.path.abspath(entry) for entry in sys.path)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "wmlab.report.figures.painter"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # what goes wrong is said by the process that then paints in its place
            env={**os.environ, "PYTHONPATH": path},
        )

    def paint(self, drawing: Drawing) -> Picture:
        """One picture; OSError or ValueError where the process gives none."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(drawing.text.encode() + b"\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        return Picture(answer["svg"], base64.b64decode(answer["pdf"]))

    def close(self) -> None:
        """End the process: it waits for a next figure, or is no longer there."""
        assert self._process.stdin is not None and self._process.stdout is not None
        with suppress(OSError):
            self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()
