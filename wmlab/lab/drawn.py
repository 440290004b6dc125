"""The run that a report draws, with its stored results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from wmlab.plan.compile import Plan, Run
from wmlab.plan.key import Key
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
    """The first seed at the labels that `report.maps` asks for, as far as this profile has them, and the last of the
    rest."""
    labels = {axis.name: axis.labels for axis in plan.resolved.axes}
    asked = asked_maps(plan).get("where", {})
    wanted = {axis: label for axis, label in asked.items() if label in labels.get(axis, ())}
    first = plan.resolved.seeds[0]
    fitting = [run for run in plan.runs if run.seed == first and wanted.items() <= run.point.where.items()]
    return Drawn(fitting[-1], keys, store) if fitting else None


def asked_maps(plan: Plan) -> Mapping[str, Any]:
    """What a spec says under `report.maps`."""
    found: Mapping[str, Any] = plan.resolved.data.get("report", {}).get("maps", {})
    return found
