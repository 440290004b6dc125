"""What a stage is asked, as records: a worker builds one from the JSON of the plan, and nothing below reads that."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from wmlab.extraction.options import Prior
from wmlab.registry import AgentChoice, ExtractionChoice, SolverChoice, WorldChoice
from wmlab.runtime.result import Result
from wmlab.sections.data import DataSection
from wmlab.sections.experiment import (
    Design,
    Evaluate,
    Explore,
    GoalsSection,
    GuaranteeSection,
    Identify,
    Look,
    UnseenGoal,
)
from wmlab.sections.spec import Compare

Files = dict[str, str]  # file: the SHA-256 of what the plan saw in it


@dataclass(frozen=True, kw_only=True)
class StageParams:
    """What every stage is asked: of which world, with which seed."""

    mdp: WorldChoice
    seed: int = 0  # where something draws
    files: Files = field(default_factory=dict)
    data: DataSection | None = None  # logged transitions, where they are used


@dataclass(frozen=True, kw_only=True)
class TrainParams(StageParams):
    goals: GoalsSection
    agent: AgentChoice
    keep: Literal["all", "final"] = "final"  # the checkpoints whose weights are kept
    transitions: int = 0  # how many of those that a training sees are kept
    seeds: tuple[int, ...] = ()  # of agents that train together


@dataclass(frozen=True, kw_only=True)
class ExtractParams(StageParams):
    extract: ExtractionChoice


@dataclass(frozen=True, kw_only=True)
class MeasureParams(StageParams):
    evaluate: Evaluate
    bounds: dict[str, tuple[float, ...]] = field(default_factory=dict)  # of a grid that values are taken on


@dataclass(frozen=True, kw_only=True)
class IdentifyParams(StageParams):
    identify: Identify
    prior: Prior | None


@dataclass(frozen=True, kw_only=True)
class PlanTask:
    """A plan for one unseen goal, beside the world and the model that it is made in."""

    goal: UnseenGoal
    discount: float
    solver: SolverChoice
    starts: str | int


@dataclass(frozen=True, kw_only=True)
class PlanParams(PlanTask, StageParams):
    """Of an oracle, or of a plan in a model."""


@dataclass(frozen=True, kw_only=True)
class GuaranteeParams(StageParams):
    goal: UnseenGoal
    discount: float
    starts: str | int
    guarantee: GuaranteeSection
    prior: Prior | None


@dataclass(frozen=True, kw_only=True)
class DesignParams(StageParams):
    goals: GoalsSection
    agent: AgentChoice
    design: Design
    prior: Prior | None
    unseen: dict[str, UnseenGoal]  # by whose returns candidates are ranked
    discount: float | None
    starts: str | int


@dataclass(frozen=True, kw_only=True)
class BaselineParams(PlanParams):
    """Of what is attained without the extracted model."""

    combination: bool = False  # whether the trained values are combined


@dataclass(frozen=True, kw_only=True)
class TrackParams(MeasureParams):
    extract: ExtractionChoice
    unseen: dict[str, PlanTask]


@dataclass(frozen=True, kw_only=True)
class CompareParams(StageParams):
    compare: Compare


@dataclass(frozen=True, kw_only=True)
class LookParams(MeasureParams):
    look: Look


@dataclass(frozen=True, kw_only=True)
class ExplorePlanesParams(MeasureParams):
    """Of an explorer of a continuous world."""

    explore: Explore


@dataclass(frozen=True, kw_only=True)
class ExploreParams(StageParams):
    """Of an explorer of a finite world."""

    explore: Explore
    prior: Prior | None
    unseen: dict[str, UnseenGoal]
    discount: float | None  # of plans for them


def hooks_of(context: Any) -> dict[str, Any]:
    """The hooks of a training or a fit, what `wmlab.core.training.Hooks` takes: what a long stage keeps and tells."""
    partial = context.partial.load()
    return {
        "resume": None if partial is None else partial.arrays,
        "save": lambda arrays: context.partial.save(Result(arrays, {})),
        "progress": context.progress,
    }
