"""How long a run will still take, where one can tell."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from statistics import median

from wmlab.runtime import events as happened

_ENOUGH = 3  # stages of a kind that must be over before their time says much: the first ones also compile
_FAR_ENOUGH = 0.1  # the share of a stage after which its own progress says how long it takes


class Pace:
    """The time that stages of each kind take, from those that are over and those that say how far they are."""

    def __init__(self) -> None:
        self._jobs = 1
        self._open: Counter[str] = Counter()  # kind: stages that are to be done
        self._planned: Counter[str] = Counter()
        self._took: dict[str, list[float]] = defaultdict(list)
        self._running: dict[str, tuple[str, float, float]] = {}  # id: kind, start, share that is done

    def update(self, event: object) -> None:
        """Learn from an event."""
        if isinstance(event, happened.RunStarted):
            self._jobs = max(event.jobs, 1)
            self._open = Counter(event.kinds)
            self._planned = Counter(event.kinds)
        elif isinstance(event, happened.StageStarted):
            self._running[event.id] = (event.kind, time.monotonic(), 0.0)
        elif isinstance(event, happened.StageProgress) and event.id in self._running and event.total > 0:
            kind, start, _ = self._running[event.id]
            self._running[event.id] = (kind, start, min(event.done / event.total, 1.0))
        elif isinstance(event, happened.StageFinished):
            known = self._running.pop(event.id, None)
            if known or event.outcome != "cached":  # what was cached at the start is not among the open ones
                self._open[event.kind] -= 1
            if event.outcome == "ran":
                self._took[event.kind].append(event.seconds)

    def left(self) -> float | None:
        """Seconds to go; None while a kind is left of which too little is known."""
        now, total = time.monotonic(), 0.0
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
        told = [(now - start) / share for of, start, share in self._running.values()
                if of == kind and share >= _FAR_ENOUGH]  # fmt: skip
        took = self._took[kind]
        enough = told or len(took) >= (_ENOUGH if self._planned[kind] > _ENOUGH else 1)
        return median(took + told) if enough else None
