"""Running a plan on a cluster: jobs are put on record, submitted, watched, and begun again where they died.

Whatever the engine says, and however often, a stage is done when its result is in the store, and a job is over when its
worker said so or nobody can find it any more.
"""

from __future__ import annotations

import os
import socket
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from secrets import token_hex
from typing import Any, TypeVar

from wmlab.cluster.engine import FATES, Engine, EngineBusy, EngineRefusal, JobState
from wmlab.cluster.file import Cluster
from wmlab.cluster.jobs import Job, Resources, plan_jobs
from wmlab.cluster.live import LiveJob, cancel_jobs
from wmlab.cluster.records import JobRecord, JobTask, Owner, Records, Submission, closure, surroundings
from wmlab.cluster.worker import STOP
from wmlab.errors import SpecErrors
from wmlab.graph.key import Key
from wmlab.graph.stage import Stages
from wmlab.runtime import events
from wmlab.runtime.cache import format_duration, format_size
from wmlab.runtime.estimates import StageCost
from wmlab.runtime.events import Failure, Listener, Outcome, OutcomeName
from wmlab.runtime.interrupts import interruptible
from wmlab.runtime.schedule import StageSchedule, VerifiedEntries
from wmlab.runtime.store import Store

T = TypeVar("T")
TICK = 0.3  # seconds between two looks at what jobs have written
LATE = 60.0  # seconds in which a result that was stored elsewhere has to be seen here
PAUSES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0)  # seconds after each time that an engine was busy
CHECK_FIRST = 1.0  # seconds of looking at stored results before the first job
REST = 3  # times that a stage may be left when all jobs are over


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
) -> Outcome:
    """Compute what the store does not have by jobs on an engine; as `execute` does with workers of this machine.

    KeyboardInterrupt on SIGINT and SIGTERM, with the jobs of this run cancelled. SpecErrors, before anything is
    submitted, where the engine cannot do what the cluster file says.
    """
    with interruptible():
        return Dispatch(engine, stages, keys, store, cluster, list(chains), run, spec, keep_going, events, costs).go()


