"""The execution of a plan: the schedule and the pool brought together."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

from wmlab.graph.stage import Stage, Stages, canonical
from wmlab.runtime import events
from wmlab.runtime.events import Failure, Listener, Outcome
from wmlab.runtime.pool import Pool, ProcessWorker, Worker
from wmlab.runtime.schedule import StageSchedule, VerifiedEntries
from wmlab.runtime.store import Store
from wmlab.runtime.work import StageTask

_BATCH = 32  # stages sent to a worker at once, at most
_BATCH_SECONDS = 0.25  # and not more work than this, as far as one can tell
_ATTEMPTS = 2  # for a stage whose worker dies, or whose inputs get lost


class StageKey(Protocol):
    """A key as the executor needs it: its hash, and its readable parts for the manifest."""

    @property
    def hash(self) -> str: ...

    @property
    def parts(self) -> Mapping[str, Any]: ...


class Execution:
    """The execution of a plan: the schedule, the pool, and what has happened so far."""

    def __init__(
        self,
        stages: Stages,
        keys: Mapping[str, StageKey],
        store: Store,
        jobs: int,
        keep_going: bool,
        tell: Listener,
        wanted: Iterable[str] | None,
        output: Path,
    ):
        self.keys = keys
        self.store = store
        self.jobs = jobs
        self.keep_going = keep_going
        self.tell = tell
        self.output = output
        self.ids = {keys[id].hash: id for id in stages}
        labels = {keys[id].hash: stage.label for id, stage in stages.items()}
        self.schedule = StageSchedule(stages, keys, VerifiedEntries(store, labels, tell), wanted)
        self.pool = Pool(store, jobs, keep_going, output, lambda text: tell(events.Notice(text)))
        self.outcome = Outcome()
        self.means: dict[str, float] = {}  # module: seconds of a stage, a running mean
        self.losses: Counter[tuple[str, str]] = Counter()  # (stage, what was lost): how often
        self.stopping = False

    def go(self) -> Outcome:
        """Do everything that can be done."""
        clock = time.monotonic()
        kinds = Counter(self.schedule.stages[id].kind for id in self.schedule.open)
        self.tell(events.RunStarted(self.schedule.total, len(self.schedule.cached), self.jobs, kinds))
        interrupted = True
        try:
            for id in list(self.schedule.cached):
                self.store.touch(self.keys[id].hash)
                self.finish(id, "cached")
            self.loop()
            interrupted = False
        finally:
            self.pool.close()
            output = self.printed()
            seconds = round(time.monotonic() - clock, 3)
            self.tell(events.RunFinished(self.outcome.counts, seconds, interrupted, output))
        return self.outcome

    def loop(self) -> None:
        """Send and receive until nothing is left."""
        while True:
            if not self.stopping:
                self.dispatch()
            if not self.pool.busy:
                break
            self.pool.wait(self.on_message, self.on_death)
        if left := self.schedule.open:
            first = self.label(next(iter(self.outcome.failed)))
            for id in left:
                self.finish(id, "skipped", reason=f"the run stopped when '{first}' failed")

    def dispatch(self) -> None:
        """Give every free worker something to do."""
        while self.dispatch_one():
            pass

    def dispatch_one(self) -> bool:
        """Give one worker something to do; False when there is nothing, or nobody to do it."""
        for place, head in enumerate(self.schedule.heads()):
            if place and head.long:
                continue  # while a stage waits for more cores, only small ones go before it, or it would wait for ever
            if worker := self.pool.idle(head.cores):
                self.pool.send(worker, [self.task(stage) for stage in self.batch(head.cores)])
                return True
        return False

    def batch(self, cores: int) -> list[Stage]:
        """The next stages for one worker: a long one alone, or small ones that take a moment together."""
        first = self.schedule.take(cores, small=False)
        assert first is not None
        batch = [first]
        share = -(-(self.schedule.waiting_for_a_worker(cores) + 1) // max(self.jobs, 1))
        seconds = self.means.get(first.module, _BATCH_SECONDS)
        while not first.long and len(batch) < min(_BATCH, share) and seconds < _BATCH_SECONDS:
            stage = self.schedule.take(cores, small=True)
            if stage is None:
                break
            batch.append(stage)
            seconds += self.means.get(stage.module, _BATCH_SECONDS)
        return batch

    def task(self, stage: Stage) -> StageTask:
        """A stage as a worker gets it."""
        key = self.keys[stage.id]
        inputs = {name: self.keys[id].hash for name, id in stage.inputs.items()}
        params, parts = json.loads(canonical([stage.params, key.parts]))
        return StageTask(stage.id, key.hash, stage.kind, stage.module, stage.label, params, inputs, stage.cores, parts)

    def on_message(self, worker: Worker, message: dict[str, Any]) -> None:
        """A worker says something."""
        kind = message["type"]
        if kind == "idle":
            for id in worker.tasks:  # a batch that was cut short
                self.schedule.give_back(id)
            worker.tasks, worker.running, worker.busy = {}, None, False
            return
        if kind == "notice":
            self.tell(events.Notice(message["text"]))
            return
        id = message["id"]
        if kind == "started":
            worker.running = id
            self.tell(events.StageStarted(id, self.label(id), message["pid"], self.schedule.stages[id].kind))
        elif kind == "waiting":
            worker.running = id
            self.tell(events.StageWaiting(id, self.label(id), message["holder"]))
        elif kind == "progress":
            progress = events.StageProgress(id, self.label(id), message["done"], message["total"], message["note"])
            self.tell(progress)
        else:
            del worker.tasks[id]
            worker.running = None
            self.on_finished(id, message)

    def on_finished(self, id: str, message: dict[str, Any]) -> None:
        """A stage is over: its users may start, or cannot."""
        outcome = message["outcome"]
        if outcome == "unloadable":
            self.redo_input(id, self.ids[message["input"]], message["reason"])
        elif outcome == "failed":
            self.fail(id, Failure(**message["failure"]), message["seconds"], message["peak_memory"])
        else:
            if outcome == "ran":
                module = self.schedule.stages[id].module
                self.means[module] = 0.7 * self.means.get(module, message["seconds"]) + 0.3 * message["seconds"]
            self.schedule.done(id)
            self.finish(id, outcome, message.get("seconds", 0.0), message.get("peak_memory"))

    def redo_input(self, id: str, input_id: str, reason: str) -> None:
        """An input cannot be used: compute it again, unless that has been tried."""
        self.losses[id, input_id] += 1
        if self.losses[id, input_id] > _ATTEMPTS or input_id in self.schedule.failed:
            self.fail(id, Failure("CorruptEntry", f"its input '{self.label(input_id)}' {reason}"))
            return
        if not self.schedule.is_open(input_id):  # else another of its users has said so
            self.tell(events.EntryDamaged(self.keys[input_id].hash, self.label(input_id), reason))
            self.outcome.forget(input_id)
        self.schedule.redo_input(id, input_id)

    def on_death(self, worker: ProcessWorker) -> None:
        """A worker died: the stage it ran gets another try, the rest of its batch goes back."""
        how = worker.how_it_ended()
        culprit = worker.running or next(iter(worker.tasks), None)
        for id in worker.tasks:
            if id != culprit:
                self.schedule.give_back(id)
        if culprit is None:
            return
        self.losses[culprit, "worker"] += 1
        retry = self.losses[culprit, "worker"] < _ATTEMPTS
        self.tell(events.WorkerDied(worker.process.pid, how, self.label(culprit), retry))
        if retry:
            self.schedule.give_back(culprit)
        else:
            text = f"its worker {how}, {_ATTEMPTS} times" + (f"; see {self.output}" if self.printed() else "")
            self.fail(culprit, Failure("WorkerDied", text))

    def fail(self, id: str, failure: Failure, seconds: float = 0.0, peak: int | None = None) -> None:
        """A stage has no result, and so its users have none."""
        lost = self.schedule.fail(id)
        self.finish(id, "failed", seconds, peak, failure)
        for user in lost:
            self.finish(user, "skipped", reason=f"needs '{self.label(id)}', which failed")
        if not self.keep_going and not self.stopping:
            self.stopping = True
            self.pool.stop()

    def finish(
        self,
        id: str,
        outcome: events.OutcomeName,
        seconds: float = 0.0,
        peak: int | None = None,
        failure: Failure | None = None,
        reason: str | None = None,
    ) -> None:
        """Write down what became of a stage, and tell."""
        if failure is not None:
            self.outcome.failed[id] = failure
        elif reason is not None:
            self.outcome.skipped[id] = reason
        else:
            getattr(self.outcome, outcome).append(id)
        key, kind = self.keys[id], self.schedule.stages[id].kind
        device = key.parts.get("device")
        self.tell(
            events.StageFinished(
                id, key.hash, self.label(id), kind, outcome, seconds, peak, device and str(device), failure, reason
            )
        )

    def label(self, id: str) -> str:
        """A stage's name for people."""
        stage = self.schedule.stages[id]
        return stage.label or f"{stage.kind} {id[:8]}"

    def printed(self) -> str | None:
        """The file with what the stages printed, if they did; an empty one is removed."""
        if self.output.exists() and not self.output.stat().st_size and not self.pool.workers:
            self.output.unlink()
        return str(self.output) if self.output.exists() and self.output.stat().st_size else None
