"""What became of the stages of a run, and which are left to do."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

from wmlab.graph.key import Key
from wmlab.graph.stage import Stages
from wmlab.runtime import events
from wmlab.runtime.events import Failure, Listener, Outcome, OutcomeName
from wmlab.runtime.schedule import StageSchedule, VerifiedEntries
from wmlab.runtime.store import Store


class StageBook:
    """The stages of a run: those that are left, those that are stored and not yet looked at, and the outcome."""

    def __init__(self, stages: Stages, keys: Mapping[str, Key], store: Store, tell: Listener):
        self.stages, self.keys, self.store, self.tell = stages, keys, store, tell
        labels = {keys[id].hash: stage.label for id, stage in stages.items()}
        self.ids = {keys[id].hash: id for id in stages}
        self.entries = VerifiedEntries(store, labels, tell)
        schedule = StageSchedule(stages, keys, self.entries, has=self.entries.has)
        self.unchecked = deque(schedule.cached)  # what no job needs is looked at while jobs are at work
        self.left = dict.fromkeys(schedule.open)
        self.outcome = Outcome()

    def is_stored(self, id: str) -> bool:
        return self.store.has(self.keys[id])

    def check_cached(self, seconds: float | None) -> tuple[list[str], list[str]]:
        """Look at stored results that no job needs, for so long or to the end: those that are whole, and those not.

        What is not whole is left to do.
        """
        deadline = None if seconds is None else time.monotonic() + seconds
        whole, spoilt = [], []
        while self.unchecked and (deadline is None or time.monotonic() < deadline):
            id = self.unchecked.popleft()
            if self.entries(self.keys[id].hash):
                whole.append(id)
            elif id not in self.left:
                self.left[id] = None
                spoilt.append(id)
        return whole, spoilt

    def are_cached(self, ids: Iterable[str]) -> None:
        """These stages have their results already."""
        for id in ids:
            self.store.touch(self.keys[id].hash)
            self.finish(id, "cached")

    def take_stored(self, ids: Iterable[str]) -> None:
        """Whatever was said of stages, or was not: what is stored is done."""
        for id in ids:
            if id in self.left and self.is_stored(id):
                self.finish(id, "ran")

    def fail(self, id: str, failure: Failure) -> None:
        """A stage has no result, and so its users have none."""
        lost = [user for user in self.users(id) if user in self.left]
        self.outcome.failed[id] = failure
        self.finish(id, "failed", failure=failure)
        for user in lost:
            self.finish(user, "skipped", reason=f"needs '{self.stages[id].label}', which failed")

    def skip_rest(self) -> None:
        """The run is over: what is left is not done."""
        for id in list(self.left):
            reason = "the run stopped"
            if self.outcome.failed:
                reason = f"the run stopped when '{self.stages[next(iter(self.outcome.failed))].label}' failed"
            self.finish(id, "skipped", reason=reason)

    def users(self, id: str) -> list[str]:
        """The stages that need one, directly or not, in the plan's order."""
        reached = {id}
        for other, stage in self.stages.items():
            if not reached.isdisjoint(stage.inputs.values()):
                reached.add(other)
        return [other for other in self.stages if other in reached and other != id]

    def finish(self, id: str, outcome: OutcomeName, **more: Any) -> None:
        """Write down what became of a stage, and tell."""
        self.left.pop(id, None)
        if outcome in ("ran", "cached"):
            getattr(self.outcome, outcome).append(id)
        elif outcome == "skipped":
            self.outcome.skipped[id] = more["reason"]
        key, stage = self.keys[id], self.stages[id]
        device = key.parts.get("device")
        more["device"] = device and str(device)
        self.tell(events.StageFinished(id, key.hash, stage.label, stage.kind, outcome, **more))
