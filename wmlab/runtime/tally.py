"""How far a run is, and how long it will still take."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from statistics import median

from wmlab.runtime import events
from wmlab.runtime.cache import format_duration

_ENOUGH = 3  # stages of a kind that must be over before their time says much: the first ones also compile
_FAR_ENOUGH = 0.1  # the share of a stage after which its own progress says how long it takes
_WORTH_SAYING = 10.0  # seconds left


class StageTally:
    """How far a run is, and how long it will still take.

    The time that is left follows from stages of each kind that are over, and from those that say how far they are.
    """

    def __init__(self) -> None:
        self._begin(events.RunStarted(0, 0, 1))

    def _begin(self, run: events.RunStarted) -> None:
        self.to_run = run.total - run.cached
        self.done = self.cached = self.failed = self.skipped = 0
        self._seen: set[str] = set()
        self._jobs = max(run.jobs, 1)
        self._open = Counter(run.kinds)  # kind: stages that are to be done
        self._planned = Counter(run.kinds)
        self._took: dict[str, list[float]] = defaultdict(list)
        self._running: dict[str, tuple[str, float, float]] = {}  # id: kind, start, share that is done
        self._estimate: tuple[float, float] | None = None  # seconds that were left, and when

    def update(self, event: object) -> None:
        """Count an event."""
        if isinstance(event, events.RunStarted):
            self._begin(event)
        elif isinstance(event, events.EntryDamaged):
            self.to_run += 1
        elif isinstance(event, events.StageStarted):
            self._seen.add(event.id)
            self._running[event.id] = (event.kind, time.monotonic(), 0.0)
        elif isinstance(event, events.StageProgress) and event.id in self._running and event.total > 0:
            kind, start, _ = self._running[event.id]
            self._running[event.id] = (kind, start, min(event.done / event.total, 1.0))
        elif isinstance(event, events.TimeLeft):
            self._estimate = event.seconds, time.monotonic()
        elif isinstance(event, events.StageFinished):
            self._finish(event)

    def _finish(self, event: events.StageFinished) -> None:
        started = self._running.pop(event.id, None)
        self.done += event.outcome in ("ran", "failed") or event.id in self._seen
        self.cached += event.outcome == "cached" and event.id not in self._seen
        self.failed += event.outcome == "failed"
        self.skipped += event.outcome == "skipped"
        if started or event.outcome != "cached":  # what was cached at the start is not among the open ones
            self._open[event.kind] -= 1
        if event.outcome == "ran":
            self._took[event.kind].append(event.seconds)

    def seconds_left(self) -> float | None:
        """Seconds to go; None while a kind is left of which too little is known."""
        now, total = time.monotonic(), 0.0
        if self._estimate is not None:  # it knows one point of a sweep from another
            return max(0.0, self._estimate[0] - (now - self._estimate[1]))
        for kind, count in self._open.items():
            if count > 0:
                typical = self._typical(kind, now)
                if typical is None:
                    return None
                total += count * typical
                for of, start, _ in self._running.values():
                    total -= min(now - start, typical) if of == kind else 0.0
        return total / min(self._jobs, max(self._open.total(), 1))

    def _typical(self, kind: str, now: float) -> float | None:
        running = [one for one in self._running.values() if one[0] == kind and one[2] >= _FAR_ENOUGH]
        expected = [(now - start) / share for _, start, share in running]
        took = self._took[kind]
        enough = expected or len(took) >= (_ENOUGH if self._planned[kind] > _ENOUGH else 1)
        return median(took + expected) if enough else None

    @property
    def counts(self) -> str:
        """How many stages are done, and what became of the others."""
        others = [(self.cached, "cached"), (self.failed, "failed"), (self.skipped, "skipped")]
        return ", ".join([f"{self.done}/{self.to_run} stages", *(f"{count} {word}" for count, word in others if count)])

    def __str__(self) -> str:
        left = self.seconds_left()
        worth = left is not None and left >= _WORTH_SAYING
        return self.counts + (f", about {format_duration(left)} left" if left is not None and worth else "")

    def last_line(self, event: events.RunFinished) -> str:
        """What became of the run."""
        took = f"{event.seconds:.1f} s" if event.seconds < 10 else format_duration(event.seconds)
        if event.interrupted:
            return f"stopped: {self.counts} in {took}; what is finished is kept"
        if left := event.counts.get("left", 0):
            return f"out of time: {self.counts} in {took}; {left} left for the next run"
        if not self.to_run:
            return f"done: {'the one stage was' if self.cached == 1 else f'all {self.cached} stages were'} cached"
        return f"done: {self.counts} in {took}"
