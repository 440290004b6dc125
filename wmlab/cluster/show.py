"""The jobs of a plan, for people and programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from wmlab.cluster.file import Cluster
from wmlab.cluster.jobs import Job, Resources
from wmlab.errors import visible
from wmlab.graph.stage import Stages
from wmlab.runtime.cache import format_duration, format_size


def job_lines(jobs: Sequence[Job], stages: Stages, cluster: Cluster, verbose: bool = False) -> Iterator[str]:
    """How many jobs there are, what each holds and what it asks for: those that are alike on one line."""
    where = cluster.engine if cluster.node is None else f"{cluster.engine} ({visible(cluster.name)})"
    if not jobs:
        yield f"jobs on {where}: none; all stages are cached"
        return
    most = min(len(jobs), cluster.options.at_once)
    yield f"jobs on {where}: {len(jobs)}, at most {most} at once, the longest way first"
    if verbose:
        for job in jobs:
            waits = f", after {', '.join(f'job {other + 1}' for other in job.after)}" if job.after else ""
            yield f"  job {job.number + 1}: {asks(job.resources)}{waits}{follows(job)}"
            yield from (f"    {visible(stages[id].label)}" for id in job.stages)
        return
    alike: Counter[tuple[str, str, str]] = Counter()
    for job in jobs:
        waits = f", after {len(job.after)} other{'s' if len(job.after) > 1 else ''}" if job.after else ""
        alike[holds(job, stages), asks(job.resources), f"{waits}{follows(job)}"] += 1
    for (what, ask, more), count in alike.items():
        yield f"  {count} × {what}: {ask}{more}" if count > 1 else f"  {what}: {ask}{more}"


def holds(job: Job, stages: Stages) -> str:
    """'train, extract, plan × 3'."""
    kinds = Counter(stages[id].kind for id in job.stages)
    return ", ".join(kind if count == 1 else f"{kind} × {count}" for kind, count in kinds.items())


def asks(resources: Resources) -> str:
    """'2 cores, 16.0 GiB, 1 accelerator, 2.0 h'."""
    parts = [f"{resources.cores} core{'s' if resources.cores > 1 else ''}"]
    if resources.memory is not None:
        parts.append(format_size(resources.memory))
    if resources.accelerators:
        parts.append(f"{resources.accelerators:g} accelerator{'s' if resources.accelerators > 1 else ''}")
    if resources.time is not None:
        parts.append(format_duration(resources.time))
    return ", ".join(parts)


def follows(job: Job) -> str:
    """What the memory that a job asks for follows from: '; memory by sizes'."""
    if not job.unknown:
        return f"; memory by {job.memory_by}"
    given = "what the engine gives" if job.resources.memory is None else "as the file says"
    return f"; memory of {', '.join(job.unknown)} is not known: {given}"


def job_data(jobs: Sequence[Job]) -> list[dict[str, Any]]:
    """The jobs as JSON data; stages are named by their ids."""
    return [
        {
            "job": job.number + 1,
            "stages": list(job.stages),
            "carried": list(job.carried),
            "after": [other + 1 for other in job.after],
            "seconds": round(job.seconds, 3),
            "ahead": round(job.ahead, 3),
            **vars(job.resources),
            "memory_by": job.memory_by,
            "memory_unknown": list(job.unknown),
        }
        for job in jobs
    ]
