"""What a person sees of a run: a live display on a terminal, a few plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from wmlab.runtime import events
from wmlab.runtime.events import Listener
from wmlab.runtime.tally import MESSAGES, StageTally, failure_lines


@contextmanager
def show_progress(stream: TextIO | None = None, every: float = 5.0) -> Iterator[Listener]:
    """A listener that shows a run on a stream (standard error by default): live on a terminal, else in plain lines."""
    stream = stream or sys.stderr
    if not stream.isatty():
        yield PlainProgress(stream, every)
        return
    from rich.console import Console  # what draws on a terminal takes a while to import

    from wmlab.runtime.live_progress import LiveProgress

    display = LiveProgress(Console(file=stream))
    with display.live:
        yield display


class PlainProgress:
    """A line every few seconds while something happens, and one at the end."""

    def __init__(self, stream: TextIO, every: float = 5.0):
        self._stream = stream
        self._every = every
        self._last = time.monotonic()
        self._tally = StageTally()
        self._running: dict[str, str] = {}

    def __call__(self, event: object) -> None:
        """Show an event, if it is time to."""
        self._tally.update(event)
        if isinstance(event, MESSAGES):
            self._print(str(event))
        elif isinstance(event, events.StageStarted):
            self._running[event.id] = event.label
        elif isinstance(event, events.StageProgress):
            share = f" {event.done / event.total:.0%}" if event.total else ""
            self._running[event.id] = f"{event.label}{share}"
        elif isinstance(event, events.StageFinished):
            self._running.pop(event.id, None)
            if event.outcome == "failed":
                self._print(failure_lines(event))
        elif isinstance(event, events.RunFinished):
            self._print(self._tally.last_line(event))
            return
        if time.monotonic() - self._last >= self._every:
            names = list(self._running.values())[:3]
            self._print(f"{self._tally}" + (f" ({', '.join(names)})" if names else ""))

    def _print(self, text: str) -> None:
        self._last = time.monotonic()
        print(text, file=self._stream, flush=True)
