"""The time of a run: what it may take, what would still end in it, and how long what is left is going to take."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from wmlab.graph.stage import Stages
from wmlab.runtime.estimates import Estimator
from wmlab.runtime.events import StageProgress, StageStarted

_EVERY = 5.0  # seconds between two estimates of what is left
_FAR_ENOUGH = 0.1  # the share of a stage after which its own progress says how long it takes


@dataclass
class _AtWork:
    """A stage that runs: since when, and the share of it that is done."""

    since: float
    share: float = 0.0


class Budget:
    """What is begun by a moment of the clock, and what is left; without a moment, everything is begun."""

    def __init__(self, stages: Stages, jobs: int, estimator: Estimator | None = None, until: float | None = None):
        self._stages, self._jobs, self._estimator, self._until = stages, max(jobs, 1), estimator, until
        self._told = time.monotonic()
        self.running: dict[str, _AtWork] = {}  # by id

    @property
    def is_over(self) -> bool:
        """Whether the time is over."""
        return self._until is not None and time.monotonic() >= self._until

    def allows(self, id: str) -> bool:
        """Whether a stage may begin: it would end in time, or nothing like it has run and there is time at all."""
        if self._until is None:
            return True
        expected = self._estimator.seconds(id) if self._estimator is not None else None
        return time.monotonic() + (expected or 0.0) < self._until

    def hear(self, event: object) -> None:
        """Take note of a stage that begins, or says how far it is."""
        if isinstance(event, StageStarted):
            self.running[event.id] = _AtWork(time.monotonic())
        elif isinstance(event, StageProgress) and event.id in self.running and event.total > 0:
            self.running[event.id].share = min(event.done / event.total, 1.0)

    def learn(self, id: str, seconds: float, memory: float | None) -> None:
        """A stage is over and took so much."""
        if self._estimator is not None:
            self._estimator.learn(id, seconds, memory)

    def time_left(self, ids: Sequence[str]) -> float | None:
        """What these stages are going to take; None where too little is known, or it was asked a moment ago."""
        now = time.monotonic()
        if self._estimator is None or now - self._told < _EVERY:
            return None
        self._told = now
        return self.seconds(ids)

    def seconds(self, ids: Iterable[str]) -> float | None:
        """What these stages are going to take with all workers; None where of one of them nothing is known."""
        total, longest = 0.0, 0.0
        for id in ids:
            expected = self._expected(id)
            if expected is None:
                return None
            total, longest = total + expected, max(longest, expected)
        return max(longest, total / self._jobs)

    def _expected(self, id: str) -> float | None:
        """What a stage is still going to take; one at work that is far enough tells it by itself."""
        work = self.running.get(id)
        took = 0.0 if work is None else time.monotonic() - work.since
        if work is not None and work.share >= _FAR_ENOUGH:
            return took * (1.0 / work.share - 1.0)
        expected = self._estimator.seconds(id) if self._estimator is not None else None
        return None if expected is None else max(expected - took, 0.0)
