"""What a person sees of a run: a live display on a terminal, a few plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console, Group
from rich.live import Live
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from wmlab.runtime import events as happened
from wmlab.runtime.cache import format_duration
from wmlab.runtime.events import Listener

_SHOWN = 8  # running stages on the screen, at most
_MESSAGES = (happened.StageWaiting, happened.EntryDamaged, happened.WorkerDied, happened.Notice)


@contextmanager
def show_progress(stream: TextIO | None = None, every: float = 5.0) -> Iterator[Listener]:
    """A listener that shows a run on a stream (standard error by default): live on a terminal, else in plain lines."""
    stream = stream or sys.stderr
    if not stream.isatty():
        yield PlainProgress(stream, every)
        return
    display = LiveProgress(Console(file=stream))
    with display.live:
        yield display


class Tally:
    """How far a run is."""

    def __init__(self) -> None:
        self.to_run = 0
        self.done = 0
        self.cached = 0
        self.failed = 0
        self.skipped = 0
        self._start = time.monotonic()
        self._seen: set[str] = set()

    def update(self, event: object) -> None:
        """Count an event."""
        if isinstance(event, happened.RunStarted):
            self.to_run = event.total - event.cached
        elif isinstance(event, happened.EntryDamaged):
            self.to_run += 1
        elif isinstance(event, happened.StageStarted):
            self._seen.add(event.id)
        elif isinstance(event, happened.StageFinished):
            self.done += event.outcome in ("ran", "failed") or event.id in self._seen
            self.cached += event.outcome == "cached" and event.id not in self._seen
            self.failed += event.outcome == "failed"
            self.skipped += event.outcome == "skipped"

    def left(self) -> float | None:
        """Seconds to go, by the pace so far; None while nobody can tell."""
        remaining = self.to_run - self.done - self.skipped
        if not self.done or remaining <= 0:
            return None
        return (time.monotonic() - self._start) / self.done * remaining

    def __str__(self) -> str:
        parts = [f"{self.done}/{self.to_run} stages"]
        if self.cached:
            parts.append(f"{self.cached} cached")
        if self.failed:
            parts.append(f"{self.failed} failed")
        if self.skipped:
            parts.append(f"{self.skipped} skipped")
        if left := self.left():
            parts.append(f"about {format_duration(left)} left")
        return ", ".join(parts)


def failure_lines(event: happened.StageFinished) -> str:
    """A failed stage, for people."""
    return f"failed: {event.label}: {event.failure}"


class PlainProgress:
    """A line every few seconds while something happens, and one at the end."""

    def __init__(self, stream: TextIO, every: float = 5.0):
        self._stream = stream
        self._every = every
        self._last = time.monotonic()
        self._tally = Tally()
        self._running: dict[str, str] = {}

    def __call__(self, event: object) -> None:
        """Show an event, if it is time to."""
        self._tally.update(event)
        if isinstance(event, _MESSAGES):
            self._print(str(event))
        elif isinstance(event, happened.StageStarted):
            self._running[event.id] = event.label
        elif isinstance(event, happened.StageProgress):
            share = f" {event.done / event.total:.0%}" if event.total else ""
            self._running[event.id] = f"{event.label}{share}"
        elif isinstance(event, happened.StageFinished):
            self._running.pop(event.id, None)
            if event.outcome == "failed":
                self._print(failure_lines(event))
        elif isinstance(event, happened.RunFinished):
            word = "interrupted" if event.interrupted else "done"
            self._print(f"{word}: {self._tally} in {format_duration(event.seconds)}")
            return
        if time.monotonic() - self._last >= self._every:
            names = list(self._running.values())[:3]
            self._print(f"{self._tally}" + (f" ({', '.join(names)})" if names else ""))

    def _print(self, text: str) -> None:
        self._last = time.monotonic()
        print(text, file=self._stream, flush=True)


class LiveProgress:
    """An overall bar, and a bar for each running stage."""

    def __init__(self, console: Console):
        self._tally = Tally()
        self._overall = Progress(
            TextColumn("[bold]{task.description}"), BarColumn(), TimeElapsedColumn(), console=console
        )
        self._stages = Progress(
            TextColumn("  {task.description}"), BarColumn(bar_width=20), TextColumn("[dim]{task.fields[note]}"),
            TimeElapsedColumn(), console=console,
        )  # fmt: skip
        self._bar = self._overall.add_task("…", total=None)
        self._shown: dict[str, TaskID] = {}
        self.live = Live(Group(self._overall, self._stages), console=console, refresh_per_second=8)

    def __call__(self, event: object) -> None:
        """Show an event."""
        self._tally.update(event)
        if isinstance(event, _MESSAGES):
            self.live.console.print(str(event), markup=False, highlight=False, style="yellow")
        elif isinstance(event, happened.StageStarted):
            if len(self._shown) < _SHOWN:
                label = escape(event.label)
                self._shown[event.id] = self._stages.add_task(label, total=None, note="")
        elif isinstance(event, happened.StageProgress):
            if event.id in self._shown:
                bar = self._shown[event.id]
                self._stages.update(bar, completed=event.done, total=event.total, note=escape(event.note))
        elif isinstance(event, happened.StageFinished):
            if event.id in self._shown:
                self._stages.remove_task(self._shown.pop(event.id))
            if event.outcome == "failed":
                self.live.console.print(failure_lines(event), markup=False, highlight=False, style="red")
        self._overall.update(
            self._bar, description=str(self._tally), completed=self._tally.done, total=self._tally.to_run or None
        )
        if isinstance(event, happened.RunFinished):
            for bar in self._shown.values():
                self._stages.remove_task(bar)
            self._shown.clear()
