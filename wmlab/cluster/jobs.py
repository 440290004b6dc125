"""The jobs of a plan: what belongs together is one job, and whoever has the longest way to go is first.

A stage is used by the runs (a point and a seed each) that need its answer. Stages with the same users are a group: the
chain of one run, or what several runs share. What a stage builds on has at least the users of that stage, so that
groups never wait for each other in a circle. A chain that takes long is a job; small ones are batched. What is small
and shared goes along with every job that needs it, and whichever comes first does it, under the lock of its key. What
is long and shared is a job of its own: others wait for it where they can do little without it, and otherwise begin.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from wmlab.cluster.file import Cluster
from wmlab.graph.stage import Stages
from wmlab.runtime.estimates import StageCost
from wmlab.runtime.schedule import expected_seconds

LONG = 60.0  # seconds from which on a chain is a job of its own
LEAST = 60.0  # seconds of small stages that a job has at least, where there are so many: to start one takes a while
MOST = 900.0  # and at most
MARGIN = 1.5  # of memory, above what is expected
WORKER = 1 << 30  # bytes that a job asks for beside what its stages hold


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
    seconds: float = 0.0  # that it is expected to take, on one core
    ahead: float = 0.0  # these, and the longest way of jobs that wait for it


@dataclass
class Group:
    """Stages that the same runs use, on the same sort of device."""

    stages: list[str] = field(default_factory=list)  # in the plan's order
    needs: dict[int, None] = field(default_factory=dict)  # other groups, in order
    users: int = 0  # groups that need this one
    free: float = 0.0  # seconds of work that need no other group but those that go along
    seconds: float = 0.0
    is_long: bool = False
    accelerated: bool = False

    @property
    def is_carried(self) -> bool:
        return self.users > 0 and not self.is_long


def plan_jobs(
    stages: Stages,
    left: Collection[str],
    chains: Iterable[Sequence[str]],
    cluster: Cluster,
    costs: Mapping[str, StageCost] | None = None,
) -> list[Job]:
    """The jobs for the stages that are `left` to do, the longest way first; jobs come after those that they wait for.

    `chains` are the stages of each point and seed; `costs` are known ones, by id.
    """
    costs = costs or {}
    seconds = {id: costs[id].seconds.middle if id in costs else expected_seconds(stages[id]) for id in left}
    groups = make_groups(stages, left, chains, seconds, bool(cluster.options.accelerators))
    waits = {index: waits_for(groups, index) for index, group in enumerate(groups) if not group.is_carried}
    batches = batch(groups, waits, cluster)
    number_of = {index: number for number, members in enumerate(batches) for index in members}
    jobs = []
    for number, members in enumerate(batches):
        own = [id for index in members for id in groups[index].stages]
        after = sorted({number_of[other] for index in members for other in waits[index]} - {number})
        waited = {other for index in members for other in waits[index]}
        carried = carried_by(groups, members, waited)
        resources = resources_of(stages, own, len(members), groups[members[0]].accelerated, cluster, costs)
        total = sum(groups[index].seconds for index in members)
        jobs.append(Job(number, tuple(own), tuple(carried), tuple(after), resources, total))
    return in_order(jobs)


# --- groups --------------------------------------------------------------------------------------------------------


def make_groups(
    stages: Stages,
    left: Collection[str],
    chains: Iterable[Sequence[str]],
    seconds: Mapping[str, float],
    accelerate: bool,
) -> list[Group]:
    """The stages that are left: those that build on each other, have the same users, and run on the same device."""
    users = users_of(stages, left, chains)
    devices = {id: accelerate and stages[id].accelerated for id in users}
    group_of = alike(stages, users, devices)
    groups = [Group() for _ in set(group_of.values())]
    for id, index in group_of.items():
        group = groups[index]
        group.stages.append(id)
        group.accelerated = devices[id]
        group.seconds += seconds[id]
        outside = (group_of.get(source, index) for source in stages[id].inputs.values())
        group.needs.update(dict.fromkeys(other for other in outside if other != index))
    for group in groups:
        group.is_long = group.seconds >= LONG
        for other in group.needs:
            groups[other].users += 1
    count_free_work(stages, group_of, groups, seconds)
    return groups


def alike(stages: Stages, users: Mapping[str, tuple[int, ...]], devices: Mapping[str, bool]) -> dict[str, int]:
    """The number of each stage's group, in the plan's order.

    Where the device changes on the way from one stage to another of the same users, a group ends: the number of
    changes is part of what makes a group, so that two never wait for each other.
    """
    changes: dict[str, int] = {}
    root: dict[str, str] = {}  # a stage: one that it goes together with, in the end the first of its group

    def first(id: str) -> str:
        while root[id] != id:
            root[id] = id = root[root[id]]
        return id

    ordered = [id for id in stages if id in users]
    for id in ordered:
        sources = [source for source in stages[id].inputs.values() if source in users]
        mine = [source for source in sources if users[source] == users[id]]
        changes[id] = max((changes[one] + (devices[one] != devices[id]) for one in mine), default=0)
        root[id] = id
        for source in mine:
            if changes[source] == changes[id]:
                one, other = sorted((first(source), first(id)))
                root[other] = one
    numbers: dict[str, int] = {}
    return {id: numbers.setdefault(first(id), len(numbers)) for id in ordered}


def count_free_work(
    stages: Stages, group_of: Mapping[str, int], groups: Sequence[Group], seconds: Mapping[str, float]
) -> None:
    """Add up what each group can do before any job of another group has ended."""
    blocked: dict[str, bool] = {}
    for id, index in group_of.items():
        sources = [source for source in stages[id].inputs.values() if source in group_of]
        blocked[id] = any(
            blocked[source] or (group_of[source] != index and not groups[group_of[source]].is_carried)
            for source in sources
        )
        groups[index].free += 0.0 if blocked[id] else seconds[id]


def users_of(stages: Stages, left: Collection[str], chains: Iterable[Sequence[str]]) -> dict[str, tuple[int, ...]]:
    """The numbers of the chains that need each stage that is left; a stage that none needs is a chain of its own."""
    wanted = left if isinstance(left, (set, frozenset, dict)) else set(left)
    users: dict[str, list[int]] = defaultdict(list)
    number = -1
    for number, chain in enumerate(chains):
        use(stages, wanted, chain, number, users)
    for id in reversed(list(stages)):
        if id in wanted and id not in users:
            number += 1
            use(stages, wanted, (id,), number, users)
    kept: dict[tuple[int, ...], tuple[int, ...]] = {}  # one tuple for all that have the same users
    return {id: kept.setdefault(many, many) for id, many in ((id, tuple(few)) for id, few in users.items())}


def use(
    stages: Stages, wanted: Collection[str], chain: Iterable[str], number: int, users: dict[str, list[int]]
) -> None:
    """Note that a chain needs these stages and all that they build on."""
    stack = [id for id in chain if id in wanted]
    while stack:
        id = stack.pop()
        mine = users[id]
        if not mine or mine[-1] != number:
            mine.append(number)
            stack += [source for source in stages[id].inputs.values() if source in wanted]


def waits_for(groups: Sequence[Group], index: int) -> tuple[int, ...]:
    """The groups with a job of their own that a group has to wait for."""
    group = groups[index]
    own = [other for other in below(groups, index) if not groups[other].is_carried]
    if group.free >= LONG:
        own = [other for other in own if groups[other].accelerated != group.accelerated]
    return tuple(sorted(own))


def below(groups: Sequence[Group], index: int) -> Iterator[int]:
    """The groups that a group builds on: those that it carries with all below them, and jobs of their own."""
    seen: set[int] = set()
    stack = list(groups[index].needs)
    while stack:
        other = stack.pop()
        if other in seen:
            continue
        seen.add(other)
        yield other
        if groups[other].is_carried:
            stack += groups[other].needs


def carried_by(groups: Sequence[Group], members: Sequence[int], waited: Collection[int]) -> list[str]:
    """The stages that a job takes along: all that it builds on but for what it waits for."""
    seen: set[int] = {*members, *waited}
    found: list[int] = []
    stack = [other for index in members for other in groups[index].needs]
    while stack:
        other = stack.pop()
        if other not in seen:
            seen.add(other)
            found.append(other)
            stack += groups[other].needs
    return [id for other in sorted(found) for id in groups[other].stages]


# --- jobs ----------------------------------------------------------------------------------------------------------


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


def resources_of(
    stages: Stages,
    ids: Sequence[str],
    chains: int,
    accelerated: bool,
    cluster: Cluster,
    costs: Mapping[str, StageCost],
) -> Resources:
    """What a job asks for: what its stages need, and no more than the file allows."""
    cap = cluster.options.cores
    widest = max((stages[id].cores for id in ids), default=1)
    cores = max(widest, min(cap, width(stages, ids, chains)))
    memory = cluster.memory
    if all(id in costs for id in ids):
        largest = sorted((costs[id].memory.high for id in ids), reverse=True)[:cores]
        expected = int(sum(largest) * MARGIN) + WORKER
        memory = expected if memory is None else min(memory, expected)
    accelerators = cluster.options.accelerators if accelerated else 0.0
    return Resources(cores, memory, accelerators, cluster.time)


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
