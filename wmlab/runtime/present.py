"""Which results a run may count on: those that are whole."""

from __future__ import annotations

from collections.abc import Mapping

from wmlab.runtime.events import EntryDamaged, Listener
from wmlab.runtime.store import CorruptEntry, MissingEntry, Store


class Present:
    """Whether the store has a whole entry, checked once per run.

    A damaged entry does not count as there, even if nobody in this run would read it: it is told and made again.
    """

    def __init__(self, store: Store, labels: Mapping[str, str], tell: Listener):
        self._store = store
        self._labels = labels  # hash: the stage's name for people
        self._tell = tell
        self._whole: set[str] = set()

    def __call__(self, hash: str) -> bool:
        if not self._store.has(hash):
            return False
        if hash not in self._whole:
            try:
                self._store.verify(hash)
            except CorruptEntry as damage:
                self._tell(EntryDamaged(hash, self._labels.get(hash, damage.label), damage.reason))
                return False
            except MissingEntry:  # removed this very moment
                return False
            self._whole.add(hash)
        return True
