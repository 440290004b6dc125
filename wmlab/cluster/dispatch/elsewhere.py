"""Jobs on record that are on another engine, or at another address, than a run: it leaves them alone, and says so.

An engine knows its own jobs alone: asked for those of another it would call them gone, and their stages would be
submitted a second time.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from wmlab.cluster.dispatch.board import counted
from wmlab.cluster.file import Cluster
from wmlab.cluster.records import JobRecord


def is_elsewhere(record: JobRecord, cluster: Cluster) -> bool:
    """Whether a job is on another engine or at another address; records of earlier versions do not say which."""
    head = record.head()
    engine, address = head["engine"], head["address"]
    return (engine is not None and engine != cluster.engine) or (address is not None and address != cluster.address)


def may_compute(record: JobRecord, hashes: Collection[str]) -> bool:
    """Whether a job may be at work on any of these keys, now or later."""
    attempt = record.attempt
    was_left = not attempt and not record.is_looked_after  # on record, and never submitted
    return not was_left and record.ended(attempt) is None and not set(hashes).isdisjoint(record.hashes().values())


def open_elsewhere(records: Sequence[JobRecord], cluster: Cluster) -> str:
    """That a run cannot begin beside these jobs, and what to do."""
    head, count = records[0].head(), len(of_one_place(records))
    wait = f"--on {head['engine']}"
    if head["engine"] == cluster.engine:
        wait = f"`address: {head['address']}` in a file for --on"
    return (
        f"this run has {counted(count, 'job')} on {place(head)}: "
        f"wait for them with {wait}, or stop them with `wmlab runs stop {run_of(records)}`"
    )


def left_elsewhere(records: Sequence[JobRecord]) -> str:
    """That these jobs stay on record."""
    stop = f"`wmlab runs stop {run_of(records)}` ends what there is of them"
    count = len(of_one_place(records))
    stays = "stays on record, and is" if count == 1 else "stay on record, and are"
    return f"{counted(count, 'job')} on {place(records[0].head())} {stays} left alone: {stop}"


def of_one_place(records: Sequence[JobRecord]) -> list[JobRecord]:
    """The jobs of the first one's run, at its place: the next are told of when these are over."""
    first = records[0].head()
    return [one for one in records if all(one.head()[name] == first[name] for name in ("run", "engine", "address"))]


def place(head: dict[str, Any]) -> str:
    return f"{head['engine']} at {head['address']}" if head["address"] else str(head["engine"])


def run_of(records: Sequence[JobRecord]) -> str:
    """The run of the first: what `wmlab runs stop` takes is one name."""
    return str(records[0].head()["run"])
