"""What a spec may say of an exact agent, in finite and continuous worlds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from wmlab.planning.grid_value_iteration import SIZES
from wmlab.registry import WorldChoice, budget, by_type, by_world, option
from wmlab.registry.options import PAIRS
from wmlab.sections.forms import POINT

ACT_SCHEMA = {
    "type": "object",
    "additionalProperties": {"type": ["string", "object"], "additionalProperties": {"type": "string"}},
}

TWO_STATES = {"type": "array", "items": POINT, "minItems": 2, "maxItems": 2}
TWO_SETS = {"type": "array", "items": {"type": "array", "items": POINT, "minItems": 1}, "minItems": 2, "maxItems": 2}

SIZES_OR_NONE = {**SIZES, "type": [*SIZES["type"], "null"]}


@dataclass(frozen=True)
class Policy:
    """A policy that is more than a word."""

    kind: Literal["optimal", "uniform", "table", "random", "alike"] = option(doc="Where the policy comes from.")
    act: dict[str, Any] | None = option(
        None,
        doc="Of a table: {state: action} for every goal alike, or {goal: {state: action}}.",
        schema=ACT_SCHEMA,
        whole=True,
    )
    states: Any = option(
        None,
        doc="Of alike: two states. For each goal the policy is one under which arriving in either is worth the same, or"
        " as nearly as one is found: what a reader of values cannot tell apart.",
        schema=by_type(array=TWO_STATES, null={}),
        whole=True,
    )
    sets: Any = option(
        None,
        doc="Of alike, in place of `states`: two lists of states. Arriving somewhere in the one, each of its states as"
        " likely, is then worth what arriving somewhere in the other is.",
        schema=by_type(array=TWO_SETS, null={}),
        whole=True,
    )
    mix_uniform: float = option(
        0.0, doc="With this probability, a uniformly random action instead.", at_least=0, at_most=1
    )
    seed: int | None = option(None, doc="Seed of a random policy; null: each run draws its own.", at_least=0)
    certain: bool = option(False, doc="Of a random one: one action in each state, in place of probabilities of all.")

    @property
    def sides(self) -> tuple[tuple[Any, ...], ...]:
        """What is to be worth the same: two sets of states, each of a single one where two states are given."""
        return tuple(map(tuple, self.sets)) if self.sets is not None else tuple((state,) for state in self.states or ())


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
        doc="A random direction for each state and action, or the one that does the most harm to what `against` says.",
    )
    against: Literal["pseudo_inverse", "column_matching", "rank"] = option(
        "pseudo_inverse",
        doc="What the worst direction is the worst for: M+ Q of the state and action that suffers most; column "
        "matching, where Q(s, a) and a wrong column of M meet and the right one moves away; or the rank of M, where "
        "values move by less than epsilon if less is enough to lose it.",
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
