"""Running a plan: what is stored is used, what is not is computed by workers, and every stage is accounted for."""

from __future__ import annotations

import os
import time
from collections import Counter, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from wmlab.core.memory import usable_memory
from wmlab.errors import UsageError
from wmlab.graph.key import Key
from wmlab.graph.stage import Stages
from wmlab.runtime import events
from wmlab.runtime.batches import Batches
from wmlab.runtime.budget import Budget
from wmlab.runtime.cache import format_duration, format_size
from wmlab.runtime.estimates import Estimator
from wmlab.runtime.events import Failure, Listener, Outcome, OutcomeName
from wmlab.runtime.interrupts import interruptible
from wmlab.runtime.limits import StageLimits
from wmlab.runtime.pool import Pool
from wmlab.runtime.schedule import StageSchedule, VerifiedEntries
from wmlab.runtime.spares import Spares
from wmlab.runtime.store import Store
from wmlab.runtime.workers import ProcessWorker, Worker

_CHECK_FIRST, _CHECK = 1.0, 0.2  # seconds of looking at stored results before the first stage, and between others
_REDONE = 2  # how often an input that gets lost is made again for one stage


def execute(
    stages: Stages,
    keys: Mapping[str, Key],
    store: Store,
    *,
    jobs: int = 1,
    keep_going: bool = False,
    limits: StageLimits = StageLimits(),  # noqa: B008 - it is frozen
    events: Listener = lambda event: None,
    output: Path | None = None,
    spares: Spares | None = None,
    seconds: Mapping[str, float] | None = None,
    wanted: Collection[str] | None = None,
    estimator: Estimator | None = None,
    until: float | None = None,
    ranks: Mapping[str, int] | None = None,
) -> Outcome:
    """Compute what the store does not have, with up to `jobs` worker processes (0: in this process).

    `limits` say what a stage may take, and how often it is tried; what ends a stage needs a process to end. `events` is
    called with a record of each thing that happens. What stages print goes to the file `output`. Workers come from
    `spares`, where there are some, and go back there. `seconds` are what stages are expected to take, by id, where that
    is known: those with most ahead of them start first. `wanted` are the ids of the stages whose results are asked for
    (all, if not said): of the others, those are done which they need. By `estimator` a run tells the time that is left.
    `until` a moment of time.monotonic() nothing is begun that would not end by then, and then nothing goes on. Stages
    of the least of `ranks` start first. Raises KeyboardInterrupt on SIGINT and SIGTERM, with the workers ended; what
    was finished by then is in the store. The caller holds the entries (`store.holding`) for as long as it needs them.
    CacheError where there is something to compute and the store cannot be written.
    """
    if limits.need_a_process and not jobs:
        raise UsageError("--timeout and --memory end a stage's process, and --jobs 0 has none: say --jobs 1 or more")
    output = output or store.root / "runs" / f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.out"
    with interruptible():
        budget = Budget(stages, jobs, estimator, until)
        given = (stages, keys, store, jobs, keep_going, limits, events, output, spares, seconds, wanted)
        return Execution(*given, budget, ranks).go()


