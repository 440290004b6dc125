"""What earlier runs found to be certain, for `wmlab explain`: from the store, and nothing is computed."""

from __future__ import annotations

from wmlab.errors import WmlabError
from wmlab.graph.study import Study
from wmlab.results.assemble import assemble
from wmlab.results.names import point_text
from wmlab.runtime.store import Store

ASKING = ("guarantee", "design")  # kinds of stages whose results make a sentence


def measured_certainty(study: Study) -> dict[tuple[str, str], str]:
    """Spec and point: how much of the return is certain there and which goal would help; empty until a run says so."""
    sentences: dict[tuple[str, str], str] = {}
    for plan in study.plans:
        name = plan.resolved.name or ""
        asking = [id for run in plan.runs for role, id in run.stages.items() if role.kind in ASKING]
        if not asking:
            continue
        sentences |= {(name, point_text(point.where)): "" for point in plan.resolved.points}
        try:
            store = Store()
            if any(store.has(study.keys[id]) for id in asking):
                found = assemble(plan, study.keys, store, {}, {})["certainty"]
                sentences |= {(name, point_text(one["where"])): one["sentence"] for one in found}
        except WmlabError:
            continue  # a cache that may not be used says nothing
    return sentences
