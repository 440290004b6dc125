"""Which stages are left to do and which may start, and which stored results count: without processes."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping

from wmlab.graph.key import Key
from wmlab.graph.stage import Stage, Stages
from wmlab.runtime.events import EntryDamaged, Listener
from wmlab.runtime.store import CorruptEntry, MissingEntry, Store

_LONG, _SMALL = 60.0, 1.0  # seconds, where nothing like it has run


class StageSchedule:
    """The stages of a plan that have no result yet, in the order of their inputs, and the longest way to go first.

    `present` tells of a hash whether there is a result to be trusted, and is asked of inputs; `has`, where it is given,
    whether there is one at all: what nobody needs may be looked at later. `seconds` are what stages are expected to
    take, where that is known. `wanted` are the stages whose results are asked
    for (all, if not said); a stage that is not wanted is done only when one that is not stored needs it. `ranks`, where
    they are given, come before all else: those with the least start first.
    """

    def __init__(
        self,
        stages: Stages,
        keys: Mapping[str, Key],
        present: Callable[[str], bool],
        wanted: Iterable[str] | None = None,
        seconds: Mapping[str, float] | None = None,
        has: Callable[[str], bool] | None = None,
        ranks: Mapping[str, int] | None = None,
    ):
        self.stages = stages
        self.order = {id: index for index, id in enumerate(stages)}
        self._keys = keys
        self._present, self._has = present, has or present
        self._unmet: dict[str, set[str]] = {}  # stage that is left: inputs that it waits for
        self._users: dict[str, set[str]] = defaultdict(set)  # stage that is left: stages that wait for it
        self._ready: dict[int, list[tuple[int, bool, float, int, str]]] = defaultdict(list)  # cores: heap
        self._aside: dict[str, None] = {}  # stages that may start, and are not begun for now
        self._ahead = seconds_ahead(stages, seconds or {})
        self._ranks = ranks or {}
        self.cached: dict[str, None] = {}  # a set in order
        self.failed: dict[str, None] = {}
        for id in self.order if wanted is None else sorted(wanted, key=self.order.__getitem__):
            self._demand(id)

    @property
    def open(self) -> list[str]:
        """The stages that are neither done nor given up."""
        return sorted(self._unmet, key=self.order.__getitem__)

    def heads(self) -> list[Stage]:
        """The stages that should start next, one per number of cores: long ones first, then those with most ahead."""
        return [self.stages[head[-1]] for head in sorted(heap[0] for heap in self._ready.values() if heap)]

    def waiting_for_a_worker(self, cores: int) -> int:
        """How many stages of so many cores may start now."""
        return len(self._ready[cores])

    def take(self, cores: int, small: bool) -> Stage | None:
        """The next stage of so many cores, which the caller starts; with `small`, only if it is not long."""
        heap = self._ready[cores]
        if not heap or (small and self.stages[heap[0][-1]].long):
            return None
        return self.stages[heapq.heappop(heap)[-1]]

    def set_aside(self, cores: int) -> None:
        """Do not begin the next stage of so many cores for now."""
        self._aside[heapq.heappop(self._ready[cores])[-1]] = None

    def bring_back(self, module: str) -> None:
        """Offer the stages of a module again that were set aside."""
        for id in [id for id in self._aside if self.stages[id].module == module]:
            del self._aside[id]
            self.make_ready(id)

    def done(self, id: str) -> None:
        """A stage has its result."""
        del self._unmet[id]
        self._release_users(id)

    def fail(self, id: str) -> list[str]:
        """A stage has failed; returns the stages that wait for it, which now cannot be done."""
        self.failed[id] = None
        del self._unmet[id]
        lost: set[str] = set()
        stack = [id]
        while stack:
            for user in self._users.pop(stack.pop(), ()):
                if user in self._unmet:
                    del self._unmet[user]
                    lost.add(user)
                    stack.append(user)
        return sorted(lost, key=self.order.__getitem__)

    def redo_input(self, id: str, input_id: str) -> None:
        """The result that a stage needs is not to be had: make it again first."""
        self.cached.pop(input_id, None)
        self._unmet[id].add(input_id)
        self._users[input_id].add(id)
        self._demand(input_id)

    def reopen(self, id: str) -> None:
        """A result that counted as cached cannot be trusted: it is to be made again."""
        self.cached.pop(id, None)
        self._demand(id)

    def _demand(self, id: str) -> None:
        stack = [id]
        while stack:
            current = stack.pop()
            if current in self._unmet or current in self.cached:
                continue
            if self._has(self._keys[current].hash):
                self.cached[current] = None
                self._release_users(current)
                continue
            unmet = {source for source in self.stages[current].inputs.values() if self._missing(source)}
            self._unmet[current] = unmet
            for source in unmet:
                self._users[source].add(current)
            if not unmet:
                self.make_ready(current)
            stack.extend(unmet)

    def _missing(self, id: str) -> bool:
        """Whether an input has to be made first; one that cannot be trusted counts as cached no longer."""
        if id not in self._unmet and self._present(self._keys[id].hash):
            return False
        self.cached.pop(id, None)
        return True

    def _release_users(self, id: str) -> None:
        for user in self._users.pop(id, ()):
            if user in self._unmet:
                self._unmet[user].discard(id)
                if not self._unmet[user]:
                    self.make_ready(user)

    def make_ready(self, id: str) -> None:
        """A stage may start: its inputs are there, or it was taken and did not run after all."""
        stage = self.stages[id]
        place = (self._ranks.get(id, len(self._ranks)), not stage.long, -self._ahead[id], self.order[id], id)
        heapq.heappush(self._ready[stage.cores], place)


def expected_seconds(stage: Stage) -> float:
    """What a stage is taken to cost of which nothing is known: enough to tell long ones from small ones."""
    return _LONG if stage.long else _SMALL


def seconds_ahead(stages: Stages, seconds: Mapping[str, float]) -> dict[str, float]:
    """What each stage takes together with the longest way of stages that wait for it, one after the other."""
    ahead: dict[str, float] = {}
    behind: dict[str, float] = {}  # of the users of a stage, the longest way
    for id in reversed(list(stages)):  # users come after what they use
        stage = stages[id]
        ahead[id] = seconds.get(id, expected_seconds(stage)) + behind.get(id, 0.0)
        for source in stage.inputs.values():
            behind[source] = max(behind.get(source, 0.0), ahead[id])
    return ahead


class VerifiedEntries:
    """Whether the store has a whole entry, checked once per run.

    A damaged entry does not count as there, even if nobody in this run would read it: it is told and made again.
    """

    def __init__(self, store: Store, labels: Mapping[str, str], tell: Listener):
        self._store = store
        self._labels = labels  # hash: the stage's name for people
        self._tell = tell
        self._whole: set[str] = set()
        self._damaged: set[str] = set()

    def has(self, hash: str) -> bool:
        """Whether there is an entry, as far as one can tell without reading it."""
        return hash not in self._damaged and self._store.has(hash)

    def __call__(self, hash: str) -> bool:
        if not self._store.has(hash):
            return False
        if hash not in self._whole:
            try:
                self._store.verify(hash)
            except CorruptEntry as damage:
                self._damaged.add(hash)
                self._tell(EntryDamaged(hash, self._labels.get(hash, damage.label), damage.reason))
                return False
            except MissingEntry:  # removed this very moment
                return False
            self._whole.add(hash)
        return True
