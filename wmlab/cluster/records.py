"""What is on record of jobs, in the cache folder that all machines see: `jobs/<job>/`.

job.json          what the job is asked for: stages, keys, resources; written before it is submitted
submitted.jsonl   a line for each time that it was submitted: the engine's id and the log
owner.json        the run that looks after it
events.jsonl      what its worker says: a line for each stage, and for each time that it began
progress.json     how far the stages are that run now
end-<n>.json      how the n-th submission ended, if its worker could say so
stop              a file without content: no other stage is to begin
closed.json       what became of the job; from then on it is over

A job that is not over has a file of its name in `jobs/open/`. Files are written aside and renamed, or lines are added
by one process alone, so that whoever reads sees whole records.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from wmlab.cluster.jobs import Resources
from wmlab.cluster.json_files import append_json, parse_lines, read_json, read_lines, write_json
from wmlab.cluster.owners import Owner
from wmlab.cluster.task import JobTask, task_data, task_of
from wmlab.runtime import layout
from wmlab.runtime.durable import discard, write_file
from wmlab.runtime.lock import KeyLock

JOBS, OPEN, STOP = "jobs", "open", "stop"


@dataclass(frozen=True)
class Submission:
    """One time that a job was submitted."""

    attempt: int  # from 1
    engine_id: str
    log: str
    at: float  # seconds since the epoch


class JobRecord:
    """What is on record of one job."""

    def __init__(self, root: Path, id: str):
        self.root, self.id = root, id
        self.folder = root / JOBS / id
        self._read = 0  # bytes of events that were read

    def name(self, attempt: int) -> str:
        """What the engine is to call a submission, so that it can be found again by that."""
        return f"wmlab-{self.id}-{attempt}"

    # --- written by runs -------------------------------------------------------------------------------------------

    def create(self, task: JobTask, owner: Owner) -> None:
        """Put a job on record, before it is submitted."""
        layout.folder(self.root, JOBS, self.id)
        write_json(self.folder / "job.json", task_data(task))
        self.own(owner)
        layout.folder(self.root, JOBS, OPEN)
        write_file(self.root / JOBS / OPEN / self.id, b"")

    def ask(self, resources: Resources) -> None:
        """Note what the job asks for when it is submitted again: its worker keeps to what stands here."""
        if (task := self.task()) is not None:
            write_json(self.folder / "job.json", task_data(replace(task, resources=resources)))

    def own(self, owner: Owner) -> None:
        """Look after a job from now on."""
        write_json(self.folder / "owner.json", asdict(owner))

    def stop(self) -> None:
        """Tell the job's worker to begin no other stage."""
        with suppress(OSError):
            (self.folder / STOP).touch()

    def go_on(self) -> None:
        """Take that back: who said so may have been killed since."""
        discard(self.folder / STOP)

    def intend(self, attempt: int) -> None:
        """Say that a submission is about to be made: whoever finds no id for it asks the engine by its name."""
        append_json(self.folder / "submitted.jsonl", {"attempt": attempt, "at": round(time.time(), 3)})

    def submitted(self, submission: Submission) -> None:
        """Note the engine's id of a submission."""
        append_json(self.folder / "submitted.jsonl", asdict(submission))

    def close(self, state: str, reason: str = "") -> None:
        """Note what became of the job: done, failed, cancelled or died."""
        last = self.submission
        about = {"state": state, "reason": reason, "at": round(time.time(), 3)}
        hosts = [event.get("host") for event in self.events() if event.get("type") == "begin"]
        known = {"engine_id": last.engine_id if last else "", "log": last.log if last else "", "hosts": hosts}
        head = self.head()
        with suppress(OSError):
            write_json(self.folder / "closed.json", {**head, **about, **known})
            (self.root / JOBS / OPEN / self.id).unlink(missing_ok=True)
            if state in ("done", "cancelled"):  # what it was asked for is in the store's manifests
                discard(self.folder / "job.json")

    # --- read by all -----------------------------------------------------------------------------------------------

    def head(self) -> dict[str, Any]:
        """The few facts of a job that stay on record when it is over."""
        data = read_json(self.folder / "closed.json") or read_json(self.folder / "job.json") or {}
        owner = self.owner
        head = {name: data.get(name) for name in ("engine", "address", "spec", "resources", "created")}
        count = data.get("count", len(data.get("wanted", ())))
        return {**head, "count": count, "run": owner.run if owner else data.get("run", "")}

    def task(self) -> JobTask | None:
        """What the job is asked for; None where that cannot be read."""
        data = read_json(self.folder / "job.json")
        with suppress(KeyError, TypeError, ValueError):
            return None if data is None else task_of(data)
        return None

    def hashes(self) -> dict[str, str]:
        """The keys that the job answers for: id and hash."""
        data = read_json(self.folder / "job.json") or {}
        keys = data.get("keys", {})
        return {id: keys[id] for id in data.get("wanted", ()) if id in keys}

    @property
    def owner(self) -> Owner | None:
        data = read_json(self.folder / "owner.json")
        with suppress(TypeError):
            return None if data is None else Owner(**data)
        return None

    @property
    def is_looked_after(self) -> bool:
        """Whether the run that looks after the job may be alive."""
        owner = self.owner
        return owner is not None and owner.is_alive(self.root)

    @property
    def is_to_stop(self) -> bool:
        return (self.folder / STOP).exists()

    @property
    def attempt(self) -> int:
        """The number of the last submission that was meant; 0 before the first."""
        return max((line.get("attempt", 0) for line in read_lines(self.folder / "submitted.jsonl")), default=0)

    @property
    def nameless(self) -> list[int]:
        """The numbers of submissions that the engine has given no id for: it may have them all the same."""
        lines = read_lines(self.folder / "submitted.jsonl")
        known = {line.get("attempt") for line in lines if "engine_id" in line}
        return sorted({line["attempt"] for line in lines if "attempt" in line} - known)

    @property
    def submission(self) -> Submission | None:
        """The last submission that the engine has an id for."""
        lines = [line for line in read_lines(self.folder / "submitted.jsonl") if "engine_id" in line]
        with suppress(TypeError):
            return Submission(**lines[-1]) if lines else None
        return None

    @property
    def closed(self) -> dict[str, Any] | None:
        return read_json(self.folder / "closed.json")

    @property
    def is_closed(self) -> bool:
        return (self.folder / "closed.json").exists()

    def ended(self, attempt: int) -> dict[str, Any] | None:
        """What the worker of a submission said at its end; None where it has not ended, or could not say so."""
        return read_json(self.folder / f"end-{attempt}.json")

    def progress(self) -> list[dict[str, Any]]:
        """How far the stages are that run now."""
        data = read_json(self.folder / "progress.json")
        running = data.get("running") if data else None
        return [one for one in running if isinstance(one, dict)] if isinstance(running, list) else []

    def events(self) -> list[dict[str, Any]]:
        """All that the workers of the job have said."""
        return read_lines(self.folder / "events.jsonl")

    def new_events(self) -> list[dict[str, Any]]:
        """What was said since this was last asked."""
        try:
            with open(self.folder / "events.jsonl", "rb") as file:
                file.seek(self._read)
                data = file.read()
        except OSError:
            return []
        whole = data[: data.rfind(b"\n") + 1]
        self._read += len(whole)
        return parse_lines(whole)


