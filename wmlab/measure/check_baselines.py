"""What can be wrong with the baselines that a spec asks for."""

from __future__ import annotations

from collections.abc import Iterator

from wmlab.core.continuous.space import ContinuousSpace
from wmlab.registry import Finding, Scope
from wmlab.sections.experiment import Baselines, Evaluate


def check_baselines(asked: Baselines, evaluate: Evaluate, scope: Scope) -> Iterator[Finding]:
    """Baselines that there is something to make of, and something to hold against."""
    if asked.combination is not None:
        path = ("baselines", "combination")
        if evaluate.unseen is None:
            yield Finding(path, "values are combined for unseen goals, and there are none", "ask for unseen", key=True)
        elif scope.mdp is not None and not scope.mdp.traits.knows_truth:
            yield Finding(path, f"needs true dynamics to act in, and mdp.kind is {scope.mdp.name}", key=True)
    if asked.regression is not None:
        yield from _check_regression(evaluate, scope)


def _check_regression(evaluate: Evaluate, scope: Scope) -> Iterator[Finding]:
    path, agent = ("baselines", "regression"), scope.agent
    if not isinstance(scope.space, ContinuousSpace):
        yield Finding(path, "fits a network to transitions, in a continuous world", key=True)
    elif agent is not None and not agent.traits.keeps_transitions:
        message = f"is fitted to transitions of a training, and agent.kind {agent.name} has none to keep"
        yield Finding(path, message, "say agent.kind: pqn, or leave it out", key=True)
    if not scope.extracts:
        yield Finding(path, "has the form of the extracted model, and there is no `extract`", key=True)
    if evaluate.model_error is None:
        yield Finding(path, "is measured where the model's error is", "ask for model_error, too", key=True)
