"""What can be wrong with a spec's `evaluate` in a continuous world."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from wmlab.core.continuous.check_goals import check_unseen_goal
from wmlab.core.continuous.points import goal_points, outside
from wmlab.core.continuous.space import ContinuousSpace, Variable
from wmlab.core.finite.select import SelectionError
from wmlab.errors import one_of, suggest
from wmlab.measure.continuous.explorer_grid import check_explorer
from wmlab.planning.grid_value_iteration import check_memory, outcomes_of
from wmlab.registry import Finding, Scope
from wmlab.sections.experiment import Disagreement, Evaluate, Identify, Look, UnseenGoal
from wmlab.sections.explorer import Explore


def check_continuous_evaluate(evaluate: Evaluate, scope: Scope) -> Iterator[Finding]:
    """Findings with paths below `evaluate`, in a continuous world."""
    space = scope.space
    assert isinstance(space, ContinuousSpace)
    yield from check_data(evaluate, scope)
    if evaluate.identify is not None:
        yield from check_identify(evaluate.identify, space)
    unseen = evaluate.unseen
    yield from check_in_box(evaluate, space, scope)
    if evaluate.design is not None:
        message = "ranks goals by the kernels that they leave open, which needs a finite world"
        yield Finding(("design",), message, "leave it out", key=True)
    if unseen is not None and unseen.guarantee is not None:
        message = "plans over all kernels that explain the values, which needs a finite world"
        yield Finding(
            ("unseen", "guarantee"), message, "leave it out; unseen.<goal>.ratio is of the one model", key=True
        )
    if evaluate.disagreement is not None:
        yield from check_disagreement(evaluate.disagreement, space, scope)
    if evaluate.return_ is not None:
        yield from check_states(evaluate.return_.starts, space, ("return", "starts"))
    if evaluate.model_error is not None:
        yield from check_states(evaluate.model_error.states, space, ("model_error", "states"), counts=False)
    if evaluate.value_error is not None and evaluate.value_error.states == "all":
        yield Finding(("value_error", "states"), "a continuous world has no end of states", "say uniform or reset")
    if unseen is not None:
        yield from check_states(unseen.starts, space, ("unseen", "starts"))
    if evaluate.look is not None:
        yield from check_look(evaluate.look, space, scope)
    if isinstance(evaluate.explore, Explore):
        exact = evaluate.value_error is not None
        yield from check_explorer(evaluate.explore, space, goals_in(space, scope), exact)
    if unseen is None:
        yield from _check_value_grid(evaluate, {}, space, scope)
        return
    if not scope.extracts:
        yield Finding(("unseen",), "plans are made in an extracted model, and there is no `extract`")
    bounds = unseen.solver.get("bounds") or {}
    yield from _check_value_grid(evaluate, bounds, space, scope)
    for name, goal in unseen.goals.items():
        path = ("unseen", "goals", name)
        if name == "mean":
            yield Finding(path, "'mean' is kept for the mean over unseen goals; use another name")
        wrong = list(check_unseen_goal(goal, space, path, scope.let))
        yield from wrong or _check_in_bounds(goal, bounds, path)


def check_data(evaluate: Evaluate, scope: Scope) -> Iterator[Finding]:
    """Logged transitions that there are, and that something looks at."""
    against = evaluate.model_error is not None and evaluate.model_error.against == "data"
    if against and scope.data is None:
        yield Finding(("model_error", "against"), "there is no `data` to hold a model against", "say data: {file: …}")
    draws = scope.extract is not None and scope.extract.get("states") == "data"
    if scope.data is not None and not (against or draws or evaluate.fit is not None):
        hint = "say model_error: {against: data}, fit: {}, or extract.states: data; or leave data out"
        yield Finding((), "nothing here looks at `data`", hint)


def check_identify(identify: Identify, space: ContinuousSpace) -> Iterator[Finding]:
    """Slopes of M at states that can be drawn; what is of kernels needs a finite world."""
    yield from check_states(identify.states, space, ("identify", "states"), counts=False)
    for part, said in (("width", identify.width), ("bounds", identify.bounds)):
        if said:
            message = "speaks of transition probabilities, which needs a finite world"
            yield Finding(("identify", part), message, "leave it out; ident.local_rank is made without it", key=True)
    if identify.when == "checkpoints":
        message = "what values pin down is taken at the final agent alone"
        yield Finding(("identify", "when"), message, "say final, or leave it out")


def check_in_box(evaluate: Evaluate, space: ContinuousSpace, scope: Scope) -> Iterator[Finding]:
    """What needs a list of actions, or an agent that says what it does, where actions are from a box."""
    if not space.in_box:
        return
    if evaluate.value_error is not None:
        message = "solves for the values of finitely many actions, and those of this world are from a box"
        yield Finding(("value_error",), message, "leave it out; fit says how well values fit themselves", key=True)
    if evaluate.baselines is not None and evaluate.baselines.combination is not None:
        message = "takes the best of finitely many actions, and those of this world are from a box"
        yield Finding(("baselines", "combination"), message, "leave it out", key=True)
    if evaluate.look is not None and evaluate.look.action is not None:
        message = "names one of a list, and those of this world are from a box"
        yield Finding(("look", "action"), message, "leave it out: every component is then at its highest")
    agent = scope.agent
    if agent is not None and agent.get("actor") is None:
        explore = evaluate.explore if isinstance(evaluate.explore, Explore) else None
        for name, asked in (("return", evaluate.return_), ("look", evaluate.look), ("explore", explore)):
            if asked is not None:
                message = "the agent comes without an actor: nobody knows what it does"
                yield Finding((name,), message, "say agent.actor, or leave it out", key=True)


def check_look(look: Look, space: ContinuousSpace, scope: Scope) -> Iterator[Finding]:
    """Two state variables, an action and a goal that there are, and other variables within their ranges."""
    across = look.across
    if across is None and space.size < 2 or across is not None and len(set(across)) != 2:
        yield Finding(("look", "across"), f"drawn over two variables, of {one_of(space.names)}")
    named: list[tuple[tuple[str | int, ...], str]] = [
        (("look", "across", i), name) for i, name in enumerate(across or ())
    ]
    for path, name in [*named, *((("look", "at", name), name) for name in look.at)]:
        if name not in space.names:
            hint = suggest(name, space.names) or f"say {one_of(space.names)}"
            yield Finding(path, f"'{name}' is not a state variable", hint, key="at" in path)
    for name in look.at:
        if name in (across or space.names[:2]):
            yield Finding(("look", "at", name), f"{name} is one of the two that are drawn over", key=True)
    if look.action is not None and not space.in_box and look.action not in space.actions:
        hint = suggest(look.action, space.actions) or f"say {one_of(space.actions)}"
        yield Finding(("look", "action"), f"no action '{look.action}'", hint)
    count = goals_in(space, scope)
    if count is not None and look.goal >= count:
        yield Finding(("look", "goal"), f"there are {count} goals, the first of them is 0")


def goals_in(space: ContinuousSpace, scope: Scope) -> int | None:
    """How many training goals there are; None where something is wrong with them, which is told in their place."""
    if scope.goals is None:
        return None
    try:
        return len(goal_points(scope.goals, space).labels)
    except (LookupError, SelectionError):
        return None


def check_disagreement(asked: Disagreement, space: ContinuousSpace, scope: Scope) -> Iterator[Finding]:
    """Members that can be apart, at states that can be drawn."""
    yield from check_states(asked.states, space, ("disagreement", "states"), counts=False)
    method = scope.extract
    if not scope.extracts:
        yield Finding(
            ("disagreement",), "members are those of an extracted ensemble, and there is no `extract`", key=True
        )
    elif method is not None and method.traits.members(method.options) < 2:
        hint = (
            "say extract.ensemble: 5, or extract.agents: 2" if method.name == "p_learning" else "say extract.agents: 2"
        )
        yield Finding(("disagreement",), "a single model has nobody to disagree with", hint, key=True)


def check_states(states: Any, space: ContinuousSpace, path: tuple[str, ...], counts: bool = True) -> Iterator[Finding]:
    """Whether states can be drawn as a spec says: `all` is endless, `uniform` needs ranges.

    counts: whether a spec may say how many resets in place of a word
    """
    if states == "all":
        ways = [*([] if space.endless else ["uniform"]), "reset", *(["a count of resets"] if counts else [])]
        yield Finding(path, "a continuous world has no end of states", f"say {one_of(ways)}")
    if states == "uniform":
        for name in space.endless:
            yield Finding(path, f"uniform over {name}, which has no range", "say reset")


def _check_value_grid(
    evaluate: Evaluate, bounds: Mapping[str, Any], space: ContinuousSpace, scope: Scope
) -> Iterator[Finding]:
    """`value_error` works on a grid, over the variables' ranges or the solver's bounds."""
    asked = evaluate.value_error
    if asked is None:
        return
    lost = [each.name for each in space.variables if not each.bounded and each.name not in bounds]
    for name in lost:
        hint = "say them in evaluate.unseen.solver.bounds"
        yield Finding(("value_error",), f"{name} has no range of its own, and a grid needs bounds", hint)
    if not lost:
        outcomes = outcomes_of(Scope(mdp=scope.mdp), asked.quadrature or 1, space.size)
        yield from check_memory(asked.grid, space, outcomes, ("value_error", "grid"))


def _check_in_bounds(goal: UnseenGoal, bounds: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[Finding]:
    """A plan can only reach what lies on its grid."""
    key = "reach" if goal.reach is not None else "reach_any"
    for i, point in enumerate(goal.targets):
        place = () if key == "reach" else (i,)
        for name, value in point.items():
            if name in bounds and outside(Variable(name, *bounds[name]), value):
                low, high = bounds[name]
                message = f"{value:g} is outside the solver's bounds of {name}, [{low:g}, {high:g}]"
                yield Finding((*path, key, *place, name), message)
