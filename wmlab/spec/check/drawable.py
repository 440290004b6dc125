"""Which metrics of a spec can be drawn over training: those that are taken at each checkpoint."""

from __future__ import annotations

from wmlab.registry.metrics import find
from wmlab.spec.check.claim_scope import ClaimScope
from wmlab.spec.compose.resolve import Resolved

Reason = tuple[str, str | None]  # why not, and what would do


def why_no_curve(metric: str, resolved: Resolved, scope: ClaimScope) -> Reason | None:
    """Why a metric that a spec makes is no curve at any point; None where it is one, or nothing can be said."""
    experiments = [point.experiment for point in scope.points if scope.whole]
    if not experiments:
        return None
    if not any(each.agent.traits.learns for each in experiments):
        kind = experiments[0].agent.name
        return f"{metric} is no curve: an agent of kind {kind} is not trained, so it has no checkpoints", None
    if metric in scope.across:
        name = metric.split(".")[1]
        if resolved.relate[name].where.get("step") == "all":
            return None
        return f"{metric} is taken at the end alone, so it is no curve", f"say relate.{name}.where.step: all"
    declared = find(metric)
    if declared is not None and declared[0].stage not in ("measure", "plan"):
        return f"{metric} is taken at the end of a training alone, so it is no curve", None
    tracked = [each for each in experiments if each.extract is not None and each.extract.at_checkpoints]
    if not tracked:
        hint = "say extract.when: checkpoints"
        return f"{metric} is no curve: nothing is measured along the training, only at its end", hint
    plans = [each.evaluate.unseen for each in tracked if each.evaluate.unseen is not None]
    if metric.startswith("unseen.") and not any(plan.when == "checkpoints" for plan in plans):
        return f"{metric} is no curve: plans are made at the end alone", "say evaluate.unseen.when: checkpoints"
    return None
