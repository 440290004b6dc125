"""The jobs of a plan: what belongs together is one job, and whoever has the longest way to go is first.

Jobs are made of groups (`wmlab.cluster.groups`). A chain that takes long is a job; small ones are batched. What is
small and shared goes along with every job that needs it, and whichever comes first does it, under the lock of its key.
What is long and shared is a job of its own: others wait for it where they can do little without it, or else begin.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from wmlab.cluster.file import Cluster
from wmlab.cluster.groups import Group, carried_by, make_groups, waits_for
from wmlab.core.memory import WORKER_BYTES
from wmlab.graph.stage import Stages
from wmlab.runtime.estimates import StageCost
from wmlab.runtime.schedule import expected_seconds

LEAST = 60.0  # seconds of small stages that a job has at least, where there are so many: to start one takes a while
MOST = 900.0  # and at most
MARGIN = 1.5  # of memory, above what is expected
WORKER = 1 << 30  # bytes that a job asks for beside what the processes of its stages hold


Beforehand = Callable[[str], int | None]  # (stage id): bytes of data that it is known to hold before it ever ran


def unknown(id: str) -> int | None:
    """Where nothing is known beforehand."""
    return None


@dataclass(frozen=True)
class Resources:
    """What a job asks of an engine."""

    cores: int = 1
    memory: int | None = None  # bytes; None: what the engine gives
    accelerators: float = 0.0
    time: float | None = None  # seconds


@dataclass(frozen=True)
class Job:
    """Stages that one worker does, one after the other."""

    number: int
    stages: tuple[str, ...]  # ids, inputs first: what the job answers for
    carried: tuple[str, ...] = ()  # ids of what others do, too: it is done here where nobody has done it yet
    after: tuple[int, ...] = ()  # the jobs without which this one can do nothing
    resources: Resources = Resources()
    memory_by: str = ""  # sizes, earlier runs, or the file, where these say more; empty where it is not known
    unknown: tuple[str, ...] = ()  # kinds of stages of which nobody knows what they hold
    seconds: float = 0.0  # that it is expected to take, on one core
    ahead: float = 0.0  # these, and the longest way of jobs that wait for it


def plan_jobs(
    stages: Stages,
    left: Collection[str],
    chains: Iterable[Sequence[str]],
    cluster: Cluster,
    costs: Mapping[str, StageCost] | None = None,
    beforehand: Beforehand = unknown,
) -> list[Job]:
    """The jobs for the stages that are `left` to do, the longest way first; jobs come after those that they wait for.

    `chains` are the stages of each point and seed; `costs` are those of stages like which some have run, by id.
    """
    costs = costs or {}
    seconds = {id: costs[id].seconds.middle if id in costs else expected_seconds(stages[id]) for id in left}
    groups = make_groups(stages, left, chains, seconds, bool(cluster.options.accelerators))
    waits = {index: waits_for(groups, index) for index, group in enumerate(groups) if not group.is_carried}
    batches = batch(groups, waits, cluster)
    number_of = {index: number for number, members in enumerate(batches) for index in members}
    waited = [{other for index in members for other in waits[index]} for members in batches]
    carried = [carried_by(groups, *each) for each in zip(batches, waited, strict=True)]
    carriers = Counter(id for ids in carried for id in ids)
    jobs = []
    for number, members in enumerate(batches):
        # What is shared by runs, and has come to one job alone, is that job's own.
        own = [id for id in carried[number] if carriers[id] == 1]
        own += [id for index in members for id in groups[index].stages]
        others = tuple(id for id in carried[number] if carriers[id] > 1)
        after = sorted({number_of[other] for other in waited[number]} - {number})
        cores = cores_of(stages, own, len(members), cluster)
        memory, memory_by, open_kinds = memory_of(stages, [*own, *others], cores, cluster, costs, beforehand)
        accelerators = cluster.options.accelerators if groups[members[0]].accelerated else 0.0
        resources = Resources(cores, memory, accelerators, cluster.time)
        total = sum(groups[index].seconds for index in members)
        jobs.append(Job(number, tuple(own), others, tuple(after), resources, memory_by, open_kinds, total))
    return in_order(jobs)


def batch(groups: Sequence[Group], waits: Mapping[int, tuple[int, ...]], cluster: Cluster) -> list[list[int]]:
    """Groups by job: a long one alone, small ones together with others that wait for the same."""
    jobs = [[index] for index in waits if groups[index].is_long]
    alike: dict[tuple[tuple[int, ...], bool], list[int]] = defaultdict(list)
    for index in waits:
        if not groups[index].is_long:
            alike[waits[index], groups[index].accelerated].append(index)
    total = sum(groups[index].seconds for index in waits if not groups[index].is_long)
    most = MOST if cluster.time is None else min(MOST, cluster.time / 2)
    target = min(most, max(LEAST, total / cluster.options.at_once))
    for members in alike.values():
        filled = target
        for index in members:
            if filled + groups[index].seconds / 2 >= target:
                jobs.append([])
                filled = 0.0
            jobs[-1].append(index)
            filled += groups[index].seconds
    return jobs


def cores_of(stages: Stages, ids: Sequence[str], chains: int, cluster: Cluster) -> int:
    """As many as a job has stages that may run at once, and no more than the file allows, unless one needs them."""
    widest = max((stages[id].cores for id in ids), default=1)
    return max(widest, min(cluster.options.cores, width(stages, ids, chains)))


def memory_of(
    stages: Stages,
    ids: Sequence[str],
    cores: int,
    cluster: Cluster,
    costs: Mapping[str, StageCost],
    beforehand: Beforehand,
) -> tuple[int | None, str, tuple[str, ...]]:
    """The memory that a job asks for, what it follows from, and the kinds of stages that it is not known of.

    As many of its largest stages as it has cores may run at once, each in a process of its own. Where one is not known,
    all of it is as the file says, or else the engine.
    """
    held = {id: int(costs[id].memory.high) if id in costs else process_of(beforehand(id)) for id in ids}
    largest = sorted((bytes for bytes in held.values() if bytes is not None), reverse=True)[:cores]
    if open_kinds := tuple(dict.fromkeys(stages[id].kind for id, bytes in held.items() if bytes is None)):
        return cluster.memory, "", open_kinds
    expected = int(sum(largest) * MARGIN) + WORKER
    source = "earlier runs" if all(id in costs for id in ids) else "sizes"
    if cluster.memory is not None and cluster.memory < expected:
        return cluster.memory, f"the file ({source} say more)", ()
    return expected, source, ()


def most_memory(jobs: Iterable[Job], cluster: Cluster) -> int:
    """What a job may come to ask for: one that asked for too little gets all that the file allows."""
    return max([cluster.memory or 0, *(job.resources.memory or 0 for job in jobs)])


def process_of(held: int | None) -> int | None:
    """What a process holds that holds so much of data."""
    return None if held is None else WORKER_BYTES + held


def width(stages: Stages, ids: Sequence[str], chains: int) -> int:
    """How many stages of a job may run at once, about: of several chains one each, of one those at the same depth."""
    if chains > 1:
        return chains
    depth: dict[str, int] = {}
    for id in ids:
        depth[id] = 1 + max((depth.get(source, 0) for source in stages[id].inputs.values()), default=0)
    return max(Counter(depth.values()).values(), default=1)


def in_order(jobs: Sequence[Job]) -> list[Job]:
    """The jobs numbered anew, the longest way first, and none before one that it waits for."""
    users: dict[int, list[int]] = defaultdict(list)
    for job in jobs:
        for other in job.after:
            users[other].append(job.number)
    ahead: dict[int, float] = {}
    for job in reversed(depth_first(jobs)):
        ahead[job.number] = job.seconds + max((ahead[user] for user in users[job.number]), default=0.0)
    ordered = sorted(jobs, key=lambda job: (-ahead[job.number], job.number))
    position = {job.number: place for place, job in enumerate(ordered)}
    return [
        replace(job, number=place, after=tuple(sorted(position[one] for one in job.after)), ahead=ahead[job.number])
        for place, job in enumerate(ordered)
    ]


def depth_first(jobs: Sequence[Job]) -> list[Job]:
    """The jobs, each after those that it waits for."""
    ordered: dict[int, Job] = {}
    stack = [(job, False) for job in reversed(jobs)]
    while stack:
        job, is_ready = stack.pop()
        if job.number in ordered:
            continue
        if is_ready:
            ordered[job.number] = job
        else:
            stack.append((job, True))
            stack += [(jobs[other], False) for other in job.after if other not in ordered]
    return list(ordered.values())