class Dispatch:
    """The jobs of a run, and what has happened so far."""

    def __init__(
        self,
        engine: Engine,
        stages: Stages,
        keys: Mapping[str, Key],
        store: Store,
        cluster: Cluster,
        chains: Sequence[Sequence[str]],
        run: str,
        spec: str,
        keep_going: bool,
        tell: Listener,
        costs: Mapping[str, StageCost] | None,
    ):
        self.engine, self.stages, self.keys, self.store = engine, stages, keys, store
        self.cluster, self.chains, self.run, self.spec = cluster, chains, run, spec
        self.keep_going, self.tell, self.costs = keep_going, tell, costs
        self.records = Records(store.root)
        self.owner = Owner(run, os.getpid(), socket.gethostname())
        labels = {keys[id].hash: stage.label for id, stage in stages.items()}
        self.ids = {keys[id].hash: id for id in stages}
        self.entries = VerifiedEntries(store, labels, tell)
        self.schedule = StageSchedule(stages, keys, self.entries, has=self.entries.has)
        self.unchecked = deque(self.schedule.cached)  # what no job needs is looked at while jobs are at work
        self.left = dict.fromkeys(self.schedule.open)
        self.outcome = Outcome()
        self.planned: dict[Job, list[str]] = {}  # job: the stages of other jobs that it cannot begin without
        self.live: dict[str, LiveJob] = {}  # by the job's id
        self.told: set[tuple[str, str]] = set()  # (stage, event) that was passed on
        self.retries: Counter[str] = Counter()  # job: how often it died
        self.not_before: dict[str, float] = {}  # job: when it may be submitted again
        self.waiting: list[LiveJob] = []  # to be submitted again
        self.has_planned = False
        self.rested: Counter[str] = Counter()  # stage: how often it was left when all jobs were over
        self.stopping = False
        self.looked = 0.0
        self.busy = 0  # how often in a row the engine was busy
        self.busy_until = 0.0

    # --- the run ---------------------------------------------------------------------------------------------------

    def go(self) -> Outcome:
        """Do everything that can be done."""
        whole = self.check_cached(CHECK_FIRST)
        if self.left:
            self.store.prepare()
        clock = time.monotonic()
        kinds = Counter(self.stages[id].kind for id in self.left)
        cached = len(self.stages) - len(self.left)
        self.tell(events.RunStarted(len(self.stages), cached, self.cluster.options.at_once, kinds))
        interrupted = True
        try:
            self.are_cached(whole)
            self.attach()
            self.plan()
            self.loop()
            self.see_off()
            interrupted = False
        except KeyboardInterrupt:
            self.cancel_mine()
            raise
        finally:
            seconds = round(time.monotonic() - clock, 3)
            self.tell(events.RunFinished(self.outcome.counts, seconds, interrupted, None))
        return self.outcome

    def loop(self) -> None:
        """Submit and watch until nothing is left."""
        while self.left or self.unchecked:
            self.submit_some()
            self.are_cached(self.check_cached(TICK if self.left else None))
            if not self.live and not self.waiting and not self.may_submit() and not self.plan_rest():
                break
            time.sleep(TICK)
            self.read()
            self.look()
        self.are_cached(self.check_cached(None))
        for id in list(self.left):
            reason = "the run stopped"
            if self.outcome.failed:
                reason = f"the run stopped when '{self.stages[next(iter(self.outcome.failed))].label}' failed"
            self.finish(id, "skipped", reason=reason)

    def check_cached(self, seconds: float | None) -> list[str]:
        """Look at stored results that no job needs, for so long or to the end; those that are whole."""
        deadline = None if seconds is None else time.monotonic() + seconds
        whole = []
        while self.unchecked and (deadline is None or time.monotonic() < deadline):
            id = self.unchecked.popleft()
            if self.entries(self.keys[id].hash):
                whole.append(id)
            elif id not in self.left:
                self.left[id] = None
                self.replan([id] if self.has_planned else [])
        return whole

    def are_cached(self, ids: Iterable[str]) -> None:
        """These stages have their results already."""
        for id in ids:
            self.store.touch(self.keys[id].hash)
            self.finish(id, "cached")

    def see_off(self) -> None:
        """Wait until the jobs of this run have said that they are over; cancel those that take long to do so."""
        deadline = time.monotonic() + LATE
        while time.monotonic() < deadline and any(live.is_mine for live in self.live.values()):
            time.sleep(TICK)
            self.read()
            self.look()
        self.cancel([live for live in self.live.values() if live.is_mine], "its work was done")
        for live in self.waiting:
            self.over(live, "done")

    def attach(self) -> None:
        """Take up the jobs that are on record for stages of this plan, also those that have done their work."""
        if not self.records.open_jobs():
            return
        with self.records.guard():
            for record in self.records.open_jobs():
                if not self.ids.keys().isdisjoint(record.hashes().values()):
                    self.take_up(record)
        orphans = sum(live.is_mine for live in self.live.values())
        others = len(self.live) - orphans
        if orphans:
            self.tell(events.Notice(f"{counted(orphans, 'job')} of an earlier run {are(orphans)} taken up again"))
        if others:
            self.tell(events.Notice(f"{counted(others, 'job')} of another run {are(others)} waited for"))

    def take_up(self, record: JobRecord) -> None:
        """Watch a job that is on record; look after it from now on, where nobody else does."""
        wanted = tuple(self.ids[hash] for hash in record.hashes().values() if hash in self.ids)
        owner = record.owner
        is_mine = owner is None or owner.is_this_process or not owner.is_alive
        if is_mine:
            record.own(self.owner)
        task = record.task()
        holds = tuple(id for id in task.stages if id in self.stages) if task else wanted
        resources = task.resources if task else Resources()
        live = LiveJob(record, wanted, holds, record.attempt, record.submission, is_mine, resources)
        if live.submission is not None and live.submission.attempt != live.attempt:
            live.submission = None
        if is_mine and not live.attempt:  # put on record, and never submitted
            self.waiting.append(live)
            return
        self.live[record.id] = live
        self.change(live, "attached")

    def plan(self) -> None:
        """Make jobs of what no job on record answers for; SpecErrors where the engine could not do them."""
        taken = {id for live in self.live.values() for id in live.wanted}
        left = {id: None for id in self.left if id not in taken}
        self.replan(left)
        self.has_planned = True
        if self.planned and (errors := self.asking(lambda: self.engine.check(list(self.planned)))):
            raise SpecErrors(errors)

    def asking(self, ask: Callable[[], T]) -> T:
        """What the engine answers, however long it is busy."""
        while True:
            try:
                return ask()
            except EngineBusy as error:
                self.is_busy(error)
                time.sleep(max(0.0, self.busy_until - time.monotonic()))

    def is_busy(self, error: EngineBusy) -> None:
        """Leave the engine alone for a while, and longer each time."""
        pause = PAUSES[min(self.busy, len(PAUSES) - 1)]
        if self.busy in (0, 3) or self.busy % 10 == 9:
            self.tell(events.Notice(f"{error}; asking again in {format_duration(pause)}"))
        self.busy += 1
        self.busy_until = time.monotonic() + pause

    # --- submitting ------------------------------------------------------------------------------------------------

    def may_submit(self) -> bool:
        """Whether there are jobs that are yet to be submitted."""
        return bool(self.planned) and not self.stopping

    def submit_some(self) -> None:
        """Submit jobs that can begin, as many as may be at once: again those that died, then the longest way first."""
        now = time.monotonic()
        if now < self.busy_until:
            return
        for live in [one for one in self.waiting if self.not_before.get(one.record.id, 0.0) <= now]:
            if self.stopping:
                self.waiting.remove(live)
                self.over(live, "cancelled", "the run stopped")
            elif self.has_room():
                self.waiting.remove(live)
                self.submit(live)
        for job in list(self.planned) if self.has_room() else ():
            if self.stopping or not self.has_room() or time.monotonic() < self.busy_until:
                return
            if self.is_ready(job):
                del self.planned[job]
                self.start(job)

    def has_room(self) -> bool:
        return sum(live.is_mine for live in self.live.values()) < self.cluster.options.at_once

    def is_ready(self, job: Job) -> bool:
        """Whether all that a job cannot begin without is done, or is known not to come."""
        self.planned[job] = [id for id in self.planned[job] if id in self.left]
        return not self.planned[job]

    def start(self, job: Job) -> None:
        """Put a job on record, unless another run has done so, and submit it."""
        wanted = tuple(id for id in job.stages if id in self.left)
        if not wanted:
            return
        with self.records.guard():
            taken = {job.id for job in self.records.open_jobs()} - set(self.live)
            for record in (JobRecord(self.store.root, id) for id in sorted(taken)):
                if {self.keys[id].hash for id in wanted} <= set(record.hashes().values()):
                    self.take_up(record)
                    return
            record = self.records.new(self.run)
            record.create(self.task(record, job, wanted), self.owner)
        holds = tuple(closure(self.stages, wanted))
        self.submit(LiveJob(record, wanted, holds, 0, None, True, job.resources))

    def task(self, record: JobRecord, job: Job, wanted: tuple[str, ...]) -> JobTask:
        needed = closure(self.stages, wanted)
        lines = {key: self.cluster.line(key) for key in ("memory", "time")}
        return JobTask(
            record.id,
            token_hex(8),
            self.cluster.engine,
            self.spec,
            {id: self.stages[id] for id in needed},
            {id: self.keys[id].hash for id in needed},
            {id: surroundings(self.keys[id]) for id in needed},
            wanted,
            job.resources,
            self.keep_going,
            timer=None if self.engine.has_clock else job.resources.time,
            lines=lines,
        )

    def submit(self, live: LiveJob) -> None:
        """Submit a job for the next time."""
        self.live[live.record.id] = live
        task = live.record.task()
        if task is None:
            self.fail_job(live, "JobLost", f"the record of job {live.record.id} cannot be read")
            return
        live.forget()
        live.attempt = live.record.attempt + 1
        live.record.intend(live.attempt)
        try:
            engine_id = self.engine.submit(live.name, live.record.id, task.token, live.attempt, live.resources)
        except EngineBusy as error:
            self.is_busy(error)  # it may have arrived all the same: the next look finds it by its name, or nothing
        except EngineRefusal as error:
            where = f" ({self.cluster.line(error.key)})" if error.key else ""
            self.fail_job(live, "JobRefused", f"{self.cluster.engine} refused the job: {error}{where}")
        else:
            self.busy = 0
            self.know(live, engine_id)

    def know(self, live: LiveJob, engine_id: str) -> None:
        """Put the engine's id of a submission on record."""
        log = str(self.engine.log(live.record.id, engine_id))
        live.submission = Submission(live.attempt, engine_id, log, round(time.time(), 3))
        live.unseen = None
        live.record.submitted(live.submission)
        self.change(live, "submitted")

    # --- watching --------------------------------------------------------------------------------------------------

    def read(self) -> None:
        """Take note of what jobs have written."""
        for live in list(self.live.values()):
            for event in live.record.new_events():
                self.hear(live, event)
            for told in live.record.progress():
                if told.get("id") in live.running:
                    with suppress(TypeError):
                        self.tell(events.StageProgress(**told))
            ended = live.record.ended(live.attempt)
            if ended is not None:
                self.on_end(live, ended)

    def hear(self, live: LiveJob, event: dict[str, Any]) -> None:
        """Something that a job's worker has said; it may be said twice, and of another submission."""
        kind, id = event.get("type"), str(event.get("id", ""))
        if kind == "begin":
            live.state, live.began, live.finished, live.running = "running", live.began + 1, 0, {}
        elif kind == "StageStarted" and id in self.left:
            label = self.stages[id].label
            live.running[id] = label
            if (live.name, id) not in self.told:
                self.told.add((live.name, id))
                self.tell(events.StageStarted(id, label, int(event.get("pid", 0)), self.stages[id].kind))
        elif kind == "StageFinished":
            live.running.pop(id, None)
            live.finished += 1
            self.on_finished(live, id, event)
        elif kind == "Notice":
            self.tell(events.Notice(str(event.get("text", ""))))

    def on_finished(self, live: LiveJob, id: str, event: Mapping[str, Any]) -> None:
        """A stage is over, says a job: the store tells whether it has its result."""
        if id not in self.left:
            return
        outcome = event.get("outcome")
        if outcome in ("ran", "cached") and self.store.has(self.keys[id]):
            more = {name: event[name] for name in ("seconds", "peak_memory") if event.get(name) is not None}
            self.finish(id, "ran", **(more if outcome == "ran" else {}))
        elif outcome == "failed":
            failure = event.get("failure") or {}
            if failure.get("type") == "OutOfMemory" and self.may_have_more_memory(live):
                live.lacks_memory = True  # it is going to be submitted again, with more
                return
            self.fail(id, Failure(**{name: str(failure.get(name, "")) for name in ("type", "message", "traceback")}))

    def on_end(self, live: LiveJob, ended: Mapping[str, Any]) -> None:
        """A worker said how its job ended."""
        state = ended.get("state")
        self.take_results(live)
        for id, failure in dict(ended.get("failed") or {}).items():
            self.on_finished(live, id, {"outcome": "failed", "failure": failure})
        open_ids = [id for id in live.wanted if id in self.left]
        if state == "refused":
            self.fail_job(live, str(ended.get("type", "JobRefused")), str(ended.get("reason", "")))
        elif state == "stopped":
            self.on_death(
                live, str(ended.get("reason") or "was interrupted"), live.finished > 0 or self.has_partial(live)
            )
        elif not open_ids:
            self.over(live, "failed" if ended.get("failed") else "done")
        else:
            self.on_unfinished(live, ended, open_ids)

    def take_results(self, live: LiveJob) -> None:
        """Whatever was said of a job's stages, or was not: what is stored is done."""
        for id in live.holds:
            if id in self.left and self.store.has(self.keys[id]):
                self.finish(id, "ran")

    def on_unfinished(self, live: LiveJob, ended: Mapping[str, Any], open_ids: Sequence[str]) -> None:
        """A job has ended, and some of its stages have no result here."""
        said = {*ended.get("ran", ()), *ended.get("cached", ())}
        late = [id for id in open_ids if id in said]
        if late:
            live.late_since = live.late_since or time.monotonic()
            if time.monotonic() - live.late_since < LATE:
                return  # a file system may be a while behind
            label = self.stages[late[0]].label
            self.fail_job(
                live,
                "StoreNotShared",
                f"the job stored '{label}' on {ended.get('host')}, and after {LATE:.0f} s it is not seen here: the "
                f"cache {self.store.root} has to lie on a file system that all machines see (WMLAB_HOME)",
            )
            return
        if live.lacks_memory:
            live.resources = replace(live.resources, memory=self.cluster.memory)
            self.again(live, "took more memory than was expected", counts=False)
            return
        self.over(live, "failed", "a stage failed")
        if self.keep_going or not self.outcome.failed:
            self.replan(open_ids)

    def may_have_more_memory(self, live: LiveJob) -> bool:
        """Whether a job asked for less than the cluster file allows."""
        asked, most = live.resources.memory, self.cluster.memory
        return asked is not None and most is not None and asked < most

    def look(self) -> None:
        """Ask the engine which jobs it still has."""
        now = time.monotonic()
        if not self.live or now - self.looked < self.engine.poll or now < self.busy_until:
            return
        self.looked = now
        try:
            nameless = {live.name: live for live in self.live.values() if live.submission is None}
            if nameless:
                for name, engine_id in self.engine.find(list(nameless)).items():
                    if name in nameless:
                        self.know(nameless[name], engine_id)
            known = {live.submission.engine_id: live for live in self.live.values() if live.submission is not None}
            states = self.engine.look(list(known)) if known else {}
        except EngineBusy as error:
            self.is_busy(error)
            return
        self.busy = 0
        for live in list(self.live.values()):
            state = states.get(live.submission.engine_id) if live.submission else None
            self.on_state(live, state)

    def on_state(self, live: LiveJob, state: JobState | None) -> None:
        """What the engine says of a job; None where it does not know it (any more, or yet)."""
        now = time.monotonic()
        if state is not None and state.state != "ended":
            live.state, live.unseen = state.state, None
            if state.words and ("waits", state.words) not in self.told:
                self.told.add(("waits", state.words))
                self.tell(events.Notice(f"job {live.engine_id} waits: {state.words}"))
            return
        if live.unseen is None:
            live.unseen = now
        # The worker's last words may be on their way: a file system is slower than a scheduler.
        patience = min(3.0, self.engine.patience) if state is not None else self.engine.patience
        if now - live.unseen < patience:
            return
        for event in live.record.new_events():
            self.hear(live, event)
        ended = live.record.ended(live.attempt)
        if ended is not None:
            self.on_end(live, ended)
        elif (closed := live.record.closed) is not None:
            self.on_closed(live, closed)
        elif live.submission is None:
            self.again(live, "never arrived", counts=False)
        else:
            self.on_lost(live, state or JobState("ended"))

    def on_closed(self, live: LiveJob, closed: Mapping[str, Any]) -> None:
        """Someone else noted that a job is over: what it did not do is planned anew, unless it was cancelled."""
        del self.live[live.record.id]
        self.take_results(live)
        open_ids = [id for id in live.wanted if id in self.left]
        if closed.get("state") == "cancelled":
            for id in open_ids:
                if id in self.left:
                    self.fail(id, Failure("JobCancelled", f"job {live.engine_id} was cancelled"))
        elif open_ids:
            self.replan(open_ids)

    def on_lost(self, live: LiveJob, state: JobState) -> None:
        """A job is gone, and its worker did not say how it ended."""
        self.take_results(live)
        if not any(id in self.left for id in live.wanted):
            self.over(live, "done")
            return
        reason = FATES[state.fate] + (f" ({state.words})" if state.words else "")
        if state.fate == "memory":
            if self.may_have_more_memory(live):
                live.resources = replace(live.resources, memory=self.cluster.memory)
                self.again(live, reason, counts=False)
                return
            asked = live.resources.memory
            size = f"it asked for {format_size(asked)}; " if asked else ""
            self.fail_job(
                live, "OutOfMemory", f"job {live.engine_id} {reason}; {size}change {self.cluster.line('memory')}"
            )
        elif state.fate == "cancelled":
            self.fail_job(live, "JobCancelled", f"job {live.engine_id} {reason}", state="cancelled")
        elif not live.began and state.fate == "failed":
            log = live.submission.log if live.submission else ""
            self.on_death(live, f"{reason}: its worker never began; does its machine see {self.store.root}? See {log}")
        else:
            self.on_death(live, reason, live.finished > 0 or self.has_partial(live))

    def on_death(self, live: LiveJob, reason: str, moved: bool = False) -> None:
        """A job died: it is begun again, and goes on from what is stored, unless that was tried often enough.

        What took its whole time and came further is no failure, and does not count.
        """
        counts = not (moved and "time" in reason)
        if counts:
            self.retries[live.record.id] += 1
        attempts = self.cluster.options.retries + 1
        if not live.is_mine or self.stopping:
            self.fail_job(live, "JobDied", f"job {live.engine_id} {reason}")
        elif self.retries[live.record.id] < attempts:
            number = self.retries[live.record.id]
            self.tell(events.JobRetried(live.record.id, live.engine_id, reason, number + 1, attempts))
            self.again(live, reason, counts=counts)
        else:
            asked = live.resources.time
            line = (
                f"; it may take {format_duration(asked)}: {self.cluster.line('time')}"
                if "time" in reason and asked
                else ""
            )
            log = f"; see {live.submission.log}" if live.submission else ""
            times = f"{counted(attempts, 'time')}, the last: " if attempts > 1 else ""
            self.fail_job(live, "JobDied", f"{times}job {live.engine_id} {reason}{line}{log}")

    def has_partial(self, live: LiveJob) -> bool:
        """Whether a job left partial results that are younger than its submission."""
        since = live.submission.at if live.submission else 0.0
        for id in live.wanted:
            with suppress(OSError):
                if self.store.partial(self.keys[id]).path.stat().st_mtime > since:
                    return True
        return False

    def again(self, live: LiveJob, reason: str, counts: bool) -> None:
        """Submit a job once more, after a pause that grows."""
        self.live.pop(live.record.id, None)
        if not live.is_mine:
            return
        tries = self.retries[live.record.id]
        pause = PAUSES[min(tries, len(PAUSES)) - 1] if counts and tries else 0.0
        self.not_before[live.record.id] = time.monotonic() + pause
        live.forget()
        self.waiting.append(live)

    def replan(self, ids: Iterable[str]) -> None:
        """Make new jobs of stages whose job is over."""
        left = {id: None for id in ids if id in self.left}
        for job in plan_jobs(self.stages, left, self.chains, self.cluster, self.costs) if left else ():
            own = {*job.stages, *job.carried}
            needed = {source for id in job.stages for source in self.stages[id].inputs.values()} - own
            self.planned[job] = [id for id in needed if id in self.left]

    def plan_rest(self) -> bool:
        """Make jobs of what was to go along with others that are over now; whether there is any."""
        rest = [] if self.stopping else [id for id in self.left if self.rested[id] < REST]
        self.rested.update(rest)
        self.replan(rest)
        return bool(rest)

    # --- what becomes of stages and jobs ---------------------------------------------------------------------------

    def fail(self, id: str, failure: Failure) -> None:
        """A stage has no result, and so its users have none."""
        if id not in self.left:
            return
        lost = [user for user in self.users(id) if user in self.left]
        self.outcome.failed[id] = failure
        self.finish(id, "failed", failure=failure)
        for user in lost:
            self.finish(user, "skipped", reason=f"needs '{self.stages[id].label}', which failed")
        if not self.keep_going:
            self.stop()

    def users(self, id: str) -> list[str]:
        """The stages that need one, directly or not, in the plan's order."""
        reached = {id}
        for other, stage in self.stages.items():
            if not reached.isdisjoint(stage.inputs.values()):
                reached.add(other)
        return [other for other in self.stages if other in reached and other != id]

    def fail_job(self, live: LiveJob, type: str, message: str, state: str = "failed") -> None:
        """A job will not be done: the stage that it was at has failed; what does not need that is planned anew."""
        at = [id for id in live.running if id in self.left] or [id for id in live.wanted if id in self.left]
        culprits = at[:1] if live.running else at
        self.over(live, state, message)
        for id in culprits:
            self.fail(id, Failure(type, message))
        if self.keep_going and not self.stopping:
            self.replan(live.wanted)

    def over(self, live: LiveJob, state: str, reason: str = "") -> None:
        """A job is over, and is put on record as such by the run that looks after it."""
        self.live.pop(live.record.id, None)
        if live.is_mine:
            live.record.close(state, reason)
            self.change(live, state, reason)

    def stop(self) -> None:
        """Begin no other stage: queued jobs are cancelled, running ones end after the stage that they are at."""
        if self.stopping:
            return
        self.stopping = True
        self.planned = {}
        mine = [live for live in self.live.values() if live.is_mine]
        for live in mine:
            with suppress(OSError):
                (live.record.folder / STOP).touch()
        self.cancel([live for live in mine if not live.running], "the run stopped")

    def cancel(self, jobs: Collection[LiveJob], reason: str) -> None:
        if jobs:
            self.asking(lambda: cancel_jobs(self.engine, [live.record for live in jobs], reason))
        for live in jobs:
            self.live.pop(live.record.id, None)
            self.change(live, "cancelled", reason)

    def cancel_mine(self) -> None:
        """The run is interrupted: its jobs are cancelled; those that another run looks after go on."""
        owned = [job for job in self.records.open_jobs() if job.owner == self.owner]
        if not owned:
            return
        kept = "what is finished is kept; --detach leaves jobs to themselves"
        self.tell(events.Notice(f"cancelling {counted(len(owned), 'job')}; {kept}"))
        try:
            cancel_jobs(self.engine, owned, "the run was interrupted")
        except EngineBusy as error:
            self.tell(events.Notice(f"{error}; they go on: `wmlab runs stop {self.run}` cancels them when it can"))

    def change(self, live: LiveJob, state: str, reason: str = "") -> None:
        log = live.submission.log if live.submission else ""
        engine_id = live.submission.engine_id if live.submission else ""
        self.tell(
            events.JobChanged(live.record.id, state, self.cluster.engine, engine_id, log, len(live.wanted), reason)
        )

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


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def are(count: int) -> str:
    return "is" if count == 1 else "are"
