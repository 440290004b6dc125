"""What can be wrong with a spec's `evaluate`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from wmlab.core.continuous.space import ContinuousSpace
from wmlab.core.finite.check_goals import check_goals
from wmlab.core.finite.places import places
from wmlab.core.finite.select import SelectionError, states_of
from wmlab.core.finite.space import FiniteSpace
from wmlab.extraction.options import Common, Prior, check_common, check_table
from wmlab.measure.check_baselines import check_baselines
from wmlab.measure.continuous.check import check_continuous_evaluate
from wmlab.registry import Finding, Scope
from wmlab.sections.experiment import Design, Evaluate, Identify, Unseen, UnseenGoal

# Arrays of a number for each candidate that are held at once. Of the identified set its least and greatest probability;
# of kernels that fit their candidates, a start, and the worst and the best of them.
TABLES = {"width": 2, "guarantee": 4, "design": 4}
CANDIDATE_PAIRS = 5_000_000  # states x actions x candidates that a design goes through: minutes, not days


def check_evaluate(evaluate: Evaluate, scope: Scope) -> Iterator[Finding]:
    """Findings with paths below `evaluate`."""
    space = scope.space
    if space is not None and evaluate.baselines is not None:
        yield from check_baselines(evaluate.baselines, evaluate, scope)
    if isinstance(space, ContinuousSpace):
        yield from check_continuous_evaluate(evaluate, scope)
    if not isinstance(space, FiniteSpace):
        return
    for name, asked in (("model_error", evaluate.model_error), ("value_error", evaluate.value_error)):
        if asked is not None and asked.states != "all":
            yield Finding((name, "states"), "in a finite world the error is over all states", "say states: all")
    if evaluate.model_error is not None and evaluate.model_error.against == "data":
        yield Finding(("model_error", "against"), "logged transitions are of a continuous world", "say world")
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
    for name in ("states", "samples"):
        if getattr(evaluate.identify, name, None) is not None:
            yield Finding(("identify", name), "in a finite world M is taken whole", "leave it out", key=True)
    yield from _check_width(evaluate.identify, scope)
    unseen = evaluate.unseen
    yield from check_design(evaluate, scope)
    if unseen is None:
        return
    yield from _check_guarantee(unseen, scope)
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
    if identify is not None and identify.width is not None:
        yield from _check_tables("the identified set", scope, ("identify", "width"))


def _check_guarantee(unseen: Unseen, scope: Scope) -> Iterator[Finding]:
    if unseen.guarantee is not None:
        yield from _check_tables("the guarantee", scope, ("unseen", "guarantee"))


def _check_tables(what: str, scope: Scope, path: tuple[str, ...]) -> Iterator[Finding]:
    """Whether the tables of candidates fit into memory that a part of `evaluate` needs."""
    prior: Prior | None = scope.extract.get("prior") if scope.extract is not None else None
    if list(check_common(Common(prior), scope)):
        return  # told of the prior itself
    hint = f"give extract.prior.support, or leave out {path[-1]}"
    yield from check_table(what, prior, scope, path, hint, TABLES[path[-1]])


def check_design(evaluate: Evaluate, scope: Scope) -> Iterator[Finding]:
    """Candidates for a further goal: goals that there can be, exact values of them, and something to rank them by."""
    design, goals, agent = evaluate.design, scope.goals, scope.agent
    if design is None or goals is None:
        return
    if goals.at is None:
        message = f"a further goal is added by its place, and goals of kind {goals.reward.name} have none here"
        yield Finding(("design",), message, "say goals.at, with a reward of kind indicator or gaussian", key=True)
        return
    wrong = list(check_goals(replace(goals, at=design.candidates, terminate="never"), scope))
    yield from (Finding(("design", "candidates", *one.path[1:]), one.message, one.hint) for one in wrong)
    if not wrong:
        yield from _check_amount(design, scope)
    yield from _check_tables("the design", scope, ("design",))
    if design.by == "guarantee" and (evaluate.unseen is None or not evaluate.unseen.goals):
        message = "guarantees are of unseen goals, and evaluate.unseen has none"
        yield Finding(("design", "by"), message, "say by: width, or say evaluate.unseen.goals")
    truth = scope.mdp is None or scope.mdp.traits.knows_truth
    if design.using == "truth" and not truth:
        yield Finding(("design", "using"), "nobody says what actions do in this world", "say using: model")
    elif not scope.extracts and (design.using == "model" or (design.using is None and not truth)):
        yield Finding(("design",), "exact values are taken in the extracted model, and there is no `extract`", key=True)
    if design.using == "prior" and (scope.extract is None or scope.extract.get("prior", "support") is None):
        message = "without a support any state may follow, and worlds that are drawn are all alike"
        yield Finding(("design", "using"), message, "say extract.prior.support")
    acts = getattr(agent.get("policy"), "act", None) if agent is not None else None
    if any(isinstance(act, Mapping) for act in (acts or {}).values()):
        message = "agent.policy.act says what is done for each goal, and nothing for a further one"
        yield Finding(("design",), message, "say {state: action}, for all goals alike", key=True)


def _check_amount(design: Design, scope: Scope) -> Iterator[Finding]:
    """Whether so many candidates can be gone through."""
    pairs = scope.space.size * len(scope.space.actions)
    count = len(places(design.candidates, scope.space))
    if count * pairs > CANDIDATE_PAIRS:
        message = f"{count} candidates for {pairs} pairs of state and action are more than can be gone through"
        fewer = max(1, CANDIDATE_PAIRS // pairs)
        yield Finding(("design", "candidates"), message, f"name fewer: candidates: {{first: {fewer}, shuffle: 0}}")


def check_goal(goal: UnseenGoal, space: FiniteSpace, path: tuple[str | int, ...]) -> Iterator[Finding]:
    """One unseen goal: its states exist, and the target is not among the unsafe ones."""
    if (goal.reach is None) == (goal.reach_any is None):
        yield Finding(path, "say one of reach and reach_any")
        return
    if goal.within is not None:
        yield Finding((*path, "within"), "distance has no meaning in a finite world; list the states in reach_any")
    if goal.watch:
        yield Finding((*path, "watch"), "the size of a variable is watched in a continuous world alone")
    if not goal.wraps:
        yield Finding((*path, "wraps"), "distance has no meaning in a finite world; leave it out")
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
