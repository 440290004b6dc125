"""A scheduler that loses, repeats and reorders what is said to it and by it, and whose jobs die at any moment.

Its jobs are done at once, in this process, when it is looked at: they compute toy stages and write what a real worker
writes. Chance is drawn from a seed, so that what goes wrong once goes wrong again.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from wmlab.cluster.engines.engine import Engine, EngineBusy, EngineRefusal, JobState
from wmlab.cluster.file import Cluster
from wmlab.cluster.jobs import Resources
from wmlab.cluster.json_files import append_json, write_json
from wmlab.cluster.records import JobRecord
from wmlab.runtime.result import Result
from wmlab.runtime.store import Store
from wmlab.sections.cluster import ClusterFile


class Killed(BaseException):
    """The submitting process is killed: nothing of it runs any more."""


@dataclass
class Submitted:
    """A job as the scheduler has it."""

    name: str
    job: str
    attempt: int
    resources: object
    state: str = "queued"
    fate: str = ""
    work: list[str] = field(default_factory=list)  # stages that are left
    lives: int = 0  # how often it began


class FakeEngine(Engine):
    """`chaos` is the chance of each thing that can go wrong, at each moment at which it can."""

    poll = 0.0
    patience = 0.02

    def __init__(self, root: Path, seed: int = 0, chaos: float = 0.0, cluster: Cluster | None = None, **more):
        super().__init__(cluster or Cluster(ClusterFile("slurm", **more)), root)
        self.random, self.chaos = random.Random(seed), chaos
        self.jobs: dict[str, Submitted] = {}
        self.before: dict[str, JobState] = {}  # what was said last time
        self.computed: list[str] = []  # keys, in order
        self.most = 0  # jobs at once
        self.deaths: list[str] = []
        self.killing = 0.0  # the chance that the submitting process is killed, at each call
        self.refusing = ""
        self.span = 0.0  # seconds that a job seems to take until it is told that it is interrupted
        self.fate_of: dict[str, str] = {}  # label of a stage: what its job dies of, once
        self.failure_of: dict[str, dict[str, str]] = {}  # label of a stage: how it fails, once
        self.told: list[Resources] = []  # what workers are told that their jobs asked for, in order

    def luck(self) -> bool:
        return self.random.random() < self.chaos

    def maybe_kill(self) -> None:
        if self.random.random() < self.killing:
            raise Killed

    def check(self, jobs):
        return []

    def submit(self, name, job, token, attempt, resources):
        self.maybe_kill()
        if self.refusing:
            raise EngineRefusal(self.refusing, "partition")
        if self.luck():
            raise EngineBusy("the scheduler is busy")
        task = JobRecord(self.root, job).task()
        assert task is not None and task.token == token
        self.told.append(task.resources)
        id = str(100 + len(self.jobs))
        self.jobs[id] = Submitted(name, job, attempt, resources, work=list(task.stages))
        self.most = max(self.most, sum(one.state != "ended" for one in self.jobs.values()))
        if self.luck():
            raise EngineBusy("the scheduler's answer was lost")
        self.maybe_kill()
        return id

    def find(self, names):
        self.maybe_kill()
        if self.luck():
            raise EngineBusy("the scheduler is busy")
        return {job.name: id for id, job in self.jobs.items() if job.name in names}

    def look(self, ids):
        self.maybe_kill()
        if self.luck():
            raise EngineBusy("the scheduler is busy")
        for id in self.random.sample(sorted(self.jobs), len(self.jobs)):
            self.advance(id, self.jobs[id])
        now = {id: JobState(job.state, job.fate) for id, job in self.jobs.items() if not self.luck()}
        said = {**now, **self.before} if self.luck() else now  # an old answer comes after a new one
        self.before = now
        return {id: state for id, state in said.items() if id in ids}

    def cancel(self, ids):
        for id in ids:
            if id in self.jobs and self.jobs[id].state != "ended":
                self.jobs[id].state, self.jobs[id].fate = "ended", "cancelled"

    @property
    def at_work(self) -> list[str]:
        return [id for id, job in self.jobs.items() if job.state != "ended"]

    # --- what jobs do ----------------------------------------------------------------------------------------------

    def advance(self, id: str, job: Submitted) -> None:
        if job.state == "ended" or self.luck():
            return
        record, store = JobRecord(self.root, job.job), Store(self.root)
        if job.state == "queued":
            job.state, job.lives = "running", job.lives + 1
            about = {"pid": job.lives, "attempt": job.attempt, "at": time.time()}
            self.say(record, {"type": "begin", "host": "n1", **about})
            return
        task = record.task()
        if task is None:
            job.state, job.fate = "ended", "cancelled"
            return
        if job.work:
            stage_id = job.work.pop(0)
            stage, key = task.stages[stage_id], task.keys[stage_id]
            if store.has(key):
                return
            self.say(record, {"type": "StageStarted", "id": stage_id, "label": stage.label, "pid": 1})
            if fate := self.fate_of.pop(stage.label, ""):
                self.die(record, job, fate)
                return
            if self.luck():  # it dies in the middle of a stage
                self.die(record, job, self.random.choice(["node", "preempted", "failed", "", "begins again"]))
                self.deaths.append(id)
                return
            outcome = self.compute(store, task, stage_id)
            self.say(record, {"type": "StageFinished", "id": stage_id, "label": stage.label, **outcome})
            if record.is_to_stop:
                said = {"state": "stopped", "reason": "was told to stop"}
                write_json(record.folder / f"end-{job.attempt}.json", said)
                job.state, job.fate = "ended", "done"
            elif outcome["outcome"] == "failed":
                job.work = []
                self.end(record, job, failed={stage_id: outcome["failure"]})
            return
        self.end(record, job)

    def die(self, record: JobRecord, job: Submitted, fate: str) -> None:
        """A job ends before its work does, or is begun again by the scheduler itself, told before (`told`) or not."""
        if fate.startswith("told"):
            self.say(record, {"type": "stopped", "at": time.time() + self.span})
        if not fate.endswith("begins again"):
            job.state, job.fate = "ended", fate.removeprefix("told and ")
            return
        job.state, job.work = "queued", list(record.task().stages)

    def compute(self, store: Store, task, stage_id: str) -> dict[str, object]:
        stage = task.stages[stage_id]
        if stage.params.get("broken"):
            return {"outcome": "failed", "failure": {"type": "ValueError", "message": "seven is not a number"}}
        if failure := self.failure_of.pop(stage.label, None):
            return {"outcome": "failed", "failure": failure}
        inputs = [store.load(task.keys[source]) for source in stage.inputs.values()]
        total = stage.params["number"] + sum(int(result.arrays["total"]) for result in inputs)
        store.save(task.keys[stage_id], Result({"total": np.asarray(total)}, {}), {"label": stage.label})
        self.computed.append(task.keys[stage_id])
        return {"outcome": "ran", "seconds": 0.1}

    def end(self, record: JobRecord, job: Submitted, failed: dict[str, object] | None = None) -> None:
        if self.luck():  # it dies with its last words
            job.state, job.fate = "ended", "node"
            self.deaths.append(job.name)
            return
        write_json(record.folder / f"end-{job.attempt}.json", {"state": "ended", "failed": failed or {}})
        job.state, job.fate = "ended", "done"

    def say(self, record: JobRecord, event: dict[str, object]) -> None:
        """Write an event down; it may be lost, or said twice."""
        if not self.luck():
            append_json(record.folder / "events.jsonl", event)
        if self.luck():
            append_json(record.folder / "events.jsonl", event)
