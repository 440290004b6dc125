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
from rich.table import Column

from wmlab.runtime import events as happened
from wmlab.runtime.cache import format_duration
from wmlab.runtime.events import Listener
from wmlab.runtime.pace import Pace

_SHOWN = 8  # running stages on the screen, at most
_SETTLED = 0.4  # seconds after which a running stage is shown: the shorter ones would only flicker
_WORTH_SAYING = 10.0  # seconds left
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
        self._begin(0)

    def _begin(self, to_run: int) -> None:
        self.to_run = to_run
        self.done = self.cached = self.failed = self.skipped = 0
        self._seen: set[str] = set()
        self._pace = Pace()

    def update(self, event: object) -> None:
        """Count an event."""
        if isinstance(event, happened.RunStarted):
            self._begin(event.total - event.cached)
        elif isinstance(event, happened.EntryDamaged):
            self.to_run += 1
        elif isinstance(event, happened.StageStarted):
            self._seen.add(event.id)
        elif isinstance(event, happened.StageFinished):
            self.done += event.outcome in ("ran", "failed") or event.id in self._seen
            self.cached += event.outcome == "cached" and event.id not in self._seen
            self.failed += event.outcome == "failed"
            self.skipped += event.outcome == "skipped"
        self._pace.update(event)

    @property
    def counts(self) -> str:
        """How many stages are done, and what became of the others."""
        others = [(self.cached, "cached"), (self.failed, "failed"), (self.skipped, "skipped")]
        return ", ".join([f"{self.done}/{self.to_run} stages", *(f"{count} {word}" for count, word in others if count)])

    def __str__(self) -> str:
        left = self._pace.left()
        worth = left is not None and left >= _WORTH_SAYING
        return self.counts + (f", about {format_duration(left)} left" if left is not None and worth else "")

    def last_line(self, event: happened.RunFinished) -> str:
        """What became of the run."""
        took = f"{event.seconds:.1f} s" if event.seconds < 10 else format_duration(event.seconds)
        if event.interrupted:
            return f"stopped: {self.counts} in {took}; what is finished is kept"
        if not self.to_run:
            return f"done: {'the one stage was' if self.cached == 1 else f'all {self.cached} stages were'} cached"
        return f"done: {self.counts} in {took}"


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
            self._print(self._tally.last_line(event))
            return
        if time.monotonic() - self._last >= self._every:
            names = list(self._running.values())[:3]
            self._print(f"{self._tally}" + (f" ({', '.join(names)})" if names else ""))

    def _print(self, text: str) -> None:
        self._last = time.monotonic()
        print(text, file=self._stream, flush=True)


class LiveProgress:
    """An overall bar, and a bar for each running stage; at the end they make room for one line."""

    def __init__(self, console: Console):
        self._tally = Tally()
        self._overall = Progress(
            TextColumn("[bold]{task.description}"), BarColumn(), TimeElapsedColumn(), console=console
        )
        label = TextColumn("  {task.description}", table_column=Column(no_wrap=True, overflow="ellipsis", ratio=1))
        note = TextColumn("[dim]{task.fields[note]}", table_column=Column(no_wrap=True))
        columns = (label, BarColumn(bar_width=20), note, TimeElapsedColumn())
        self._stages = Progress(*columns, console=console, expand=True)
        self._bar = self._overall.add_task("…", total=None, visible=False)
        self._shown: dict[str, TaskID] = {}
        self.live = Live(get_renderable=self._frame, console=console, refresh_per_second=8, transient=True)

    def _frame(self) -> Group:
        for task in self._stages.tasks:
            task.visible = (task.elapsed or 0.0) >= _SETTLED
        return Group(self._overall, self._stages)

    def __call__(self, event: object) -> None:
        """Show an event."""
        self._tally.update(event)
        if isinstance(event, _MESSAGES):
            self._say(str(event), "yellow")
        elif isinstance(event, happened.StageStarted):
            if len(self._shown) < _SHOWN:
                label = escape(event.label)
                self._shown[event.id] = self._stages.add_task(label, total=None, note="", visible=False)
        elif isinstance(event, happened.StageProgress):
            if event.id in self._shown:
                bar = self._shown[event.id]
                self._stages.update(bar, completed=event.done, total=event.total, note=escape(event.note))
        elif isinstance(event, happened.StageFinished):
            if event.id in self._shown:
                self._stages.remove_task(self._shown.pop(event.id))
            if event.outcome == "failed":
                self._say(failure_lines(event), "red")
        elif isinstance(event, happened.RunFinished):
            self._end(event)
            return
        done, to_run = self._tally.done, self._tally.to_run
        self._overall.update(self._bar, description=str(self._tally), completed=done, total=to_run, visible=to_run > 0)

    def _end(self, event: happened.RunFinished) -> None:
        for bar in self._shown.values():
            self._stages.remove_task(bar)
        self._shown.clear()
        self._overall.update(self._bar, visible=False)
        self._say(self._tally.last_line(event))

    def _say(self, text: str, style: str | None = None) -> None:
        self.live.console.print(text, markup=False, highlight=False, style=style, soft_wrap=True)
