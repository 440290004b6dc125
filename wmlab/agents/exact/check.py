"""What a spec of an exact agent may not mean, in finite and continuous worlds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from wmlab.agents.exact.options import Approximate, Draws, Options, Policy
from wmlab.core.continuous.space import ContinuousSpace
from wmlab.core.finite.goals import goal_labels
from wmlab.core.finite.space import FiniteSpace
from wmlab.core.finite.world import lookup_findings
from wmlab.errors import suggest
from wmlab.planning.grid_value_iteration import check_grid, outcomes_of, planning_bytes, points_of
from wmlab.registry import Finding, Scope, WorldChoice
from wmlab.registry.kinds import Path

FINITE_ONLY = ("discounts", "policies", "temperature", "temperatures", "approximate", "world")
MOST_ALIKE = 500  # states of a world in which a policy of kind alike is looked for


def check(options: Options, scope: Scope) -> Iterator[Finding]:
    if isinstance(scope.space, ContinuousSpace):
        yield from check_on_grid(options, scope.space, scope)
        return
    for name in ("grid", "bounds", "quadrature") if isinstance(scope.space, FiniteSpace) else ():
        if getattr(options, name):
            yield Finding((name,), "a finite world has its states, and no grid of them", "leave it out", key=True)
    if (options.discount is None) == (options.discounts is None):
        both = options.discount is not None
        yield Finding(("discounts" if both else "discount",), "say one of discount and discounts")
    listed = options.discounts if isinstance(options.discounts, tuple) else ()
    for position, discount in enumerate(listed):
        if not 0 <= discount < 1:
            yield Finding(("discounts", position), f"{discount:g} is not in [0, 1)")
    yield from _check_draws(options)
    if options.approximate is not None:
        yield from _check_direction(options.approximate)
    if options.discounts == ():
        yield Finding(("discounts",), "no discount at all")
    if options.policy != "optimal" and options.policies is not None:
        yield Finding(("policies",), "say one of policy and policies")
    kind = options.policy.kind if isinstance(options.policy, Policy) else options.policy
    for name in ("temperature", "temperatures"):
        if getattr(options, name) is not None and (options.policies is not None or kind != "optimal"):
            yield Finding((name,), "only an optimal policy has a temperature")
    if isinstance(options.policy, Policy):
        yield from _check_policy(options.policy, scope)
    if options.world is not None:
        yield from _check_world(options.world, scope)


def _check_draws(options: Options) -> Iterator[Finding]:
    for name in ("discounts", "temperatures"):
        given = getattr(options, name)
        if isinstance(given, Draws) and given.low >= given.high:
            yield Finding((name, "high"), f"from {given.low:g} to {given.high:g} is empty")
    if isinstance(options.discounts, Draws) and options.discounts.high >= 1:
        yield Finding(("discounts", "high"), f"{options.discounts.high:g} is not in [0, 1)")
    if options.temperatures is not None and options.temperatures.low <= 0:
        yield Finding(("temperatures", "low"), "a temperature is above 0")
    if options.temperature is not None and options.temperatures is not None:
        yield Finding(("temperatures",), "say one of temperature and temperatures")


def _check_direction(moved: Approximate) -> Iterator[Finding]:
    if moved.direction == "random" and moved.against != "pseudo_inverse":
        hint = "say direction: worst, or leave against out"
        yield Finding(("approximate", "against"), "a random direction is against nothing in particular", hint)


def _check_policy(policy: Policy, scope: Scope) -> Iterator[Finding]:
    yield from _check_alike(policy, scope.space)
    if policy.certain and policy.kind != "random":
        yield Finding(("policy", "certain"), f"says which random policy is meant, and this one is {policy.kind}")
    if policy.kind != "table":
        if policy.act is not None:
            yield Finding(("policy", "act"), f"a policy of kind {policy.kind} has no table", "say kind: table")
        return
    if not policy.act:
        yield Finding(("policy", "act"), "what is done, and where?", "say {state: action}, or {goal: {state: action}}")
        return
    if not isinstance(scope.space, FiniteSpace):
        return
    if not any(isinstance(value, Mapping) for value in policy.act.values()):
        yield from _check_table(policy.act, scope.space, ("policy", "act"))
        return
    if scope.goals is None:
        return  # told where the goals are checked
    try:
        labels = goal_labels(scope.goals, scope.space)
    except LookupError:  # reported where the goals are checked
        return
    for goal, act in policy.act.items():
        if not isinstance(act, Mapping):
            yield Finding(("policy", "act", goal), "mixes {state: action} and {goal: {state: action}}")
        elif goal not in labels:
            yield Finding(("policy", "act", goal), f"no goal '{goal}'", suggest(goal, labels), key=True)
        else:
            yield from _check_table(act, scope.space, ("policy", "act", goal))
    yield from _missing(policy.act, labels, "goal", ("policy", "act"))


def _check_alike(policy: Policy, space: Any) -> Iterator[Finding]:
    name = "states" if policy.sets is None else "sets"
    path: Path = ("policy", name)
    if policy.kind != "alike":
        if policy.sides:
            yield Finding(path, f"a policy of kind {policy.kind} takes no {name}", "say kind: alike")
        return
    if not policy.sides:
        yield Finding(path, "which two states are to be worth the same?", "say states: [one, another]")
        return
    if policy.states is not None and policy.sets is not None:
        yield Finding(path, "say one of states and sets")
        return
    if not isinstance(space, FiniteSpace):
        return
    unknown = [
        finding
        for side, states in enumerate(policy.sides)
        for position, state in enumerate(states)
        for finding in lookup_findings(space.index, state, (*path, side, position) if name == "sets" else (*path, side))
    ]
    yield from unknown
    if not unknown:
        yield from _check_sides([[space.index(state) for state in states] for states in policy.sides], path)
    if space.size > MOST_ALIKE:
        yield Finding(("policy", "kind"), f"alike is looked for in worlds of at most {MOST_ALIKE} states")


def _check_sides(sides: list[list[int]], path: Path) -> Iterator[Finding]:
    """Two sets that share a state have nothing to tell apart there."""
    one, other = sides
    if set(one) & set(other) or len(set(one)) < len(one) or len(set(other)) < len(other):
        yield Finding(path, "twice the same state")


def _check_table(act: Mapping[str, Any], space: FiniteSpace, path: Path) -> Iterator[Finding]:
    known = set(space.names)
    for state, action in act.items():
        if state not in known:
            yield Finding((*path, state), f"no state '{state}'", suggest(state, space.names), key=True)
        if action not in space.actions:
            yield Finding((*path, state), f"no action '{action}'", suggest(action, space.actions))
    yield from _missing(act, space.names, "state", path)


def _missing(given: Mapping[str, Any], known: Sequence[str], noun: str, path: Path) -> Iterator[Finding]:
    missing = [f"'{name}'" for name in known if name not in given]
    if missing:
        shown = ", ".join(missing[:3]) + (f" and {len(missing) - 3} more" if len(missing) > 3 else "")
        yield Finding(path, f"nothing said about {noun} {shown}")


def _check_world(world: WorldChoice, scope: Scope) -> Iterator[Finding]:
    wrong = list(world.kind.check(world.options, Scope(mdp=world)))
    yield from (Finding(("world", *finding.path), finding.message, finding.hint) for finding in wrong)
    if wrong or not isinstance(scope.space, FiniteSpace):
        return
    for noun in ("states", "actions"):
        names = [where.names if noun == "states" else where.actions for where in (world.space, scope.space)]
        if names[0] != names[1]:
            yield Finding(("world", noun), f"not the {noun} of the spec's own mdp", f"it has {', '.join(names[1][:8])}")


def check_on_grid(options: Options, space: ContinuousSpace, scope: Scope) -> Iterator[Finding]:
    """One discount, the optimal or the uniform policy, and a grid that fits into memory."""
    for name in FINITE_ONLY:
        if getattr(options, name) is not None:
            yield Finding((name,), "needs a finite world", "leave it out", key=True)
    if not isinstance(options.policy, str):
        yield Finding(("policy",), "a policy of one's own needs a finite world", "say optimal or uniform")
    if options.discount is None:
        yield Finding(("discount",), "the values of which discount?", "say discount: 0.99")
    if options.grid is None:
        yield Finding(("grid",), "in a continuous world, exact values stand on a grid of states", "say grid: 200")
        return
    outcomes = outcomes_of(Scope(mdp=scope.mdp), options.quadrature or 1, space.size)
    yield from check_grid(options.grid, options.bounds, space, outcomes)


def grid_bytes(options: Options, scope: Scope) -> int | None:
    """What exact values on a grid hold at their peak, as the check counts it."""
    if options.grid is None:
        return None
    space = scope.space
    outcomes = outcomes_of(Scope(mdp=scope.mdp), options.quadrature or 1, space.size)
    return planning_bytes(points_of(options.grid, space), space.size, len(space.actions), outcomes)
