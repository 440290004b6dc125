"""What a resolved experiment says of itself, as far as the statements ask. No kernel and no value is computed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, Literal

import numpy as np

from wmlab.core.finite.places import places
from wmlab.measure.chance import Bend, bend
from wmlab.registry import AgentChoice, ExtractionChoice, RewardChoice, WorldChoice
from wmlab.registry.traits import Shape, Sort, Values
from wmlab.sections.experiment import Ending, ExperimentSpec, GoalsSection

EndingKind = Literal["never", "on arrival", "within", "by a condition", "by a table"]


@dataclass(frozen=True)
class WorldFacts:
    """The world as declared."""

    kind: str
    family: Sort | Literal["unknown"]
    space: Any  # of the world's kind
    states: int | None  # of a finite world
    actions: int | None  # None: not finitely many
    dimension: int | None  # of the state: of a continuous world, or of a map
    box: tuple[tuple[float, float], ...] | None  # the range of each variable, where all are bounded
    deterministic: bool | None  # None: not declared
    successors: int | None  # how many a state and action may have at most, of a finite world
    generic: bool  # drawn from a density over kernels


@dataclass(frozen=True)
class GoalFacts:
    """The goals as declared."""

    kind: str  # of reward
    says: str  # of the goals, in plain words
    shape: Shape  # of the reward around a goal
    pays: tuple[float, float] | None  # of an indicator: at the goal, and elsewhere
    count: int | None
    noise: bool  # absolutely continuous noise on rewards
    generic: bool  # rewards have a density, by kind or by noise
    scattered: bool  # goals of a family lie in general position: moved off their places at random
    spans: bool | None  # rank of the rewards is that of the states; None where it cannot be told
    sigma: float | None  # width of a Gaussian, radius of an indicator
    ending: EndingKind
    rho: float | None  # distance within which an episode ends
    whole: bool  # in a continuum: goals are points of the whole state space, not of some variables


@dataclass(frozen=True)
class AgentFacts:
    """Whose values they are, and how good."""

    values: Values
    discounts: int  # how many
    policies: int
    conditional: bool  # whether the policy depends on the goal
    discount: float | None  # where there is one
    epsilon: float | None  # how far off the values are, in l1 over goals, where the spec says so
    drawn: bool = False  # its policy, discounts or temperatures are drawn at random


@dataclass(frozen=True)
class MethodFacts:
    """What the extraction assumes."""

    kind: str | None = None
    deterministic: bool = False  # its models have one successor each
    simplex: bool = False  # it knows that probabilities sum to one
    support: int | None = None  # how many successors a state and action may have at most, by a known support
    sparse: int | None = None  # how many, where it is not known which
    descends: bool = False  # by gradient descent on the kernel itself


@dataclass(frozen=True)
class Facts:
    """All that explain looks at."""

    world: WorldFacts
    goals: GoalFacts
    agent: AgentFacts
    method: MethodFacts
    bend: Bend | None = None  # of values by chance, in a continuous world


def facts_of(experiment: ExperimentSpec) -> Facts:
    """The facts of one point of a resolved spec."""
    world = world_facts(experiment.mdp)
    goals = goal_facts(experiment.goals, world)
    method = method_facts(experiment.extract, world) if experiment.extract is not None else MethodFacts()
    return Facts(world, goals, agent_facts(experiment.agent, goals), method, bend(experiment))


# --- the world ---------------------------------------------------------------------------------------------------


def world_facts(mdp: WorldChoice) -> WorldFacts:
    options, traits, space = mdp.options, mdp.traits, mdp.space
    family = mdp.sort if mdp.knows_truth else "unknown"
    most = traits.max_successors(options, space) if family == "finite" else None
    declared = None if family == "unknown" else traits.is_deterministic(options, space)
    return WorldFacts(
        kind=mdp.name,
        family=family,
        space=space,
        states=space.size if family == "finite" else None,
        actions=None if getattr(space, "in_box", False) else len(space.actions),
        dimension=dimension_of(space, family),
        box=box_of(space) if family == "continuous" else None,
        deterministic=declared if most is None else most == 1,
        successors=most,
        generic=traits.is_generic(options),
    )


def dimension_of(space: Any, family: str) -> int | None:
    if family == "continuous":
        return int(space.size)
    return 2 if family == "finite" and space.cells is not None else None


def box_of(space: Any) -> tuple[tuple[float, float], ...] | None:
    """The ranges of the state variables; None where one of them has none."""
    bounded = all(variable.bounded for variable in space.variables)
    return tuple((variable.low, variable.high) for variable in space.variables) if bounded else None


# --- the goals ---------------------------------------------------------------------------------------------------


def goal_facts(goals: GoalsSection, world: WorldFacts) -> GoalFacts:
    """From a spec's `goals`."""
    reward, at, terminate = goals.reward, goals.at, goals.terminate
    options, traits = reward.options, reward.traits
    noise, width, ending = traits.is_noisy(options), traits.width(options), ending_of(terminate)
    count = len(traits.own_goals(options)) or None if at is None or traits.at == "none" else count_places(at, world)
    generic = noise or traits.is_generic(options)
    return GoalFacts(
        kind=reward.name,
        says=traits.says or f"with {reward.name} rewards",
        shape=traits.pays_like,
        pays=traits.pays(options),
        count=count,
        noise=noise,
        generic=generic,
        scattered=traits.is_scattered(options),
        spans=True if generic and enough(count, world) else spans(reward, at, world, count),
        sigma=float(width) if isinstance(width, (int, float)) else None,
        ending=ending,
        rho=terminate.within if isinstance(terminate, Ending) and ending == "within" else None,
        whole=is_whole(at, world),
    )


