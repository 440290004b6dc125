"""Running a plan: what is stored is used, what is not is computed by workers, and every stage is accounted for."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from wmlab.graph.key import Key
from wmlab.graph.stage import Stage, Stages, canonical
from wmlab.runtime import events
from wmlab.runtime.events import Failure, Listener, Outcome, OutcomeName
from wmlab.runtime.pool import Pool, ProcessWorker, Worker
from wmlab.runtime.schedule import StageSchedule, VerifiedEntries
from wmlab.runtime.store import Store
from wmlab.runtime.work import StageTask

_BATCH = 32  # stages sent to a worker at once, at most
_BATCH_SECONDS = 0.25  # and not more work than this, as far as one can tell
_ATTEMPTS = 2  # for a stage whose worker dies, or whose inputs get lost


def execute(
    stages: Stages,
    keys: Mapping[str, Key],
    store: Store,
    *,
    jobs: int = 1,
    keep_going: bool = False,
    events: Listener = lambda event: None,
    output: Path | None = None,
) -> Outcome:
    """Compute what the store does not have, with up to `jobs` worker processes (0: in this process).

    `events` is called with a record of each thing that happens. What stages print goes to the file `output`. Raises
    KeyboardInterrupt on SIGINT and SIGTERM, with the workers ended; what was finished by then is in the store. The
    caller holds the entries (`store.holding`) for as long as it needs them. CacheError where there is something to
    compute and the store cannot be written.
    """
    output = output or store.root / "runs" / f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.out"
    with _interruptible():
        return Execution(stages, keys, store, jobs, keep_going, events, output).go()


@contextmanager
def _interruptible() -> Iterator[None]:
    """Treat SIGTERM as Ctrl-C, where the program can be told (in the main thread)."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    # A signal that is ignored (a job in the background of a script) stays so.
    heeded = [number for number in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, interrupt) for number in heeded}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)


class Execution:
    """The execution of a plan: the schedule, the pool, and what has happened so far."""

    def __init__(
        self,
        stages: Stages,
        keys: Mapping[str, Key],
        store: Store,
        jobs: int,
        keep_going: bool,
        tell: Listener,
        output: Path,
    ):
        self.stages, self.keys, self.store, self.output = stages, keys, store, output
        self.jobs, self.keep_going, self.tell = jobs, keep_going, tell
        self.ids = {keys[id].hash: id for id in stages}
        labels = {keys[id].hash: stage.label for id, stage in stages.items()}
        self.schedule = StageSchedule(stages, keys, VerifiedEntries(store, labels, tell))
        self.pool = Pool(store, jobs, keep_going, output, lambda text: tell(events.Notice(text)))
        self.outcome = Outcome()
        self.means: dict[str, float] = {}  # module: seconds of a stage, a running mean
        self.losses: Counter[tuple[str, str]] = Counter()  # (stage, what was lost): how often
        self.stopping = False

    def go(self) -> Outcome:
        """Do everything that can be done."""
        if self.schedule.open:
            self.store.prepare()
        clock = time.monotonic()
        kinds = Counter(self.stages[id].kind for id in self.schedule.open)
        cached = len(self.schedule.cached)
        self.tell(events.RunStarted(kinds.total() + cached, cached, self.jobs, kinds))
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
            while not self.stopping and self.dispatch():
                pass
            if not self.pool.busy:
                break
            self.pool.wait(self.on_message, self.on_death)
        for id in self.schedule.open:
            first = self.stages[next(iter(self.outcome.failed))].label
            self.finish(id, "skipped", reason=f"the run stopped when '{first}' failed")

    def dispatch(self) -> bool:
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
        """A worker says something: that it is idle, what became of a stage, or an event to pass on."""
        kind = message.pop("type")
        if kind == "idle":
            for id in worker.tasks:  # a batch that was cut short
                self.schedule.make_ready(id)
            worker.tasks, worker.running, worker.busy = {}, None, False
        elif kind == "finished":
            id = message.pop("id")
            del worker.tasks[id]
            worker.running = None
            self.on_finished(id, **message)
        else:
            worker.running = message.get("id", worker.running)
            self.tell(getattr(events, kind)(**message))

    def on_finished(self, id: str, outcome: str, **more: Any) -> None:
        """A stage is over: its users may start, or cannot."""
        if outcome == "unloadable":
            self.redo_input(id, self.ids[more["input"]], more["reason"])
        elif outcome == "failed":
            self.fail(id, Failure(**more.pop("failure")), **more)
        else:
            if outcome == "ran":
                module, seconds = self.stages[id].module, more["seconds"]
                self.means[module] = 0.7 * self.means.get(module, seconds) + 0.3 * seconds
            self.schedule.done(id)
            self.finish(id, outcome, **more)  # type: ignore[arg-type]

    def redo_input(self, id: str, input_id: str, reason: str) -> None:
        """An input cannot be used: compute it again, unless that has been tried."""
        self.losses[id, input_id] += 1
        label = self.stages[input_id].label
        if self.losses[id, input_id] > _ATTEMPTS or input_id in self.schedule.failed:
            self.fail(id, Failure("CorruptEntry", f"its input '{label}' {reason}"))
            return
        if input_id not in self.schedule.open:  # else another of its users has said so
            self.tell(events.EntryDamaged(self.keys[input_id].hash, label, reason))
            self.outcome.forget(input_id)
        self.schedule.redo_input(id, input_id)

    def on_death(self, worker: ProcessWorker) -> None:
        """A worker died: the stage it ran gets another try, the rest of its batch goes back."""
        how = worker.how_it_ended()
        culprit = worker.running or next(iter(worker.tasks), None)
        for id in worker.tasks:
            if id != culprit:
                self.schedule.make_ready(id)
        if culprit is None:
            return
        self.losses[culprit, "worker"] += 1
        retry = self.losses[culprit, "worker"] < _ATTEMPTS
        self.tell(events.WorkerDied(worker.process.pid, how, self.stages[culprit].label, retry))
        if retry:
            self.schedule.make_ready(culprit)
        else:
            text = f"its worker {how}, {_ATTEMPTS} times" + (f"; see {self.output}" if self.printed() else "")
            self.fail(culprit, Failure("WorkerDied", text))

    def fail(self, id: str, failure: Failure, **cost: Any) -> None:
        """A stage has no result, and so its users have none."""
        lost = self.schedule.fail(id)
        self.outcome.failed[id] = failure
        self.finish(id, "failed", failure=failure, **cost)
        for user in lost:
            self.finish(user, "skipped", reason=f"needs '{self.stages[id].label}', which failed")
        if not self.keep_going and not self.stopping:
            self.stopping = True
            self.pool.stop()

    def finish(self, id: str, outcome: OutcomeName, **more: Any) -> None:
        """Write down what became of a stage, and tell; `more` are fields of StageFinished."""
        if outcome in ("ran", "cached"):
            getattr(self.outcome, outcome).append(id)
        elif outcome == "skipped":
            self.outcome.skipped[id] = more["reason"]
        key, stage = self.keys[id], self.stages[id]
        device = key.parts.get("device")
        more["device"] = device and str(device)
        self.tell(events.StageFinished(id, key.hash, stage.label, stage.kind, outcome, **more))

    def printed(self) -> str | None:
        """The file with what the stages printed, if they did; an empty one is removed."""
        if self.output.exists() and not self.output.stat().st_size and not self.pool.workers:
            self.output.unlink()
        return str(self.output) if self.output.exists() and self.output.stat().st_size else None
