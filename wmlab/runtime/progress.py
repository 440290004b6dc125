"""What a person sees of a run: bars that move on a terminal, a few plain lines elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from wmlab.errors import visible
from wmlab.runtime import events
from wmlab.runtime.cache import format_duration
from wmlab.runtime.events import Listener
from wmlab.runtime.tally import StageTally

if TYPE_CHECKING:
    from rich.console import Console, Group
    from rich.progress import TaskID

_SHOWN = 8  # running stages on a terminal, at most
_SETTLED = 0.4  # seconds after which a running stage is shown: the shorter ones would only flicker


@contextmanager
def show_progress(stream: TextIO | None = None) -> Iterator[Listener]:
    """A listener that shows a run on a stream (standard error by default): live on a terminal, else in plain lines."""
    stream = stream or sys.stderr
    if not stream.isatty():
        with PlainProgress(stream) as lines:
            yield lines
        return
    from rich.console import Console

    display = LiveProgress(Console(file=stream))
    with display.live:
        yield display


class _Progress(ABC):
    """Counts the stages, and says in words what a person should know at once."""

    def __init__(self) -> None:
        self._tally = StageTally()

    def __call__(self, event: object) -> None:
        """Show an event."""
        self._tally.update(event)
        if isinstance(event, events.Message):
            self._say(visible(str(event)), "yellow")
        elif isinstance(event, events.StageFinished) and event.outcome == "failed":
            self._say(visible(f"failed: {event.label}: {event.failure}"), "red")
        self._show(event)
        if isinstance(event, events.RunFinished):
            self._say(self._tally.last_line(event))

    @abstractmethod
    def _show(self, event: object) -> None: ...

    @abstractmethod
    def _say(self, text: str, style: str | None = None) -> None: ...


class PlainProgress(_Progress, AbstractContextManager["PlainProgress"]):
    """What a terminal shows as plain lines, every half minute while something runs, and one at the end."""

    def __init__(self, stream: TextIO, every: float = 30.0):
        super().__init__()
        self._stream, self._every = stream, every
        self._running: dict[str, RunningStage] = {}
        self._lock = threading.RLock()  # a clock of its own tells of stages that say nothing
        self._over = threading.Event()
        self._last = time.monotonic()

    def __enter__(self) -> PlainProgress:
        threading.Thread(target=self._tick, name="progress", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()

    def __call__(self, event: object) -> None:
        """Take note of an event, and say what cannot wait."""
        with self._lock:
            super().__call__(event)

    def _tick(self) -> None:
        while not self._over.wait(min(self._every, 1.0)):
            with self._lock:
                self._say_how_far()

    def _show(self, event: object) -> None:
        if isinstance(event, events.StageStarted):
            self._running[event.id] = RunningStage(event.label, time.monotonic())
        elif isinstance(event, events.StageProgress) and event.id in self._running:
            self._running[event.id].hear(event)
        elif isinstance(event, events.StageFinished):
            self._running.pop(event.id, None)
        elif isinstance(event, events.RunFinished):
            self._running.clear()
        self._say_how_far()

    def _say_how_far(self) -> None:
        if self._running and time.monotonic() - self._last >= self._every:
            shown = list(self._running.values())[:_SHOWN]
            self._say("\n".join([str(self._tally), *(f"  {visible(str(stage))}" for stage in shown)]))

    def _say(self, text: str, style: str | None = None) -> None:
        self._last = time.monotonic()
        print(text, file=self._stream, flush=True)


@dataclass
class RunningStage:
    """A stage that runs, as far as it has said."""

    label: str
    since: float
    done: float = 0.0
    total: float = 0.0
    note: str = ""  # rate, return and loss, where it has such

    def hear(self, event: events.StageProgress) -> None:
        self.done, self.total, self.note = event.done, event.total, event.note

    def __str__(self) -> str:
        took = time.monotonic() - self.since
        parts = [f"{self.done:g} of {self.total:g} ({self.done / self.total:.0%})"] if self.total else []
        parts += [self.note] if self.note else []
        parts.append(f"for {format_duration(took)}")
        if self.total and self.done and took:
            parts.append(f"about {format_duration(took * (self.total / self.done - 1))} left")
        return f"{self.label}: {', '.join(parts)}"


class LiveProgress(_Progress):
    """An overall bar, and a bar for each running stage; at the end they make room for one line."""

    def __init__(self, console: Console):
        from rich.live import Live  # what draws on a terminal takes a while to import
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
        from rich.table import Column

        super().__init__()
        overall = (TextColumn("[bold]{task.description}"), BarColumn(), TimeElapsedColumn())
        self._overall = Progress(*overall, console=console)
        label = TextColumn("  {task.description}", table_column=Column(no_wrap=True, overflow="ellipsis", ratio=1))
        note = TextColumn("[dim]{task.fields[note]}", table_column=Column(no_wrap=True))
        columns = (label, BarColumn(bar_width=20), note, TimeElapsedColumn())
        self._stages = Progress(*columns, console=console, expand=True)
        self._bar = self._overall.add_task("…", total=None, visible=False)
        self._shown: dict[str, TaskID] = {}
        self.live = Live(get_renderable=self._frame, console=console, refresh_per_second=8, transient=True)

    def _frame(self) -> Group:
        from rich.console import Group

        for task in self._stages.tasks:
            task.visible = (task.elapsed or 0.0) >= _SETTLED
        return Group(self._overall, self._stages)

    def _show(self, event: object) -> None:
        from rich.markup import escape

        if isinstance(event, events.StageStarted) and len(self._shown) < _SHOWN:
            bar = self._stages.add_task(escape(event.label), total=None, note="", visible=False)
            self._shown[event.id] = bar
        elif isinstance(event, events.StageProgress) and event.id in self._shown:
            note = escape(visible(event.note))
            self._stages.update(self._shown[event.id], completed=event.done, total=event.total, note=note)
        elif isinstance(event, events.StageFinished) and event.id in self._shown:
            self._stages.remove_task(self._shown.pop(event.id))
        elif isinstance(event, events.RunFinished):
            while self._shown:
                self._stages.remove_task(self._shown.popitem()[1])
        done, to_run = self._tally.done, self._tally.to_run
        is_left = to_run > 0 and not isinstance(event, events.RunFinished)
        self._overall.update(self._bar, description=str(self._tally), completed=done, total=to_run, visible=is_left)

    def _say(self, text: str, style: str | None = None) -> None:
        self.live.console.print(text, markup=False, highlight=False, style=style, soft_wrap=True)
