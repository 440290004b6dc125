"""Jobs on their way to the engine: planned, put on record, submitted; and planned anew where one will not be done."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from secrets import token_hex

from wmlab.cluster.dispatch.board import JobBoard
from wmlab.cluster.dispatch.book import StageBook
from wmlab.cluster.dispatch.elsewhere import is_elsewhere, may_compute, open_elsewhere
from wmlab.cluster.dispatch.live import LiveJob
from wmlab.cluster.engines.engine import EngineBusy, EngineFull, EngineRefusal
from wmlab.cluster.jobs import Beforehand, Job, Resources, plan_jobs
from wmlab.cluster.records import JobRecord, Submission
from wmlab.cluster.task import JobTask, closure, surroundings
from wmlab.errors import SpecErrors
from wmlab.runtime.estimates import StageCost
from wmlab.runtime.events import Failure

REST = 3  # times that a stage may be left when all jobs are over


class JobQueue:
    """The jobs of a run that are yet to be submitted."""

    def __init__(
        self,
        book: StageBook,
        board: JobBoard,
        chains: Sequence[Sequence[str]],
        spec: str,
        keep_going: bool,
        costs: Mapping[str, StageCost] | None,
        beforehand: Beforehand,
    ):
        self.book, self.board = book, board
        self.chains, self.spec, self.keep_going = chains, spec, keep_going
        self.costs, self.beforehand = costs, beforehand
        self.planned: dict[Job, list[str]] = {}  # job: the stages of other jobs that it cannot begin without
        self.has_planned = False
        self.rested: Counter[str] = Counter()  # stage: how often it was left when all jobs were over
        self.stopping = False

    # --- planning --------------------------------------------------------------------------------------------------

    def plan(self) -> None:
        """Make jobs of what no job on record answers for; SpecErrors where the engine could not do them."""
        taken = {id for live in self.board.live.values() for id in live.wanted}
        self.replan([id for id in self.book.left if id not in taken])
        self.has_planned = True
        engine = self.board.engine
        if self.planned and (errors := engine.asking(lambda: engine.engine.check(list(self.planned)))):
            raise SpecErrors(errors)

    def replan(self, ids: Iterable[str]) -> None:
        """Make new jobs of stages whose job is over."""
        stages, left = self.book.stages, {id: None for id in ids if id in self.book.left}
        about = (self.chains, self.board.cluster, self.costs, self.beforehand)
        for job in plan_jobs(stages, left, *about) if left else ():
            own = {*job.stages, *job.carried}
            needed = {source for id in job.stages for source in stages[id].inputs.values()} - own
            self.planned[job] = [id for id in needed if id in self.book.left]

    def plan_rest(self) -> bool:
        """Make jobs of what was to go along with others that are over now; whether there is any."""
        rest = [] if self.stopping else [id for id in self.book.left if self.rested[id] < REST]
        self.rested.update(rest)
        self.replan(rest)
        return bool(rest)

    # --- submitting ------------------------------------------------------------------------------------------------

    def may_submit(self) -> bool:
        """Whether there are jobs that are yet to be submitted."""
        return bool(self.planned) and not self.stopping

    @property
    def rests(self) -> bool:
        """Whether the engine is to be given nothing now."""
        return self.board.engine.submitting.rests

    def submit_some(self) -> None:
        """Submit jobs that can begin, as many as may be at once: again those that died, then the longest way first."""
        for live in self.board.due():
            if self.stopping:
                self.board.waiting.remove(live)
                self.board.over(live, "cancelled", "the run stopped")
            elif self.board.has_room() and not self.rests:
                self.board.waiting.remove(live)
                self.submit(live)
        for job in list(self.planned) if self.board.has_room() else ():
            if self.stopping or not self.board.has_room() or self.rests:
                return
            if self.is_ready(job):
                del self.planned[job]
                self.start(job)

    def is_ready(self, job: Job) -> bool:
        """Whether all that a job cannot begin without is done, or is known not to come."""
        self.planned[job] = [id for id in self.planned[job] if id in self.book.left]
        return not self.planned[job]

    def start(self, job: Job) -> None:
        """Put a job on record, unless another run has done so, and submit it."""
        wanted = tuple(id for id in job.stages if id in self.book.left)
        if not wanted:
            return
        records = self.board.records
        with records.guard():
            taken = {job.id for job in records.open_jobs()} - set(self.board.live)
            hashes = {self.book.keys[id].hash for id in wanted}
            for record in (JobRecord(records.root, id) for id in sorted(taken)):
                if is_elsewhere(record, self.board.cluster):
                    if may_compute(record, hashes):
                        self.fail_all(wanted, Failure("JobElsewhere", open_elsewhere([record], self.board.cluster)))
                        return
                elif hashes <= set(record.hashes().values()):
                    self.take_up(record)
                    return
            record = records.new(self.board.run)
            record.create(self.task(record, job, wanted), self.board.lock.sign())
        holds = tuple(closure(self.book.stages, wanted))
        self.submit(LiveJob(record, wanted, holds, 0, None, True, job.resources))

    def take_up(self, record: JobRecord) -> None:
        """Watch a job that is on record; look after it from now on, where nobody else does."""
        wanted = tuple(self.book.ids[hash] for hash in record.hashes().values() if hash in self.book.ids)
        owner = record.owner
        is_mine = (owner is not None and owner.is_this_process) or not record.is_looked_after
        if is_mine:
            self.board.look_after(record)
        task = record.task()
        holds = tuple(id for id in task.stages if id in self.book.stages) if task else wanted
        resources = task.resources if task else Resources()
        live = LiveJob(record, wanted, holds, record.attempt, record.submission, is_mine, resources)
        if live.submission is not None and live.submission.attempt != live.attempt:
            live.submission = None
        if is_mine and not live.attempt:  # put on record, and never submitted
            self.board.waiting.append(live)
            return
        self.board.live[record.id] = live
        self.board.change(live, "attached")

    def task(self, record: JobRecord, job: Job, wanted: tuple[str, ...]) -> JobTask:
        needed = closure(self.book.stages, wanted)
        cluster, keys = self.board.cluster, self.book.keys
        return JobTask(
            record.id,
            token_hex(8),
            cluster.engine,
            self.spec,
            {id: self.book.stages[id] for id in needed},
            {id: keys[id].hash for id in needed},
            {id: surroundings(keys[id]) for id in needed},
            wanted,
            job.resources,
            self.keep_going,
            timer=None if self.board.engine.engine.has_clock else job.resources.time,
            lines={key: cluster.line(key) for key in ("memory", "time")},
            address=cluster.address,
        )

    def submit(self, live: LiveJob) -> None:
        """Submit a job for the next time."""
        self.board.live[live.record.id] = live
        task = live.record.task()
        if task is None:
            self.fail_job(live, "JobLost", f"the record of job {live.record.id} cannot be read")
            return
        live.forget()
        if not live.was_not_taken:
            live.attempt = live.record.attempt + 1
            live.record.intend(live.attempt)
        live.was_not_taken = False
        engine, patience, cluster = self.board.engine.engine, self.board.engine.submitting, self.board.cluster
        try:
            engine_id = engine.submit(live.name, live.record.id, task.token, live.attempt, live.resources)
        except EngineFull as error:
            patience.is_busy(error)
            live.was_not_taken = True
            self.board.again(live, counts=False)
        except EngineBusy as error:
            patience.is_busy(error)  # it may have arrived all the same: the next look finds it by its name, or nothing
        except EngineRefusal as error:
            where = f" ({cluster.line(error.key)})" if error.key else ""
            self.fail_job(live, "JobRefused", f"{cluster.engine} refused the job: {error}{where}")
        else:
            patience.has_answered()
            self.know(live, engine_id)

    def know(self, live: LiveJob, engine_id: str) -> None:
        """Put the engine's id of a submission on record."""
        log = str(self.board.engine.engine.log(live.record.id, engine_id))
        live.submission = Submission(live.attempt, engine_id, log, round(time.time(), 3))
        live.unseen = None
        live.record.submitted(live.submission)
        self.board.change(live, "submitted")

    # --- what will not be done -------------------------------------------------------------------------------------

    def fail(self, id: str, failure: Failure) -> None:
        """A stage has no result: nothing new begins, unless the run is to go on."""
        if id not in self.book.left:
            return
        self.book.fail(id, failure)
        if not self.keep_going:
            self.stop()

    def fail_job(self, live: LiveJob, type: str, message: str, state: str = "failed") -> None:
        """A job will not be done: the stage that it was at has failed; what does not need that is planned anew."""
        left = self.book.left
        at = [id for id in live.running if id in left] or [id for id in live.wanted if id in left]
        culprits = at[:1] if live.running else at
        self.board.over(live, state, message)
        for id in culprits:
            self.fail(id, Failure(type, message))
        if self.keep_going and not self.stopping:
            self.replan(live.wanted)

    def fail_all(self, ids: Iterable[str], failure: Failure) -> None:
        for id in ids:
            self.fail(id, failure)

    def stop(self) -> None:
        """Begin no other stage: queued jobs are cancelled, running ones end after the stage that they are at."""
        if self.stopping:
            return
        self.stopping = True
        self.planned = {}
        mine = self.board.mine
        for live in mine:
            live.record.stop()
        self.board.cancel([live for live in mine if not live.running], "the run stopped")
