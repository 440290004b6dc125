"""Stages that belong together: those that build on each other, have the same users, and run on the same sort of device.

A stage is used by the runs (a point and a seed each) that need its answer. Stages with the same users are a group: the
chain of one run, or what several runs share. What a stage builds on has at least the users of that stage, so that
groups never wait for each other in a circle.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from wmlab.graph.stage import Stages

LONG = 60.0  # seconds from which on a chain is a job of its own


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
