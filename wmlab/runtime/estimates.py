"""What stages are going to cost, from those that ran before: the nearest of the same module, scaled by sizes.

A size is a whole number of the parameters, the length of a list or of a map, of the stage itself or of what it builds
on: reading a wide network takes longer than reading a narrow one. Time is taken to grow with the product of sizes, and
by a power between a half and two. Where no stage of the same kinds has run here, the cost is not known.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from wmlab.core.memory import ARRAYS_AT_ONCE, BATCH_BYTES, WORKER_BYTES
from wmlab.graph.key import Key
from wmlab.graph.stage import Stages
from wmlab.runtime import folder
from wmlab.runtime.store import Store

MOST = 1000  # stored results that are looked at; they lie in no order, so that these are like the others
_POWERS = (0.5, 1.0, 2.0)  # of a ratio of sizes: a guess low, middle and high
_NOISE = (0.7, 1.0, 1.5)  # one stage twice takes as long only so nearly
_OTHER_SETTINGS = (0.5, 1.0, 2.0)  # a setting that is no size may matter
FLAT = (
    WORKER_BYTES + ARRAYS_AT_ONCE * BATCH_BYTES
)  # bytes that libraries, programs and a batch take, whatever the sizes
_DRAWS = ("seed", "shuffle")  # another seed costs the same


@dataclass(frozen=True)
class CostRange:
    """A guess, and between what it may lie."""

    low: float
    middle: float
    high: float


@dataclass(frozen=True)
class StageCost:
    """What one stage is going to cost."""

    seconds: CostRange
    memory: CostRange  # bytes


@dataclass(frozen=True)
class PlanCost:
    """What the stages of a plan that would run are going to cost."""

    seconds: CostRange | None  # of the stages whose cost is known; None where it is of none
    memory: CostRange | None  # bytes, of as many stages as may run at once
    jobs: int
    unknown: Mapping[str, int]  # kind: stages of which nothing is known
    stages: Mapping[str, StageCost] = field(default_factory=dict)  # by id


@dataclass(frozen=True)
class StageParameters:
    """The parameters of a stage by their paths: kinds, which have to be the same, sizes, and other settings."""

    kinds: Mapping[str, str]
    sizes: Mapping[str, float]
    settings: Mapping[str, str]

    @classmethod
    def of(cls, params: Mapping[str, Any], inputs: Mapping[str, StageParameters] | None = None) -> StageParameters:
        """The parameters of a stage; of `inputs`, by their names, sizes and settings count, too."""
        kinds: dict[str, str] = {}
        sizes: dict[str, float] = {}
        settings: dict[str, str] = {}
        for path, value in _leaves(params, ""):
            name = path.rpartition(".")[2]
            if name in _DRAWS:
                continue
            if name == "kind":
                kinds[path] = str(value)
            elif type(value) is int and value > 0:
                sizes[path] = float(value)
            else:
                settings[path] = repr(value)
        for name, given in (inputs or {}).items():
            sizes |= {f"{name}:{path}": size for path, size in given.sizes.items()}
            settings |= {f"{name}:{path}": setting for path, setting in given.settings.items()}
        return cls(kinds, sizes, settings)

    @cached_property
    def spelt(self) -> tuple[tuple[tuple[str, Any], ...], ...]:
        """All of them, as one value: stages that differ by their seed alone are spelt alike."""
        return tuple(tuple(sorted(part.items())) for part in (self.kinds, self.sizes, self.settings))

    @cached_property
    def items(self) -> frozenset[tuple[str, str, Any]]:
        """Sizes and settings, each with its path."""
        parts = (("size", self.sizes), ("setting", self.settings))
        return frozenset((sort, path, value) for sort, part in parts for path, value in part.items())

    def distance(self, other: StageParameters) -> tuple[int, float]:
        """In how many parameters two stages differ, and by how much in size: the powers of e between them."""
        different = {(sort, path) for sort, path, _ in self.items ^ other.items}
        paths = [path for sort, path in different if sort == "size" and path in self.sizes and path in other.sizes]
        return len(different), sum(abs(math.log(self.sizes[path] / other.sizes[path])) for path in paths)


@dataclass(frozen=True)
class PastStage:
    """A stage that ran before: what it was asked, and what it cost."""

    facts: StageParameters
    seconds: float
    memory: float


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _leaves(inner, f"{path}.{name}")
    elif isinstance(value, (list, tuple)):
        yield f"{path}.length", len(value)
    else:
        yield path, len(value) if isinstance(value, str) and "\n" in value else value


def past_stages(store: Store) -> dict[str, list[PastStage]]:
    """Stages that ran before, by their module."""
    past: dict[str, list[PastStage]] = {}
    manifests = _manifests(store.root)
    for key in islice(store.entries(), MOST):
        entry = manifests.read(key)
        module, params = entry.get("module"), entry.get("params")
        cost = [value for name in ("seconds", "peak_memory") if isinstance(value := entry.get(name), int | float)]
        if isinstance(module, str) and isinstance(params, dict) and len(cost) == 2:
            past.setdefault(module, []).append(PastStage(manifests.facts(key), *cost))
    return past


@cache
def _manifests(root: Path) -> _Manifests:
    """Those of a store, kept for the next run of the same command: an entry that is there never changes."""
    return _Manifests(Store(root))


class _Manifests:
    """What entries of a store were asked, each read once."""

    def __init__(self, store: Store):
        self._store = store
        self._read: dict[str, Mapping[str, Any]] = {}
        self._facts: dict[str, StageParameters] = {}

    def read(self, key: str) -> Mapping[str, Any]:
        """The manifest of an entry; nothing where there is none to be trusted."""
        if key not in self._read:
            try:
                self._read[key] = folder.read_manifest(self._store.path(key))
            except (folder.Damaged, OSError):
                return {}  # it may be mended in the meantime
        return self._read[key]

    def facts(self, key: str) -> StageParameters:
        """The parameters of an entry and of what it builds on, as far as that is still there."""
        if key in self._facts:
            return self._facts[key]
        entry = self.read(key)
        params, inputs = entry.get("params"), entry.get("inputs")
        given = {str(name): self.facts(str(one)) for name, one in inputs.items()} if isinstance(inputs, dict) else {}
        facts = StageParameters.of(params if isinstance(params, dict) else {}, given)
        if entry:
            self._facts[key] = facts
        return facts


class Estimator:
    """What the stages of a plan are going to cost, from what ran before and from what has run since."""

    def __init__(self, stages: Stages, past: Mapping[str, Iterable[PastStage]]):
        self._stages = stages
        self._facts: dict[str, StageParameters] = {}
        self._groups: dict[str, dict[Any, list[PastStage]]] = {}  # module: stages that were asked the same
        self._least = math.inf
        self._costs: dict[str, dict[Any, StageCost | None]] = {}  # module: cost of what is asked the same
        for module, several in past.items():
            for one in several:
                self._add(module, one)

    def cost(self, id: str) -> StageCost | None:
        """What a stage is going to cost; None where nothing like it has run."""
        stage = self._stages[id]
        groups = self._groups.get(stage.module)
        if not groups:
            return None
        facts, known = self._facts_of(id), self._costs.setdefault(stage.module, {})
        if facts.spelt not in known:
            known[facts.spelt] = _from_nearest(facts, groups.values(), self._least)
        return known[facts.spelt]

    def seconds(self, id: str) -> float | None:
        """The time that a stage is going to take; None where nothing like it has run."""
        cost = self.cost(id)
        return None if cost is None else cost.seconds.middle

    def learn(self, id: str, seconds: float, memory: float | None) -> None:
        """A stage of the plan took so much."""
        module = self._stages[id].module
        held = self._least if memory is None else float(memory)
        self._add(module, PastStage(self._facts_of(id), seconds, held if math.isfinite(held) else 0.0))
        self._costs.pop(module, None)

    def _add(self, module: str, one: PastStage) -> None:
        self._least = min(self._least, one.memory)
        self._groups.setdefault(module, {}).setdefault(one.facts.spelt, []).append(one)

    def _facts_of(self, id: str) -> StageParameters:
        if id not in self._facts:
            stage = self._stages[id]
            given = {name: self._facts_of(source) for name, source in stage.inputs.items()}
            self._facts[id] = StageParameters.of(stage.params, given)
        return self._facts[id]


def stage_cost(facts: StageParameters, past: Iterable[PastStage], least_memory: float) -> StageCost | None:
    """What a stage is going to cost, from the nearest of those that ran before; None where none has the same kinds."""
    groups: dict[Any, list[PastStage]] = {}
    for one in past:
        groups.setdefault(one.facts.spelt, []).append(one)
    return _from_nearest(facts, groups.values(), least_memory)


def _from_nearest(facts: StageParameters, groups: Iterable[list[PastStage]], least_memory: float) -> StageCost | None:
    """The cost by the nearest of several groups; those of one group were asked the same."""
    alike = [(facts.distance(group[0].facts), group) for group in groups if group[0].facts.kinds == facts.kinds]
    if not alike:
        return None
    nearest = min(distance for distance, _ in alike)
    guesses = [_scaled(facts, one, least_memory) for distance, group in alike if distance == nearest for one in group]
    return StageCost(_spread([one.seconds for one in guesses]), _spread([one.memory for one in guesses]))


def _scaled(facts: StageParameters, past: PastStage, least_memory: float) -> StageCost:
    ratio = 1.0
    for path, size in facts.sizes.items():
        ratio *= size / past.facts.sizes.get(path, size)
    powers = sorted(ratio**power for power in _POWERS)
    powers[1] = ratio
    others = _OTHER_SETTINGS if facts.settings != past.facts.settings else (1.0, 1.0, 1.0)
    seconds = [past.seconds * power * noise * other for power, noise, other in zip(powers, _NOISE, others, strict=True)]
    flat = min(past.memory, max(least_memory, FLAT))
    memory = [flat + (past.memory - flat) * power * other for power, other in zip(powers, others, strict=True)]
    return StageCost(CostRange(*seconds), CostRange(*memory))


def _spread(guesses: list[CostRange]) -> CostRange:
    middle = sum(one.middle for one in guesses) / len(guesses)
    return CostRange(min(one.low for one in guesses), middle, max(one.high for one in guesses))


def plan_cost(stages: Stages, keys: Mapping[str, Key], store: Store, jobs: int) -> PlanCost | None:
    """What the stages of a plan are going to cost that are not stored; None where all are."""
    left = [id for id in stages if not store.has(keys[id])]
    if not left:
        return None
    estimator = Estimator(stages, past_stages(store))
    costs = {id: cost for id in left if (cost := estimator.cost(id)) is not None}
    unknown = dict(Counter(stages[id].kind for id in left if id not in costs))
    if not costs:
        return PlanCost(None, None, jobs, unknown)
    seconds = _total([cost.seconds for cost in costs.values()], lambda each: max(max(each), sum(each) / max(jobs, 1)))
    memory = _total([cost.memory for cost in costs.values()], lambda each: sum(sorted(each)[-max(jobs, 1) :]))
    return PlanCost(seconds, memory, jobs, unknown, costs)


def _total(ranges: list[CostRange], add: Callable[[list[float]], float]) -> CostRange:
    return CostRange(*(add([getattr(one, part) for one in ranges]) for part in ("low", "middle", "high")))
