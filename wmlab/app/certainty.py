"""What earlier runs found, for `wmlab explain`: from the store, and nothing is computed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from wmlab.errors import WmlabError
from wmlab.graph.experiment import ExperimentPlan
from wmlab.graph.study import Study
from wmlab.measure.chance import bend, compared
from wmlab.results.assemble import assemble
from wmlab.results.names import point_text
from wmlab.runtime.store import Store

ASKING = ("guarantee", "design")  # kinds of stages whose results make a sentence on what is certain
At = tuple[str, str]  # spec and point


def measured_sentences(study: Study) -> dict[At, str]:
    """Spec and point: how much of the return is certain there, which goal would help, whether chance is to be seen.

    Empty where a run would say what is certain, and none has.
    """
    sentences: dict[At, str] = {}
    for plan in study.plans:
        name = plan.resolved.name or ""
        asking = stages_of(plan, ASKING)
        if asking:
            sentences |= {(name, point_text(point.where)): "" for point in plan.resolved.points}
        if any(bend(point.experiment) for point in plan.resolved.points):
            asking += stages_of(plan, ("measure",))
        if not asking:
            continue
        try:
            store = Store()
            if any(store.has(study.keys[id]) for id in asking):
                found = assemble(plan, study.keys, store, {}, {})
                for where, sentence in (*certain(found), *of_chance(plan, found)):
                    at = (name, point_text(where))
                    sentences[at] = " ".join(part for part in (sentences.get(at), sentence) if part)
        except WmlabError:
            continue  # a cache that may not be used says nothing
    return sentences


def stages_of(plan: ExperimentPlan, kinds: tuple[str, ...]) -> list[str]:
    return [id for run in plan.runs for role, id in run.stages.items() if role.kind in kinds]


def certain(found: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Points, and what is certain there."""
    yield from ((one["where"], one["sentence"]) for one in found["certainty"])


def of_chance(plan: ExperimentPlan, found: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Points at which an agent's TD error is known, and whether the spread of next states can be read out there."""
    for point in plan.resolved.points:
        bent = bend(point.experiment)
        errors = [
            entry["mean"]
            for entry in found["metrics"].values()
            if entry["metric"] == "agent.td_error" and entry["where"] == point.where and entry.get("mean") is not None
        ]
        if bent is not None and errors:
            yield point.where, compared(bent, errors[0])
