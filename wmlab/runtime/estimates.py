"""What stages are going to cost, from those that ran before: the nearest of the same module, scaled by sizes.

A size is a whole number of the parameters, the length of a list or of a map; time is taken to grow with the product of
sizes, and by a power between a half and two. Where no stage of the same kinds has run here, the cost is not known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any

from wmlab.graph.key import Key
from wmlab.graph.stage import Stages
from wmlab.runtime import folder
from wmlab.runtime.store import Store

MOST = 1000  # stored results that are looked at; they lie in no order, so that these are like the others
_POWERS = (0.5, 1.0, 2.0)  # of a ratio of sizes: a guess low, middle and high
_NOISE = (0.7, 1.0, 1.5)  # one stage twice takes as long only so nearly
_OTHER_SETTINGS = (0.5, 1.0, 2.0)  # a setting that is no size may matter
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
    def of(cls, params: Mapping[str, Any]) -> StageParameters:
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

    def distance(self, other: StageParameters) -> int:
        """In how many parameters two stages differ."""
        return len({(sort, path) for sort, path, _ in self.items ^ other.items})


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
    for key in islice(store.entries(), MOST):
        try:
            entry = folder.read_manifest(store.path(key))
        except folder.Damaged:
            continue
        module, params = entry.get("module"), entry.get("params")
        cost = [value for name in ("seconds", "peak_memory") if isinstance(value := entry.get(name), int | float)]
        if isinstance(module, str) and isinstance(params, dict) and len(cost) == 2:
            past.setdefault(module, []).append(PastStage(StageParameters.of(params), *cost))
    return past


def stage_cost(facts: StageParameters, past: Iterable[PastStage], least_memory: float) -> StageCost | None:
    """What a stage is going to cost, from the nearest of those that ran before; None where none has the same kinds."""
    alike = [one for one in past if one.facts.kinds == facts.kinds]
    apart = {spelt: facts.distance(other) for spelt, other in {one.facts.spelt: one.facts for one in alike}.items()}
    nearest = min(apart.values(), default=None)
    guesses = [_scaled(facts, one, least_memory) for one in alike if apart[one.facts.spelt] == nearest]
    if not guesses:
        return None
    return StageCost(_spread([one.seconds for one in guesses]), _spread([one.memory for one in guesses]))


def _scaled(facts: StageParameters, past: PastStage, least_memory: float) -> StageCost:
    ratio = 1.0
    for path, size in facts.sizes.items():
        ratio *= size / past.facts.sizes.get(path, size)
    powers = sorted(ratio**power for power in _POWERS)
    powers[1] = ratio
    others = _OTHER_SETTINGS if facts.settings != past.facts.settings else (1.0, 1.0, 1.0)
    seconds = [past.seconds * power * noise * other for power, noise, other in zip(powers, _NOISE, others, strict=True)]
    own = max(0.0, past.memory - least_memory)  # beside what any worker holds
    memory = [least_memory + own * power * other for power, other in zip(powers, others, strict=True)]
    return StageCost(CostRange(*seconds), CostRange(*memory))


def _spread(guesses: list[CostRange]) -> CostRange:
    middle = sum(one.middle for one in guesses) / len(guesses)
    return CostRange(min(one.low for one in guesses), middle, max(one.high for one in guesses))


def plan_cost(stages: Stages, keys: Mapping[str, Key], store: Store, jobs: int) -> PlanCost | None:
    """What the stages of a plan are going to cost that are not stored; None where all are."""
    left = [id for id in stages if not store.has(keys[id])]
    if not left:
        return None
    past = past_stages(store)
    least = min((one.memory for several in past.values() for one in several), default=0.0)
    costs: dict[str, StageCost] = {}
    guessed: dict[Any, StageCost | None] = {}  # seeds of one point cost the same
    for id in left:
        facts, module = StageParameters.of(stages[id].params), stages[id].module
        if (module, facts.spelt) not in guessed:
            guessed[module, facts.spelt] = stage_cost(facts, past.get(module, ()), least)
        cost = guessed[module, facts.spelt]
        if cost is not None:
            costs[id] = cost
    unknown = dict(Counter(stages[id].kind for id in left if id not in costs))
    if not costs:
        return PlanCost(None, None, jobs, unknown)
    seconds = _total([cost.seconds for cost in costs.values()], lambda each: max(max(each), sum(each) / max(jobs, 1)))
    memory = _total([cost.memory for cost in costs.values()], lambda each: sum(sorted(each)[-max(jobs, 1) :]))
    return PlanCost(seconds, memory, jobs, unknown, costs)


def _total(ranges: list[CostRange], add: Callable[[list[float]], float]) -> CostRange:
    return CostRange(*(add([getattr(one, part) for one in ranges]) for part in ("low", "middle", "high")))
