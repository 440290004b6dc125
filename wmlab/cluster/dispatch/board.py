"""The jobs of a run that were submitted, and those that are to be submitted again."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field

from wmlab.cluster.dispatch import times
from wmlab.cluster.dispatch.live import LiveJob, cancel_jobs
from wmlab.cluster.dispatch.patient import PatientEngine
from wmlab.cluster.engines.engine import EngineBusy
from wmlab.cluster.file import Cluster
from wmlab.cluster.owners import OwnerLock
from wmlab.cluster.records import JobRecord, Records
from wmlab.runtime import events
from wmlab.runtime.events import Listener


@dataclass
class JobBoard:
    """Jobs on an engine, by id; those of this run, and those of another that this one waits for."""

    engine: PatientEngine
    cluster: Cluster
    records: Records
    run: str
    tell: Listener
    live: dict[str, LiveJob] = field(default_factory=dict)
    waiting: list[LiveJob] = field(default_factory=list)  # to be submitted again
    retries: Counter[str] = field(default_factory=Counter)  # job: how often it died
    not_before: dict[str, float] = field(default_factory=dict)  # job: when it may be submitted again

    def __post_init__(self) -> None:
        self.lock = OwnerLock(self.records.root, self.run)

    @property
    def mine(self) -> list[LiveJob]:
        return [live for live in self.live.values() if live.is_mine]

    def has_room(self) -> bool:
        return len(self.mine) < self.cluster.options.at_once

    def look_after(self, record: JobRecord) -> None:
        """Be the run that a job on record belongs to, from now on."""
        record.own(self.lock.sign())
        record.go_on()

    def follow(self, live: LiveJob) -> None:
        """Take note of what another run does with its job; look after it from now on where that run is dead."""
        if live.is_mine:
            return
        record = live.record
        if not record.is_looked_after:
            with self.records.guard():
                live.is_mine = not record.is_looked_after  # unless a third run was quicker
                if live.is_mine:
                    self.look_after(record)
        if (attempt := record.attempt) != live.attempt:
            live.forget()
            live.attempt = attempt
        last = record.submission
        if live.submission is None and last is not None and last.attempt == attempt:
            live.submission = last

    def due(self) -> list[LiveJob]:
        """The jobs that may be submitted again now."""
        now = time.monotonic()
        return [one for one in self.waiting if self.not_before.get(one.record.id, 0.0) <= now]

    def again(self, live: LiveJob, counts: bool) -> None:
        """Submit a job once more, after a pause that grows where it `counts`."""
        self.live.pop(live.record.id, None)
        if not live.is_mine:
            return
        tries = self.retries[live.record.id]
        pause = times.PAUSES[min(tries, len(times.PAUSES)) - 1] if counts and tries else 0.0
        self.not_before[live.record.id] = time.monotonic() + pause
        live.forget()
        self.waiting.append(live)

    def over(self, live: LiveJob, state: str, reason: str = "") -> None:
        """A job is over, and is put on record as such by the run that looks after it."""
        self.live.pop(live.record.id, None)
        if live.is_mine:
            live.record.close(state, reason)
            self.change(live, state, reason)

    def cancel(self, jobs: Collection[LiveJob], reason: str) -> None:
        if jobs:
            self.engine.asking(lambda: cancel_jobs(self.engine.engine, [live.record for live in jobs], reason))
        for live in jobs:
            self.live.pop(live.record.id, None)
            self.change(live, "cancelled", reason)

    def cancel_mine(self) -> None:
        """The run is interrupted: its jobs are cancelled; those that another run looks after go on."""
        owned = [job for job in self.records.open_jobs() if job.owner == self.lock.owner]
        if not owned:
            return
        kept = "what is finished is kept; --detach leaves jobs to themselves"
        self.tell(events.Notice(f"cancelling {counted(len(owned), 'job')}; {kept}"))
        try:
            cancel_jobs(self.engine.engine, owned, "the run was interrupted")
        except EngineBusy as error:
            self.tell(events.Notice(f"{error}; they go on: `wmlab runs stop {self.run}` cancels them when it can"))

    def change(self, live: LiveJob, state: str, reason: str = "") -> None:
        """Tell that a job is in another state."""
        log = live.submission.log if live.submission else ""
        engine_id = live.submission.engine_id if live.submission else ""
        self.tell(
            events.JobChanged(live.record.id, state, self.cluster.engine, engine_id, log, len(live.wanted), reason)
        )


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
