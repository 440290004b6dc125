"""The page of a run that is on; a script asks how far it is."""

from __future__ import annotations

from dataclasses import dataclass

from wmlab.report import plan_graph
from wmlab.report.data import PlanRows
from wmlab.report.scripts import embedded, script
from wmlab.report.template import draw_template
from wmlab.report.text import moment


@dataclass(frozen=True)
class LiveHead:
    """Which run a page shows."""

    id: str
    spec: str
    profile: str
    started: str  # as it is stored
    host: str = ""


def render_live(run: LiveHead, plan: PlanRows) -> bytes:
    """The page as it is first seen: what runs, and its graph; the rest is asked for."""
    kinds = plan_graph.summaries(plan)
    stages = [{"label": stage.label, "kind": stage.kind} for stage in plan.stages]
    return draw_template(
        "live.html.j2",
        scripts=(script("live"),),
        connects="'self'",
        run=run,
        started=moment(run.started),
        drawing=plan_graph.draw(plan),
        kinds=kinds,
        data=embedded({"stages": stages, "kinds": [kind.kind for kind in kinds]}),
    )
