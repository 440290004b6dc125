"""Which run of a study shows best where models are wrong: the one whose model is the furthest off."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from wmlab.graph.experiment import ExperimentPlan, Run
from wmlab.graph.key import Key
from wmlab.report.content.stored_run import StoredRun
from wmlab.results.names import name_of
from wmlab.runtime.store import Store

ROUNDING = 1e-9  # errors and widths below this are what arithmetic leaves, and are drawn as nothing
MEASURES = {"finite": "wm.tv", "continuous": "wm.delta_nmse"}


@dataclass(frozen=True, eq=False)
class WorstRun:
    """The run whose errors are drawn, and how its caption names it."""

    run: StoredRun
    note: str


def worst_run(
    plan: ExperimentPlan, drawn: Run, keys: Mapping[str, Key], store: Store, results: Mapping[str, Any]
) -> WorstRun:
    """Of the runs at the labels that `report.maps` asks for, the one with the greatest error; else the run drawn."""
    wanted = plan.resolved.report.maps.where if plan.resolved.report.maps else {}
    labels = {axis.name: axis.labels for axis in plan.resolved.axes}
    held = {axis: label for axis, label in wanted.items() if label in labels.get(axis, ())}
    runs = [run for run in plan.runs if held.items() <= run.point.where.items()]
    errors = [error_of(run, plan, results) for run in runs]
    chosen = runs[int(np.argmax(errors))] if runs and max(errors) > ROUNDING else drawn
    stored = StoredRun(chosen, keys, store)
    if len(runs) < 2:
        return WorstRun(stored, f"At {stored.place}." if stored.place else "")
    seed = f"seed {chosen.seed}" if len(plan.resolved.seeds) > 1 else ""
    place = ", ".join(part for part in (stored.place, seed) if part)
    return WorstRun(stored, f"At {place}" + (", where the model is furthest off." if chosen is not drawn else "."))


def error_of(run: Run, plan: ExperimentPlan, results: Mapping[str, Any]) -> float:
    """How wrong the model of one run is; -1 where that is not known."""
    metric = MEASURES[run.point.experiment.mdp.sort]
    entry = (results.get("metrics") or {}).get(name_of(run.point.where, metric))
    value = entry["values"][plan.resolved.seeds.index(run.seed)] if entry else None
    return -1.0 if value is None else float(value)


def without_rounding(values: np.ndarray) -> tuple[np.ndarray, str]:
    """Values to be drawn, and what a caption says where all of them are rounding; NaN stays."""
    greatest = float(np.nanmax(np.abs(values))) if np.isfinite(values).any() else 0.0
    if greatest == 0 or greatest >= ROUNDING:
        return values, ""
    return np.where(np.isfinite(values), 0.0, values), f"Nowhere more than {greatest:.1g}, which is rounding."
