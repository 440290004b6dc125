"""An experiment as stages: which there are, what each is to its point and seed, and which run a report draws."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from wmlab.graph.stage import Stage, Stages
from wmlab.spec.compose.points import Point
from wmlab.spec.compose.resolve import Resolved


@dataclass(frozen=True, order=True)
class Role:
    """What a stage is to its run: its kind and, where a run has several of that kind, which of them it is."""

    kind: str  # train, extract, regress, measure, identify, oracle, plan, guarantee, baseline, design, compare, look, …
    name: str = ""  # of the unseen goal, or of the comparison

    def __str__(self) -> str:
        return f"{self.kind} {self.name}" if self.name else self.kind


@dataclass(frozen=True)
class Run:
    """The stages of one point and seed."""

    point: Point
    seed: int
    stages: Mapping[Role, str]  # role: stage id

    def stage(self, kind: str, name: str = "") -> str | None:
        """The id of the stage in this role; None where the run has none."""
        return self.stages.get(Role(kind, name))


@dataclass(frozen=True)
class ExperimentPlan:
    """What there is to do for a spec."""

    resolved: Resolved
    stages: Stages
    runs: tuple[Run, ...]  # the seeds of the first point, then those of the next
    drawn: Run | None = None  # the run that a report draws

    def stage(self, stage_id: str) -> Stage:
        return self.stages[stage_id]
