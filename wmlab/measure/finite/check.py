"""What can be wrong with a spec's `evaluate`."""

from __future__ import annotations

from collections.abc import Iterator

from wmlab.core.continuous.space import ContinuousSpace
from wmlab.core.finite.select import SelectionError, states_of
from wmlab.core.finite.space import FiniteSpace
from wmlab.extraction.options import Common, Prior, check_common, check_table
from wmlab.measure.check_baselines import check_baselines
from wmlab.measure.continuous.check import check_continuous_evaluate
from wmlab.registry import Finding, Scope
from wmlab.sections.experiment import Evaluate, Identify, UnseenGoal


def check_evaluate(evaluate: Evaluate, scope: Scope) -> Iterator[Finding]:
    """Findings with paths below `evaluate`."""
    space = scope.space
    if space is not None and evaluate.baselines is not None:
        yield from check_baselines(evaluate.baselines, evaluate, scope)
    if isinstance(space, ContinuousSpace):
        yield from check_continuous_evaluate(evaluate, scope)
    if not isinstance(space, FiniteSpace):
        return
    if evaluate.model_error is not None and evaluate.model_error.states != "all":
        yield Finding(("model_error", "states"), "in a finite world the error is over all states", "say states: all")
    if evaluate.look is not None:
        yield Finding(
            ("look",), "draws over two variables of a continuous world", "in a map, say report.maps", key=True
        )
    if evaluate.disagreement is not None:
        message = "compares the members of an ensemble of networks, which a continuous world has"
        yield Finding(("disagreement",), message, "evaluate.identify.width says what values leave open", key=True)
    if evaluate.identify is not None and evaluate.identify.when == "checkpoints":
        message = "what values pin down is taken at the final agent alone"
        yield Finding(("identify", "when"), message, "say final, or leave it out")
    yield from _check_width(evaluate.identify, scope)
    unseen = evaluate.unseen
    if unseen is None:
        return
    if not scope.extracts:
        yield Finding(("unseen",), "plans are made in an extracted model, and there is no `extract`")
    agent = scope.agent
    if unseen.discount is None and agent is not None and agent.get("discount") is None and agent.get("discounts"):
        yield Finding(("unseen", "discount"), "the agent has several discounts; say which one plans are judged by")
    for name, goal in unseen.goals.items():
        path = ("unseen", "goals", name)
        if name == "mean":
            yield Finding(path, "'mean' is kept for the mean over unseen goals; use another name", key=True)
        yield from check_goal(goal, space, path)


def _check_width(identify: Identify | None, scope: Scope) -> Iterator[Finding]:
    """The identified set has a least and a greatest probability for every candidate: two tables."""
    if identify is None or identify.width is None:
        return
    prior: Prior | None = scope.extract.get("prior") if scope.extract is not None else None
    if list(check_common(Common(prior), scope)):
        return  # told of the prior itself
    hint = "give extract.prior.support, or leave out width"
    yield from check_table("the identified set", prior, scope, ("identify", "width"), hint, tables=2)


def check_goal(goal: UnseenGoal, space: FiniteSpace, path: tuple[str | int, ...]) -> Iterator[Finding]:
    """One unseen goal: its states exist, and the target is not among the unsafe ones."""
    if (goal.reach is None) == (goal.reach_any is None):
        yield Finding(path, "say one of reach and reach_any")
        return
    if goal.within is not None:
        yield Finding((*path, "within"), "distance has no meaning in a finite world; list the states in reach_any")
    states: dict[str, list[int]] = {}
    for key in ("reach", "reach_any", "avoid"):
        try:
            states[key] = states_of(getattr(goal, key), space, (*path, key))
        except SelectionError as error:
            yield from error.findings
            return
    targets = {*states["reach"], *states["reach_any"]}
    for position, state in enumerate(states["avoid"]):
        if state in targets:
            place = (*path, "avoid") if space.coordinates is not None else (*path, "avoid", position)
            yield Finding(place, f"{space.names[state]} is the target: it cannot be unsafe too")
            if space.coordinates is not None:
                break  # a condition holds for many states: one of them is enough to see
    if len(targets | set(states["avoid"])) == space.size:
        yield Finding(path, "every state is a target or unsafe: there is nowhere to start from")
