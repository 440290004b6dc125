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


class Patience:
    """How long one thing that is asked of an engine is to rest."""

    def __init__(self, tell: Listener):
        self.tell = tell
        self.busy = 0  # how often in a row the engine was busy
        self.busy_until = 0.0

    @property
    def rests(self) -> bool:
        """Whether the engine is not to be asked now."""
        return time.monotonic() < self.busy_until

    def is_busy(self, error: EngineBusy) -> None:
        """Leave the engine alone for a while, and longer each time."""
        pause = times.PAUSES[min(self.busy, len(times.PAUSES) - 1)]
        if self.busy in (0, 3) or self.busy % 10 == 9:
            self.tell(events.Notice(f"{error}; asking again in {format_duration(pause)}"))
        self.busy += 1
        self.busy_until = time.monotonic() + pause

    def has_answered(self) -> None:
        self.busy = 0


class PatientEngine:
    """An engine that is given jobs, and is asked about them, with patience of its own for each.

    One that takes no more jobs may well tell of those that it has, and the other way round.
    """

    def __init__(self, engine: Engine, tell: Listener):
        self.engine = engine
        self.submitting, self.looking = Patience(tell), Patience(tell)

    def asking(self, ask: Callable[[], T]) -> T:
        """What the engine answers, however long it is busy."""
        while True:
            try:
                answer = ask()
            except EngineBusy as error:
                self.looking.is_busy(error)
                time.sleep(max(0.0, self.looking.busy_until - time.monotonic()))
            else:
                self.looking.has_answered()
                return answer
