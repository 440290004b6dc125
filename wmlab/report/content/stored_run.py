"""One run of an experiment with what its stages gave, as far as it is stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from wmlab.core.continuous.space import ContinuousSpace
from wmlab.core.finite.space import FiniteSpace
from wmlab.graph.experiment import Role, Run
from wmlab.graph.key import Key
from wmlab.runtime.result import Result
from wmlab.runtime.store import MissingEntry, Store
from wmlab.sections.experiment import UnseenGoal


@dataclass(frozen=True, eq=False)
class StoredRun:
    """One point and seed of an experiment, and what its stages gave."""

    run: Run
    keys: Mapping[str, Key]
    store: Store

    @cached_property
    def space(self) -> FiniteSpace | ContinuousSpace:
        space: FiniteSpace | ContinuousSpace = self.run.point.experiment.mdp.space
        return space

    @property
    def place(self) -> str:
        return ", ".join(f"{axis} = {label}" for axis, label in self.run.point.where.items())

    @property
    def goals(self) -> Mapping[str, UnseenGoal]:
        """Its unseen goals by name."""
        unseen = self.run.point.experiment.evaluate.unseen
        return unseen.goals if unseen is not None else {}

    def knows_best(self, goal: str) -> bool:
        """Whether there is a true world to plan in for this goal, and so something to hold the model's plan against."""
        return Role("oracle", goal) in self.run.stages

    def returns(self, plan: Result, goal: str) -> str:
        """What the model's plan for an unseen goal is worth, in words."""
        metrics = plan.data["metrics"]
        if not self.knows_best(goal):
            return f"The extracted model promises {metrics['r_believed']['value']:.4g}; there is no truth to try it in"
        return f"R* {metrics['r_star']['value']:.4g}, the model's policy {metrics['r_wm']['value']:.4g}"

    def result(self, kind: str, name: str = "") -> Result | None:
        """What the stage in a role gave; None where it has none, for the failures of the run say why."""
        stage = self.run.stage(kind, name)
        if stage is None:
            return None
        try:
            return self.store.load(self.keys[stage])
        except MissingEntry:
            return None
