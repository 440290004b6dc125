"""A plan on a cluster, from its first job to its last: submitted, watched, and begun again where they died.

Whatever the engine says, and however often, a stage is done when its result is in the store, and a job is over when its
worker said so or nobody can find it any more.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from wmlab.cluster.dispatch import times
from wmlab.cluster.dispatch.board import JobBoard, counted
from wmlab.cluster.dispatch.book import StageBook
from wmlab.cluster.dispatch.elsewhere import is_elsewhere, left_elsewhere, may_compute, open_elsewhere
from wmlab.cluster.dispatch.ends import JobEnds
from wmlab.cluster.dispatch.patient import PatientEngine
from wmlab.cluster.dispatch.queue import JobQueue
from wmlab.cluster.dispatch.watch import JobWatch
from wmlab.cluster.engines.engine import Engine
from wmlab.cluster.file import Cluster
from wmlab.cluster.jobs import Beforehand, unknown
from wmlab.cluster.records import Records
from wmlab.errors import UsageError
from wmlab.graph.key import Key
from wmlab.graph.stage import Stages
from wmlab.runtime import events
from wmlab.runtime.estimates import StageCost
from wmlab.runtime.events import Listener, Outcome
from wmlab.runtime.interrupts import interruptible
from wmlab.runtime.store import Store


def execute_on(
    engine: Engine,
    stages: Stages,
    keys: Mapping[str, Key],
    store: Store,
    *,
    cluster: Cluster,
    chains: Iterable[Sequence[str]],
    run: str,
    spec: str = "",
    keep_going: bool = False,
    events: Listener = lambda event: None,
    costs: Mapping[str, StageCost] | None = None,
    beforehand: Beforehand = unknown,
) -> Outcome:
    """Compute what the store does not have by jobs on an engine; as `execute` does with workers of this machine.

    KeyboardInterrupt on SIGINT and SIGTERM, with the jobs of this run cancelled. SpecErrors, before anything is
    submitted, where the engine cannot do what the cluster file says.
    """
    with interruptible():
        book = StageBook(stages, keys, store, events)
        board = JobBoard(PatientEngine(engine, events), cluster, Records(store.root), run, events)
        try:
            return Dispatch(JobQueue(book, board, list(chains), spec, keep_going, costs, beforehand)).go()
        finally:
            board.lock.release()


class Dispatch:
    """A run: its stages, its jobs, and those who look after them."""

    def __init__(self, queue: JobQueue):
        self.queue, self.book, self.board = queue, queue.book, queue.board
        self.watch = JobWatch(JobEnds(queue))
        self.tell = self.board.tell

    def go(self) -> Outcome:
        """Do everything that can be done."""
        book = self.book
        whole = self.check_cached(times.CHECK_FIRST)
        if book.left:
            book.store.prepare()
        clock = time.monotonic()
        kinds = Counter(book.stages[id].kind for id in book.left)
        cached = len(book.stages) - len(book.left)
        self.tell(events.RunStarted(len(book.stages), cached, self.board.cluster.options.at_once, kinds))
        interrupted = True
        try:
            book.are_cached(whole)
            self.attach()
            self.queue.plan()
            self.loop()
            self.see_off()
            interrupted = False
        except KeyboardInterrupt:
            self.board.cancel_mine()
            raise
        finally:
            seconds = round(time.monotonic() - clock, 3)
            self.tell(events.RunFinished(book.outcome.counts, seconds, interrupted, None))
        return book.outcome

    def attach(self) -> None:
        """Take up the jobs that are on record for stages of this plan, also those that have done their work.

        UsageError where those of another engine may be at work on what is left: nobody here could follow them.
        """
        records = self.board.records
        if not records.open_jobs():
            return
        with records.guard():
            ours = [one for one in records.open_jobs() if not self.book.ids.keys().isdisjoint(one.hashes().values())]
            foreign = [one for one in ours if is_elsewhere(one, self.board.cluster)]
            left = {self.book.keys[id].hash for id in self.book.left}
            if at_work := [one for one in foreign if may_compute(one, left)]:
                raise UsageError(open_elsewhere(at_work, self.board.cluster))
            for record in ours:
                if record not in foreign:
                    self.queue.take_up(record)
        if foreign:
            self.tell(events.Notice(left_elsewhere(foreign)))
        orphans = len(self.board.mine)
        others = len(self.board.live) - orphans
        if orphans:
            self.tell(events.Notice(f"{counted(orphans, 'job')} of an earlier run {are(orphans)} taken up again"))
        if others:
            self.tell(events.Notice(f"{counted(others, 'job')} of another run {are(others)} waited for"))

    def loop(self) -> None:
        """Submit and watch until nothing is left."""
        book, board, queue = self.book, self.board, self.queue
        while book.left or book.unchecked:
            queue.submit_some()
            book.are_cached(self.check_cached(times.TICK if book.left else None))
            if not board.live and not board.waiting and not queue.may_submit() and not queue.plan_rest():
                break
            time.sleep(times.TICK)
            self.watch.read()
            self.watch.look()
        book.are_cached(self.check_cached(None))
        book.skip_rest()

    def check_cached(self, seconds: float | None) -> list[str]:
        """Look at stored results that no job needs; those that are whole. Of those that are not, jobs are made."""
        whole, spoilt = self.book.check_cached(seconds)
        if self.queue.has_planned:
            self.queue.replan(spoilt)
        return whole

    def see_off(self) -> None:
        """Wait until the jobs of this run have said that they are over; cancel those that take long to do so."""
        deadline = time.monotonic() + times.LATE
        while time.monotonic() < deadline and self.board.mine:
            time.sleep(times.TICK)
            self.watch.read()
            self.watch.look()
        self.board.cancel(self.board.mine, "its work was done")
        for live in self.board.waiting:
            self.board.over(live, "done")


def are(count: int) -> str:
    return "is" if count == 1 else "are"
