"""Cancelling the jobs of a run from another process: for `wmlab runs stop`."""

from __future__ import annotations

import os
import signal
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path

from wmlab.cluster.dispatch.live import cancel_jobs
from wmlab.cluster.engines.engine import Engine
from wmlab.cluster.engines.opening import open_engine
from wmlab.cluster.file import Cluster
from wmlab.cluster.owners import Owner
from wmlab.cluster.records import JobRecord, Records
from wmlab.sections.cluster import ClusterFile

PATIENCE = 20.0  # seconds that a run gets to cancel its jobs itself


def stop_jobs(
    root: Path,
    runs: Sequence[str],
    say: Callable[[str], None],
    open_with: Callable[[Cluster, Path], Engine] = open_engine,
) -> list[JobRecord]:
    """End the processes of runs, where they are on this machine, and cancel the jobs that they look after."""
    records = Records(root)
    jobs = [job for job in records.open_jobs() if (owner := job.owner) is not None and owner.run in runs]
    for owner in {job.owner for job in jobs}:
        if owner is not None and owner.is_alive(root):
            end_run(owner, say)
    for job in (unreadable := [job for job in jobs if job.head()["engine"] is None]):
        say(f"the record of job {job.id} cannot be read, and nobody here knows where it is: see {job.folder}")
    jobs = [job for job in jobs if job not in unreadable]
    open_ids = {job.id for job in records.open_jobs()}
    by_cluster: dict[Cluster, list[JobRecord]] = defaultdict(list)
    for job in jobs:
        if job.id in open_ids:
            by_cluster[cluster_of(job)].append(job)
    for cluster, several in by_cluster.items():
        with closing(open_with(cluster, root)) as engine:
            cancel_jobs(engine, several, "it was stopped")
    return jobs


def cluster_of(job: JobRecord) -> Cluster:
    """Where a job was submitted: another Ray would not know it, and say that there is nothing to cancel."""
    head = job.head()
    name = str(head["engine"])
    return Cluster(ClusterFile(engine=name, address=head["address"] or None), name=name)  # type: ignore[arg-type]


def end_run(owner: Owner, say: Callable[[str], None]) -> None:
    """End the process of a run as Ctrl-C does, where it is on this machine: it cancels its jobs itself."""
    if not owner.is_here:
        where = f"process {owner.pid} on {owner.host}"
        say(f"run {owner.run} may still be at work: end {where}; its jobs are cancelled from here")
        return
    if not owner.is_process or owner.is_this_process:
        return
    with suppress(OSError):
        os.kill(owner.pid, signal.SIGTERM)
    deadline = time.monotonic() + PATIENCE
    while owner.is_process and time.monotonic() < deadline:
        time.sleep(0.1)
