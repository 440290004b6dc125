"""Jobs that were submitted and are not over."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from wmlab.cluster.engines.engine import Engine
from wmlab.cluster.jobs import Resources
from wmlab.cluster.records import JobRecord, Submission


@dataclass
class LiveJob:
    """A job that was submitted and is not over, as far as this run knows."""

    record: JobRecord
    wanted: tuple[str, ...]  # ids that it answers for
    holds: tuple[str, ...]  # ids of these and of all that they build on: it does those, too, where nobody has
    attempt: int
    submission: Submission | None  # None where the engine's id is not known
    is_mine: bool
    resources: Resources = Resources()
    unseen: float | None = None  # since when the engine does not know it
    running: dict[str, str] = field(default_factory=dict)  # id: label
    began: int = 0  # how often a worker of this submission began
    begun: tuple[str, int, float] | None = None  # the last of these: machine, process, seconds since the epoch
    interrupted: float | None = None  # when that one was told to end before its work did
    finished: int = 0  # stages, since it last began
    state: str = "queued"
    late_since: float | None = None  # since when a result that it stored is not seen here
    was_not_taken: bool = False  # whether the last submission is known not to have arrived: it is made once more
    lacks_memory: bool = False  # whether a stage was ended that held more than the job had asked for

    @property
    def name(self) -> str:
        return self.record.name(self.attempt)

    @property
    def engine_id(self) -> str:
        return self.submission.engine_id if self.submission else self.name

    def forget(self) -> None:
        """Begin anew: nothing is known yet of the next submission."""
        self.submission, self.unseen, self.late_since = None, None, None
        self.running, self.began, self.finished, self.state, self.lacks_memory = {}, 0, 0, "queued", False
        self.begun, self.interrupted = None, None


def end_jobs(engine: Engine, records: Iterable[JobRecord]) -> None:
    """End jobs on the engine; those whose submission nobody answered are looked for by their names. EngineBusy."""
    ids, names = [], []
    for job in records:
        if (last := job.submission) is not None:
            ids.append(last.engine_id)
        names += [job.name(attempt) for attempt in job.nameless]
    ids += engine.find(names).values() if names else ()
    if ids:
        engine.cancel(ids)


def cancel_jobs(engine: Engine, records: Iterable[JobRecord], reason: str) -> list[JobRecord]:
    """Cancel jobs, and put it on record. EngineBusy where that cannot be: then they stay on record as they are."""
    jobs = list(records)
    end_jobs(engine, jobs)
    for job in jobs:
        job.close("cancelled", reason)
    return jobs
