"""What a spec may say of an exact agent, and what it may not mean, in finite and continuous worlds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from wmlab.core.continuous.space import ContinuousSpace
from wmlab.core.finite.goals import goal_labels
from wmlab.core.finite.space import FiniteSpace
from wmlab.errors import suggest
from wmlab.planning.grid_value_iteration import SIZES, check_grid, outcomes_of
from wmlab.registry import Finding, Scope, WorldChoice, budget, by_world, option
from wmlab.registry.kinds import Path
from wmlab.registry.options import PAIRS

ACT_SCHEMA = {
    "type": "object",
    "additionalProperties": {"type": ["string", "object"], "additionalProperties": {"type": "string"}},
}

FINITE_ONLY = ("discounts", "policies", "temperature", "temperatures", "approximate", "world")

SIZES_OR_NONE = {**SIZES, "type": [*SIZES["type"], "null"]}


@dataclass(frozen=True)
class Policy:
    """A policy that is more than a word."""

    kind: Literal["optimal", "uniform", "table", "random"] = option(doc="Where the policy comes from.")
    act: dict[str, Any] | None = option(
        None,
        doc="Of a table: {state: action} for every goal alike, or {goal: {state: action}}.",
        schema=ACT_SCHEMA,
        whole=True,
    )
    mix_uniform: float = option(
        0.0, doc="With this probability, a uniformly random action instead.", at_least=0, at_most=1
    )
    seed: int | None = option(None, doc="Seed of a random policy; null: each run draws its own.", at_least=0)


@dataclass(frozen=True)
class Policies:
    """Several policies, each of them followed for every goal, or one of their own for each."""

    random: int = option(doc="How many random policies, uniform over action probabilities.", at_least=1)
    conditional: bool = option(False, doc="Draw each of them anew for every goal, in place of one for all goals.")
    seed: int | None = option(None, doc="Seed of the policies; null: each run draws its own.", at_least=0)


@dataclass(frozen=True)
class Draws:
    """Numbers drawn at random."""

    random: int = option(doc="How many.", at_least=1)
    low: float = option(0.0, doc="The least that is drawn.", at_least=0)
    high: float = option(0.999, doc="The greatest that is drawn.", above=0)
    seed: int | None = option(None, doc="Seed of the draws; null: each run draws its own.", at_least=0)


@dataclass(frozen=True)
class Approximate:
    """How far Q is moved from the exact values; the policy stays."""

    epsilon: float = option(doc="Distance moved, over all goals, for each state and action.", at_least=0)
    norm: Literal["l1"] = option("l1", doc="Norm over goals that epsilon is measured in.")
    unit: Literal["value", "gap"] = option(
        "value", doc="What epsilon counts: units of value, or column separations of the exact M."
    )
    how_far: Literal["exactly", "at_most"] = option(
        "exactly", doc="Move each Q(s, a) by exactly epsilon, or by a random part of it."
    )
    direction: Literal["random", "worst"] = option(
        "random",
        doc="A random direction for each state and action; or all on the goal whose error the pseudo-inverse of M "
        "amplifies most, down for actions the policy takes and up for the others.",
    )
    seed: int | None = option(None, doc="Seed of what is random in it; null: each run draws its own.", at_least=0)

    @property
    def drawn(self) -> bool:
        return self.direction == "random" or self.how_far == "at_most"


@dataclass(frozen=True)
class Options:
    discount: float | None = option(None, doc="The discount; this or `discounts`.", at_least=0, below=1)
    discounts: tuple[float, ...] | Draws | None = option(
        None, doc="Several discounts at once, listed or drawn: rows of M for each."
    )
    policy: Literal["optimal", "uniform"] | Policy = option(
        "optimal", doc="Whose values these are: optimal, uniform, or a mapping with a kind."
    )
    policies: Policies | None = option(None, doc="Several policies at once, in place of `policy`: rows of M for each.")
    temperature: float | None = option(
        None, doc="Temperature of an entropy-regularised optimum; Q is the plain value of that policy.", above=0
    )
    temperatures: Draws | None = option(
        None, doc="Several temperatures at once, drawn in place of `temperature`: rows of M for each, as for policies."
    )
    approximate: Approximate | None = option(None, doc="Move Q off the exact values by a known distance.")
    world: WorldChoice | None = option(None, doc="The world that the values come from; the spec's own by default.")
    grid: int | dict[str, int] | None = option(
        by_world(continuous=budget("points", 10_000, at_most=200), finite=None),
        doc="In a continuous world: points along each variable, one number or one for each.",
        schema=SIZES_OR_NONE,
    )
    bounds: dict[str, tuple[float, ...]] = option(
        {}, doc="Variable: the range that the grid covers, where it is not the variable's own.", schema=PAIRS
    )
    quadrature: int | None = option(
        by_world(continuous=budget("true outcomes", 32, at_most=5), finite=None),
        doc="In a continuous world: nodes for each of its random numbers.",
        at_least=1,
        at_most=64,
    )


# --- what it may not mean --------------------------------------------------------------------------------------------


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


def _check_policy(policy: Policy, scope: Scope) -> Iterator[Finding]:
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


def _check_table(act: Mapping[str, Any], space: FiniteSpace, path: Path) -> Iterator[Finding]:
    known = set(space.names)
    for state, action in act.items():
        if state not in known:
            yield Finding((*path, state), f"no state '{state}'", suggest(state, space.names), key=True)
        if action not in space.actions:
            yield Finding((*path, state), f"no action '{action}'", suggest(action, space.actions))
    yield from _missing(act, space.names, "state", path)


def _missing(given: Mapping[str, Any], known: tuple[str, ...], noun: str, path: Path) -> Iterator[Finding]:
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
