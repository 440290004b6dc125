"""The workers of a run: processes that are started when there is work for them, reused, and replaced when they die."""

from __future__ import annotations

import selectors
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from wmlab.core import container
from wmlab.runtime import worker_env
from wmlab.runtime.events import Failure, Listener, Notice, StageStalled
from wmlab.runtime.limits import StageLimits
from wmlab.runtime.spares import Spares
from wmlab.runtime.store import Store
from wmlab.runtime.watch import VITAL_SIGNS, AttendedClock, at_place
from wmlab.runtime.work import StageTask
from wmlab.runtime.workers import Deliver, InlineWorker, ProcessWorker, Worker

_LOOK = 0.5  # seconds between two looks at the workers
_LOOK_CLOSELY = 0.1  # where they may not hold more than so much memory
WORN = 2 << 30  # bytes that a worker may keep between two stages: programs of every shape that it has met stay with it


class Pool:
    """Up to `jobs` workers at work; none before there is something to do. With `jobs` 0 the work is done here."""

    def __init__(
        self,
        store: Store,
        jobs: int,
        keep_going: bool,
        output: Path,
        limits: StageLimits,
        tell: Listener,
        spares: Spares | None = None,
    ):
        self._store = store
        self._spares = spares
        self._jobs = max(jobs, 1)
        self._inline = jobs == 0
        self._keep_going = keep_going
        self._output = output
        self._limits = limits
        self._event = tell
        self._told: set[str] = set()
        self._clock = AttendedClock()
        self._looked = 0.0
        self._every = _LOOK if limits.memory is None else _LOOK_CLOSELY
        self.has_started = False  # whether any worker process got as far as to say so
        self._selector = selectors.DefaultSelector()
        self.workers: list[Worker] = []
        self._budget = max(container.usable_cores(), self._jobs)

    @property
    def busy(self) -> list[Worker]:
        """The workers that are at work."""
        return [worker for worker in self.workers if worker.busy]

    def idle(self, cores: int) -> Worker | None:
        """A worker for a stage of so many cores, started if need be; None when one has to wait."""
        busy = self.busy
        crowded = busy and sum(worker.cores for worker in busy) + cores > self._budget
        if len(busy) >= self._jobs or crowded:
            return None
        for worker in self.workers:
            if not worker.busy and worker.cores == cores and worker.ending is None and not self._is_worn(worker):
                return worker
        if len(self.workers) >= self._jobs:  # an idle one of another size, or a worn one, makes room
            self.drop(next(worker for worker in self.workers if not worker.busy))
        return self._start(cores)

    def _is_worn(self, worker: Worker) -> bool:
        """Whether a worker keeps so much of earlier stages that a new one should take its place."""
        most = WORN if self._limits.memory is None else min(WORN, self._limits.memory // 2)
        return isinstance(worker, ProcessWorker) and worker.look() > most

    def send(self, worker: Worker, tasks: Sequence[StageTask]) -> None:
        """Give a worker a batch."""
        worker.tasks = {task.id: task for task in tasks}
        worker.busy = True
        if isinstance(worker, ProcessWorker):
            worker.vitals.heard = self._clock()
            batch = [vars(task) for task in tasks]  # JSON data already: no copy of it
            worker.send({"type": "batch", "tasks": batch, "keep_going": self._keep_going})

    def wait(self, deliver: Deliver, died: Callable[[ProcessWorker], None], at_once: bool = False) -> None:
        """Deliver what the workers have to say, wait for it for a while if need be, and look after them.

        With `at_once` nobody waits: there is other work to do here.
        """
        inline = [worker for worker in self.busy if isinstance(worker, InlineWorker)]
        for worker in inline:
            worker.work(lambda message, worker=worker: self._hear(worker, message, deliver), self._keep_going)  # type: ignore[misc]
        for key, _ in self._selector.select(0 if inline or at_once else self._every):
            process: ProcessWorker = key.data
            messages, gone = process.read()
            for message in messages:
                self._hear(process, message, deliver)
            if gone:
                self._lost(process, died)
        for process in [worker for worker in self.workers if isinstance(worker, ProcessWorker)]:
            # A child that a stage left behind may keep the pipe open after its death.
            if process.process.poll() is not None and not self._selector.select(0):
                self._lost(process, died)
        self._look_after()

    def _hear(self, worker: Worker, message: dict[str, Any], deliver: Deliver) -> None:
        if isinstance(worker, ProcessWorker):
            self.has_started = True
            worker.vitals.hear(message, self._clock())
        if message["type"] not in VITAL_SIGNS:
            deliver(worker, message)

    def _look_after(self) -> None:
        """Say which stage stalls, and end the workers that are beyond their limits."""
        now = self._clock()
        if now - self._looked < self._every:
            return
        self._looked = now
        for worker in self.busy:
            if not isinstance(worker, ProcessWorker) or not worker.tasks:
                continue
            if worker.ending is not None:
                if now > worker.ending.kill_at:
                    worker.process.kill()
                continue
            failure = worker.vitals.excess(worker.look(), self._limits, now)
            if failure is None and worker.vitals.is_silent(self._limits, now):
                failure = self._examine(worker, now)
            if failure is not None:
                worker.end(failure, now)

    def _examine(self, worker: ProcessWorker, now: float) -> Failure | None:
        """Ask a silent worker where it is, and one look later tell it; an endless import is a reason to end it."""
        vitals = worker.vitals
        if vitals.asked and (vitals.importing or not vitals.stall_told):
            places = worker.where()
            failure = vitals.stuck_import(places, self._limits, now)
            if not vitals.stall_told:
                vitals.stall_told = True
                task = worker.tasks[vitals.stage or next(iter(worker.tasks))]
                silent = round(now - vitals.heard, 1)
                self._event(StageStalled(task.id, task.label, silent, vitals.words, at_place(places)))
            if failure is not None or not vitals.importing:
                return failure
            vitals.asked = False
        if not vitals.asked:
            vitals.asked = True
            worker.ask_where()
        return None

    def stop(self) -> None:
        """Have the workers finish the stage at hand and begin no other."""
        for worker in self.busy:
            if isinstance(worker, ProcessWorker):
                worker.told_to_stop = True
                worker.send({"type": "stop"})

    def drop(self, worker: Worker, patience: float = 2.0) -> None:
        """Do without a worker from now on."""
        self.workers.remove(worker)
        if isinstance(worker, ProcessWorker):
            self._selector.unregister(worker)
            worker.close(patience)

    def close(self) -> None:
        """End all workers but those that are kept for the next run; those at work are killed."""
        for worker in list(self.workers):
            if self._spares is not None and isinstance(worker, ProcessWorker) and self._spares.keep(worker):
                self._selector.unregister(worker)
                self.workers.remove(worker)
        for worker in self.workers:
            if isinstance(worker, ProcessWorker):  # all at once, then wait for each
                with suppress(OSError):
                    worker.process.kill() if worker.busy else worker.process.stdin.close()  # type: ignore[union-attr]
        for worker in list(self.workers):
            self.drop(worker)
        self._selector.close()

    def _lost(self, process: ProcessWorker, died: Callable[[ProcessWorker], None]) -> None:
        if process in self.workers:
            self.drop(process, patience=0.5)
            died(process)

    def _start(self, cores: int) -> Worker:
        slot = min(set(range(len(self.workers) + 1)) - {worker.slot for worker in self.workers})
        worker: Worker
        if problem := worker_env.no_compiled_programs(cores):
            self._tell(problem)
        if self._inline and self._can_work_here(cores):
            worker = InlineWorker(self._store, cores, slot)
        else:
            given = (self._store.root, cores, slot, self._output, self._clock())
            spare = self._spares.take(*given) if self._spares is not None else None
            worker = process = spare or ProcessWorker(*given)
            self._selector.register(process, selectors.EVENT_READ, process)
        self.workers.append(worker)
        return worker

    def _can_work_here(self, cores: int) -> bool:
        if first := worker_env.came_first():
            text = f"{first} was imported before the run, with its own settings: results may differ in their last bits"
            self._tell(text)
        if first == "JAX" or worker_env.prepare_here(cores):
            return True
        self._tell(f"this process is set up for another number of cores: stages of {cores} run in another process")
        return False

    def _tell(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            self._event(Notice(text))
