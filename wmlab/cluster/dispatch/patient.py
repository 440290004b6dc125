"""An engine that is asked again when it was busy, after a pause that grows."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from wmlab.cluster.dispatch import times
from wmlab.cluster.engines.engine import Engine, EngineBusy
from wmlab.runtime import events
from wmlab.runtime.cache import format_duration
from wmlab.runtime.events import Listener

T = TypeVar("T")


class PatientEngine:
    """An engine, and how long it is to be left alone."""

    def __init__(self, engine: Engine, tell: Listener):
        self.engine, self.tell = engine, tell
        self.busy = 0  # how often in a row it was busy
        self.busy_until = 0.0

    @property
    def rests(self) -> bool:
        """Whether it is to be left alone now."""
        return time.monotonic() < self.busy_until

    def asking(self, ask: Callable[[], T]) -> T:
        """What the engine answers, however long it is busy."""
        while True:
            try:
                return ask()
            except EngineBusy as error:
                self.is_busy(error)
                time.sleep(max(0.0, self.busy_until - time.monotonic()))

    def is_busy(self, error: EngineBusy) -> None:
        """Leave the engine alone for a while, and longer each time."""
        pause = times.PAUSES[min(self.busy, len(times.PAUSES) - 1)]
        if self.busy in (0, 3) or self.busy % 10 == 9:
            self.tell(events.Notice(f"{error}; asking again in {format_duration(pause)}"))
        self.busy += 1
        self.busy_until = time.monotonic() + pause

    def has_answered(self) -> None:
        self.busy = 0