class Records:
    """The jobs of a cache folder."""

    def __init__(self, root: Path):
        self.root = root

    def open_jobs(self) -> list[JobRecord]:
        """The jobs that are not over, as far as anyone has noticed."""
        jobs = [JobRecord(self.root, path.name) for path in layout.children(self.root / JOBS / OPEN)]
        for job in (one for one in jobs if one.is_closed):  # who closed it could not take its mark away
            discard(self.root / JOBS / OPEN / job.id)
        return [job for job in jobs if not job.is_closed]

    def of_run(self, run: str) -> list[JobRecord]:
        """The jobs that a run made, and those that it looks after."""
        made = {path.name for path in layout.children(self.root / JOBS) if path.name.startswith(f"{run}-")}
        owned = {job.id for job in self.open_jobs() if (owner := job.owner) is not None and owner.run == run}
        return [JobRecord(self.root, id) for id in sorted(made | owned)]

    def new(self, run: str) -> JobRecord:
        """A job that is not yet on record."""
        number = 1
        while os.path.lexists(self.root / JOBS / f"{run}-{number}"):
            number += 1
        return JobRecord(self.root, f"{run}-{number}")

    @contextmanager
    def guard(self) -> Iterator[None]:
        """Keep other runs from putting jobs on record: for as long as it takes to look what there is, and add some."""
        layout.folder(self.root, JOBS)
        with KeyLock(self.root / JOBS / "guard.lock", "jobs"):
            yield
