"""A run on a terminal: bars that move."""

from __future__ import annotations

from rich.console import Console, Group
from rich.live import Live
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Column

from wmlab.runtime import events
from wmlab.runtime.tally import MESSAGES, StageTally, failure_lines

_SHOWN = 8  # running stages on the screen, at most
_SETTLED = 0.4  # seconds after which a running stage is shown: the shorter ones would only flicker


class LiveProgress:
    """An overall bar, and a bar for each running stage; at the end they make room for one line."""

    def __init__(self, console: Console):
        self._tally = StageTally()
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
        if isinstance(event, MESSAGES):
            self._say(str(event), "yellow")
        elif isinstance(event, events.StageStarted):
            if len(self._shown) < _SHOWN:
                label = escape(event.label)
                self._shown[event.id] = self._stages.add_task(label, total=None, note="", visible=False)
        elif isinstance(event, events.StageProgress):
            if event.id in self._shown:
                bar = self._shown[event.id]
                self._stages.update(bar, completed=event.done, total=event.total, note=escape(event.note))
        elif isinstance(event, events.StageFinished):
            if event.id in self._shown:
                self._stages.remove_task(self._shown.pop(event.id))
            if event.outcome == "failed":
                self._say(failure_lines(event), "red")
        elif isinstance(event, events.RunFinished):
            self._end(event)
            return
        done, to_run = self._tally.done, self._tally.to_run
        self._overall.update(self._bar, description=str(self._tally), completed=done, total=to_run, visible=to_run > 0)

    def _end(self, event: events.RunFinished) -> None:
        for bar in self._shown.values():
            self._stages.remove_task(bar)
        self._shown.clear()
        self._overall.update(self._bar, visible=False)
        self._say(self._tally.last_line(event))

    def _say(self, text: str, style: str | None = None) -> None:
        self.live.console.print(text, markup=False, highlight=False, style=style, soft_wrap=True)