def ending_of(terminate: str | Ending) -> EndingKind:
    if isinstance(terminate, Ending):
        if terminate.when is not None:
            return "by a condition"
        return "by a table" if terminate.table is not None else "within"
    return "never" if terminate == "never" else "on arrival"


def count_places(at: Any, world: WorldFacts) -> int | None:
    """|G|, by where the goals are; None where it cannot be told."""
    if at == "all":
        return world.states
    if isinstance(at, Mapping):
        return int(at["first"]) if "first" in at else prod(points_along(axis) for axis in at.values())
    return len(places(at, world.space)) if world.family == "finite" else len(at)  # a region's name is several


def points_along(axis: Any) -> int:
    return int(axis["linspace"][2]) if isinstance(axis, Mapping) else len(axis)


def enough(count: int | None, world: WorldFacts) -> bool:
    """Whether there are as many goals as states."""
    return count is not None and world.states is not None and count >= world.states


def spans(reward: RewardChoice, at: Any, world: WorldFacts, count: int | None) -> bool | None:
    """Whether the rewards, as a matrix over goals and states, have the rank of the states."""
    if world.states is None or count is None:
        return None
    if count < world.states:
        return False
    whole = count == world.states and are_states(at, world)
    return reward.traits.spans(reward.options, world.space, whole)


def are_states(at: Any, world: WorldFacts) -> bool:
    """Whether each goal is one state, and neither a point between states nor a set of them."""
    if isinstance(at, Mapping):
        return "first" in at
    return at is None or isinstance(places(at, world.space), list)


def is_whole(at: Any, world: WorldFacts) -> bool:
    """Whether goals name every state variable."""
    if world.family != "continuous" or world.dimension is None or at is None:
        return world.family != "continuous"
    if isinstance(at, Mapping):
        return len(at) >= world.dimension
    return all(not isinstance(point, Mapping) or len(point) >= world.dimension for point in at)


# --- the agent and the method ------------------------------------------------------------------------------------


def agent_facts(agent: AgentChoice, goals: GoalFacts) -> AgentFacts:
    options, traits = agent.options, agent.traits
    return AgentFacts(
        values=traits.values(options),
        discounts=traits.discounts(options),
        policies=traits.policies(options),
        conditional=goals.count != 1 and traits.is_conditional(options),
        discount=options.discount,
        epsilon=traits.epsilon(options),
        drawn=traits.draws(options) and not traits.learns,
    )


def method_facts(extract: ExtractionChoice, world: WorldFacts) -> MethodFacts:
    options, traits = extract.options, extract.traits
    return MethodFacts(
        kind=extract.name,
        deterministic=traits.model_is_deterministic(options),
        simplex=traits.stays_in_simplex(options),
        support=support_size(extract.prior, world) if world.family == "finite" else None,
        sparse=traits.sparse_support(options),
        descends=traits.descends_on_tables,
    )


def support_size(prior: Any, world: WorldFacts) -> int | None:
    """The most candidates that a declared support leaves to a state and an action."""
    from wmlab.extraction.options import candidates_of

    candidates = candidates_of(prior, world.space)
    return None if candidates is None else int((np.asarray(candidates) >= 0).sum(axis=-1).max())
