"""What is known of jobs without asking an engine: for `wmlab runs`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wmlab.cluster.records import JobRecord

STATES = ("waiting", "queued", "running", "done", "failed", "cancelled")


@dataclass(frozen=True)
class JobStatus:
    """A job, as far as it is on record."""

    job: str
    state: str  # waiting (to be submitted), queued, running, done, failed or cancelled
    engine: str
    engine_id: str
    stages: int
    done: int  # stages
    host: str
    log: str
    progress: str = ""  # of the stages that run now
    reason: str = ""
    attempts: int = 0


def job_status(root: Path, id: str) -> JobStatus:
    """What is on record of one job."""
    record = JobRecord(root, id)
    head, closed, last = record.head(), record.closed, record.submission
    events = record.events()
    begun = [event for event in events if event.get("type") == "begin"]
    mine = [event for event in begun if event.get("attempt") == record.attempt]
    finished = {event.get("id") for event in events if event.get("type") == "StageFinished"}
    state = "running" if mine else "queued" if last else "waiting"
    running = [progress_text(one) for one in record.progress()] if state == "running" and closed is None else []
    return JobStatus(
        id,
        str(closed["state"]) if closed else state,
        str(head["engine"] or ""),
        last.engine_id if last else "",
        int(head["count"] or 0),
        len(finished),
        str(begun[-1].get("host", "")) if begun else "",
        last.log if last else "",
        "; ".join(running),
        str(closed.get("reason", "")) if closed else "",
        record.attempt,
    )


def progress_text(one: dict[str, Any]) -> str:
    done, total = one.get("done"), one.get("total")
    share = f" {done / total:.0%}" if isinstance(done, int | float) and isinstance(total, int | float) and total else ""
    return f"{one.get('label', '')}{share}"


def count_states(statuses: Iterable[JobStatus]) -> str:
    """'3 queued, 1 running, 12 done'."""
    counts = Counter(status.state for status in statuses)
    return ", ".join(f"{counts[state]} {state}" for state in STATES if counts[state])