class Execution:
    """The execution of a plan: the schedule, the pool, and what has happened so far."""

    def __init__(
        self,
        stages: Stages,
        keys: Mapping[str, Key],
        store: Store,
        jobs: int,
        keep_going: bool,
        limits: StageLimits,
        tell: Listener,
        output: Path,
        spares: Spares | None = None,
        seconds: Mapping[str, float] | None = None,
        wanted: Collection[str] | None = None,
        budget: Budget | None = None,
        ranks: Mapping[str, int] | None = None,
    ):
        self.stages, self.keys, self.store, self.output = stages, keys, store, output
        self.jobs, self.keep_going, self.limits, self.tell = jobs, keep_going, limits, tell
        self.ids = {keys[id].hash: id for id in stages}
        labels = {keys[id].hash: stage.label for id, stage in stages.items()}
        self.entries = VerifiedEntries(store, labels, tell)
        self.budget = budget or Budget(stages, jobs)
        self.schedule = StageSchedule(stages, keys, self.entries, wanted, seconds, self.entries.has, ranks)
        self.unchecked = deque(self.schedule.cached)  # what nobody here needs is looked at while others work
        self.batches = Batches(self.schedule, keys, jobs)
        self.pool = Pool(store, jobs, keep_going, output, limits, tell, spares)
        self.outcome = Outcome()
        self.losses: Counter[tuple[str, str]] = Counter()  # (stage, input that was lost): how often
        self.tries: Counter[str] = Counter()  # stage: how often it went wrong in a way that may pass
        self.stopping = False

    def go(self) -> Outcome:
        """Do everything that can be done."""
        whole = self.check_cached(_CHECK_FIRST)
        if self.schedule.open:
            self.store.prepare()
        clock = time.monotonic()
        kinds = Counter(self.stages[id].kind for id in self.schedule.open)
        cached = len(self.schedule.cached)
        self.tell(events.RunStarted(kinds.total() + cached, cached, self.jobs, kinds))
        if self.limits.memory and kinds and self.limits.memory * self.jobs > usable_memory():
            allowed = f"{self.jobs} stages of {format_size(self.limits.memory)} at once"
            self.tell(events.Notice(f"--memory allows {allowed}, and there are {format_size(usable_memory())} in all"))
        interrupted = True
        try:
            self.are_cached(whole)
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
            self.are_cached(self.check_cached(_CHECK if self.pool.busy else None))
            if not self.pool.busy and (self.stopping or not self.schedule.heads()):
                break
            if self.budget.is_over:
                self.are_cached(self.check_cached(None))
                break
            self.pool.wait(self.on_message, self.on_death, at_once=bool(self.unchecked))
            if (left := self.budget.time_left(self.schedule.open)) is not None:
                self.tell(events.TimeLeft(left))
        if not self.stopping:
            self.leave(self.schedule.open)
            return
        for id in self.schedule.open:
            first = self.stages[next(iter(self.outcome.failed))].label
            self.finish(id, "skipped", reason=f"the run stopped when '{first}' failed")

    def leave(self, ids: Sequence[str]) -> None:
        """The time is over: these stages are for another run."""
        if ids:
            self.outcome.left = list(ids)
            kinds = Counter(self.stages[id].kind for id in ids)
            ended = tuple(self.stages[id].label for id in ids if id in self.budget.running)
            seconds = self.budget.seconds(ids)
            takes = "" if seconds is None else format_duration(max(seconds, 1.0))
            self.tell(events.BudgetSpent(kinds, takes, ended))

    def check_cached(self, seconds: float | None) -> list[str]:
        """Look at stored results that nobody here needs, for so long or to the end; those that are whole."""
        deadline = None if seconds is None else time.monotonic() + seconds
        whole = []
        while self.unchecked and (deadline is None or time.monotonic() < deadline):
            id = self.unchecked.popleft()
            if id in self.schedule.cached:  # else it is being made again
                if self.entries(self.keys[id].hash):
                    whole.append(id)
                else:
                    self.schedule.reopen(id)
        return whole

    def are_cached(self, ids: Iterable[str]) -> None:
        """These stages have their results already."""
        for id in ids:
            self.store.touch(self.keys[id].hash)
            self.finish(id, "cached")

    def dispatch(self) -> bool:
        """Give one worker something to do; False when there is nothing, or nobody to do it."""
        for place, head in enumerate(self.schedule.heads()):
            if place and head.long:
                continue  # while a stage waits for more cores, only small ones go before it, or it would wait for ever
            if not self.budget.allows(head.id):
                self.schedule.set_aside(head.cores)
                return True
            if worker := self.pool.idle(head.cores):
                self.pool.send(worker, self.batches.take(head.cores))
                return True
        return False

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
            event = getattr(events, kind)(**message)
            self.budget.hear(event)
            self.tell(event)

    def on_finished(self, id: str, outcome: str, **more: Any) -> None:
        """A stage is over: its users may start, or cannot."""
        if outcome == "unloadable":
            self.redo_input(id, self.ids[more["input"]], more["reason"])
        elif outcome == "failed":
            failure = Failure(**more.pop("failure"))
            if more.pop("transient", False) and self.may_retry(id):
                attempt, attempts = self.tries[id] + 1, self.limits.retries + 1
                self.tell(events.StageRetried(id, self.stages[id].label, failure, attempt, attempts))
                self.schedule.make_ready(id)
            else:
                self.fail(id, failure, **more)
        else:
            if outcome == "ran":
                self.batches.learn(self.stages[id], more["seconds"])
                self.budget.learn(id, more["seconds"], more.get("peak_memory"))
                self.schedule.bring_back(self.stages[id].module)
            self.schedule.done(id)
            self.finish(id, outcome, **more)  # type: ignore[arg-type]

    def redo_input(self, id: str, input_id: str, reason: str) -> None:
        """An input cannot be used: compute it again, unless that has been tried."""
        self.losses[id, input_id] += 1
        label = self.stages[input_id].label
        if self.losses[id, input_id] > _REDONE or input_id in self.schedule.failed:
            self.fail(id, Failure("CorruptEntry", f"its input '{label}' {reason}"))
            return
        if input_id not in self.schedule.open:  # else another of its users has said so
            self.tell(events.EntryDamaged(self.keys[input_id].hash, label, reason))
            self.outcome.forget(input_id)
        self.schedule.redo_input(id, input_id)

    def may_retry(self, id: str) -> bool:
        """A stage went wrong in a way that may pass: whether it gets another try."""
        self.tries[id] += 1
        return self.tries[id] <= self.limits.retries and not self.stopping

    def on_death(self, worker: ProcessWorker) -> None:
        """A worker died: the stage it ran fails or gets another try, the rest of its batch goes back."""
        ending = worker.ending
        culprit = ending.stage if ending else worker.running or next(iter(worker.tasks), None)
        for id in worker.tasks:
            if id != culprit:
                self.schedule.make_ready(id)
        if culprit not in worker.tasks:  # it has no stage, or was done with it at the last moment
            return
        cost = {"seconds": round(worker.seconds_at_stage, 3), "peak_memory": worker.vitals.peak or None}
        if ending:
            self.fail(culprit, Failure(ending.failure.type, worker.with_last_words(ending.failure.message)), **cost)
            if not self.pool.has_started:
                self.stop()  # no worker could be started: none of the other stages would fare better
            return
        how = worker.how_it_ended()
        retry = self.may_retry(culprit)
        self.tell(events.WorkerDied(worker.process.pid, how, self.stages[culprit].label, retry))
        if retry:
            self.schedule.make_ready(culprit)
        else:
            how = f"its worker {how}" if self.tries[culprit] == 1 else f"{self.tries[culprit]} times its worker {how}"
            self.fail(culprit, Failure("WorkerDied", worker.with_last_words(how)), **cost)

    def fail(self, id: str, failure: Failure, **cost: Any) -> None:
        """A stage has no result, and so its users have none."""
        lost = self.schedule.fail(id)
        self.outcome.failed[id] = failure
        self.finish(id, "failed", failure=failure, **cost)
        for user in lost:
            self.finish(user, "skipped", reason=f"needs '{self.stages[id].label}', which failed")
        if not self.keep_going:
            self.stop()

    def stop(self) -> None:
        """Begin no other stage."""
        if not self.stopping:
            self.stopping = True
            self.pool.stop()

    def finish(self, id: str, outcome: OutcomeName, **more: Any) -> None:
        """Write down what became of a stage, and tell; `more` are fields of StageFinished."""
        if outcome in ("ran", "cached"):
            getattr(self.outcome, outcome).append(id)
        elif outcome == "skipped":
            self.outcome.skipped[id] = more["reason"]
        self.budget.running.pop(id, None)
        key, stage = self.keys[id], self.stages[id]
        device = key.parts.get("device")
        more["device"] = device and str(device)
        self.tell(events.StageFinished(id, key.hash, stage.label, stage.kind, outcome, **more))

    def printed(self) -> str | None:
        """The file with what the stages printed, if they did; an empty one is removed."""
        if self.output.exists() and not self.output.stat().st_size and not self.pool.workers:
            self.output.unlink()
        return str(self.output) if self.output.exists() and self.output.stat().st_size else None
