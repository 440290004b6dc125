"""The run that a report draws, with its stored results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from wmlab.graph.compile import Plan, Run
from wmlab.graph.drawing import drawn_run
from wmlab.graph.key import Key
from wmlab.runtime.result import Result
from wmlab.runtime.store import MissingEntry, Store


@dataclass(frozen=True, eq=False)
class Drawn:
    """One point and seed of a study, and what its stages gave."""

    run: Run
    keys: Mapping[str, Key]
    store: Store

    @property
    def place(self) -> str:
        return ", ".join(f"{axis} = {label}" for axis, label in self.run.point.where.items())

    @property
    def goals(self) -> Mapping[str, Any]:
        """Its unseen goals by name."""
        found: Mapping[str, Any] = self.run.point.data["evaluate"].get("unseen", {}).get("goals", {})
        return found

    def result(self, role: str) -> Result | None:
        """What a stage of the run gave; None where it has none, for the failures of the run say why."""
        if role not in self.run.stages:
            return None
        try:
            return self.store.load(self.keys[self.run.stages[role]])
        except MissingEntry:
            return None


def drawn(plan: Plan, keys: Mapping[str, Key], store: Store) -> Drawn | None:
    """The run that a report draws, if there is one."""
    chosen = drawn_run(plan.resolved, plan.runs)
    return None if chosen is None else Drawn(plan.runs[chosen], keys, store)
