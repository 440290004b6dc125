"""What signs are made of: one point of a study with its numbers, and how a sign speaks of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from wmlab.results.statistics import mean
from wmlab.sections.experiment import ExperimentSpec

Severity = Literal["failed", "doubtful", "note"]


@dataclass(frozen=True)
class Sign:
    """Something that speaks against the reading at a point."""

    id: str
    severity: Severity
    sentence: str
    badness: float = 0.0  # to tell the worst of several
    everywhere: bool = False  # it is said of the spec, not of a point


@dataclass(frozen=True)
class PointFacts:
    """One point of a study: what was asked there, and the numbers that its seeds gave."""

    where: Mapping[str, Any]
    experiment: ExperimentSpec
    seeds: Sequence[int]
    metrics: Mapping[str, float | None]  # means over seeds
    measured: Sequence[Mapping[str, Any]]  # what the stage `measure`, or failing that `extract`, says: for each seed
    plans: Mapping[str, Sequence[Mapping[str, Any]]]  # goal: what its plan says, for each seed
    guarantees: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)  # likewise
    designs: Sequence[Mapping[str, Any]] = ()  # which goal to add, for each seed
    goals: int | None = None  # of the agent
    identified: Sequence[Mapping[str, Any]] = ()  # what the stage `identify` says, for each seed

    def metric(self, name: str) -> float | None:
        return self.metrics.get(name)

    def yardstick(self, name: str) -> float | None:
        """Mean over seeds of what a metric is held against."""
        return mean_number(each.get("yardsticks") or {} for each in self.measured)(name)

    def extraction(self, name: str) -> float | None:
        """Mean over seeds of what an extraction says of itself."""
        return mean_number(each.get("extraction") or {} for each in self.measured)(name)

    def notes(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Each seed with what its extraction says of itself."""
        for seed, measured in zip(self.seeds, self.measured, strict=True):
            yield seed, measured.get("extraction") or {}

    def worst(self, name: str, least: bool = False) -> Mapping[str, Any]:
        """The notes of the seed whose extraction says most under a name, or least; none where no seed says a number."""
        said = [notes for _, notes in self.notes() if is_number(notes.get(name))]
        return (min if least else max)(said, key=lambda notes: float(notes[name]), default={})


def mean_number(parts: Iterator[Mapping[str, Any]]) -> Callable[[str], float | None]:
    """Of several mappings, the mean of what stands under a name, as far as it is a finite number."""
    known = list(parts)

    def of(name: str) -> float | None:
        values = [part.get(name) for part in known]
        return mean([value for value in values if is_number(value)])

    return of


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and math.isfinite(value)


def shown(number: float) -> str:
    """A number in three digits."""
    return f"{number:.3g}"


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"
