"""Statements of the paper and their premises: each premise looks at the facts of a spec and says met, not met, or that
only a run can tell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from wmlab.explain.facts import Facts, Shape

Status = Literal["met", "not met", "cannot be told before running"]
UNTOLD: Status = "cannot be told before running"
OTHER_WORLD, OTHER_GOALS, OTHER_ENDS = 5.0, 3.0, 2.0  # what it costs to ask for what the agent was not trained on


@dataclass(frozen=True)
class Premise:
    """One assumption of a statement, held against a spec."""

    says: str  # the assumption
    status: Status
    found: str = ""  # what the spec has
    need: str = ""  # what would meet it
    cost: float = 1.0  # how much that asks: a word in the spec is 1, five more goals another 1, another world 5


Check = Callable[[Facts], Premise]
Promise = Literal["uniqueness", "bound", "limit", "any values", "impossibility"]


@dataclass(frozen=True)
class Statement:
    """A theorem, proposition or corollary: its premises, and what it promises."""

    name: str
    where: str  # in the paper
    promises: Promise
    premises: tuple[Check, ...]
    conclusion: Callable[[Facts], str]

    def check(self, facts: Facts) -> tuple[Premise, ...]:
        """Every premise held against a spec."""
        return tuple(premise(facts) for premise in self.premises)


def says(text: str) -> Callable[[Facts], str]:
    """A conclusion that is the same for every spec."""
    return lambda facts: text


def holds(statement: str, met: bool, found: str = "", need: str = "", cost: float = 1.0) -> Premise:
    return Premise(statement, "met" if met else "not met", found, "" if met else need, cost)


def cost_of(goals: int) -> float:
    """What it costs to ask for so many more goals."""
    return min(1.0 + max(goals, 0) / 5, OTHER_WORLD)


def finite(facts: Facts) -> Premise:
    found = "" if facts.world.family == "finite" else f"it is {facts.world.family}"
    return holds("the world is finite", not found, found, "a finite world", OTHER_WORLD)


def continuous(facts: Facts) -> Premise:
    found = "" if facts.world.family == "continuous" else f"it is {facts.world.family}"
    return holds("the world is continuous", not found, found, "a continuous world", OTHER_WORLD)


def deterministic(facts: Facts) -> Premise:
    statement, told = "the world is deterministic", facts.world.deterministic
    if told is None:
        return Premise(statement, UNTOLD, "the spec does not declare it")
    found = "as declared" if told else "actions have several outcomes"
    return holds(statement, told, found, "a deterministic world", OTHER_WORLD)


def one_successor(facts: Facts) -> Premise:
    """Uniqueness in deterministic worlds is uniqueness among deterministic models."""
    found = f"{facts.method.kind} gives {'one successor' if facts.method.deterministic else 'probabilities'}"
    if facts.method.kind is None:
        return Premise("the model is deterministic, too", "met", "nothing is extracted")
    need = "a method for deterministic models, such as column_matching"
    return holds("the model is deterministic, too", facts.method.deterministic, found, need)


def exact(facts: Facts) -> Premise:
    values = facts.agent.values
    found = {"exact": "", "of another world": "they are exact in another world"}.get(values, f"they are {values}")
    return holds("values are exact", values == "exact", found, "exact values", 0.5)


def near(facts: Facts) -> Premise:
    """Approximate values: how far off they are is known only where a spec moves them itself."""
    statement, agent = "values are within ε of the exact ones", facts.agent
    if agent.epsilon is not None:
        return Premise(statement, "met", f"ε = {agent.epsilon:g}")
    if agent.values in ("exact", "approximate"):
        return Premise(statement, "met", "ε = 0" if agent.values == "exact" else "ε is set in column separations")
    if agent.values == "external":
        return Premise(statement, UNTOLD, "the values come from elsewhere")
    return Premise(statement, UNTOLD, f"the values are {agent.values}: q.l1_max will say")


def goals_at_least(wanted: Callable[[Facts], int | None], words: str) -> Check:
    """|G| is no less than some number."""

    def check(facts: Facts) -> Premise:
        least, count = wanted(facts), facts.goals.count
        statement = f"|G| ≥ {words}" + (f" = {least}" if least is not None and str(least) != words else "")
        if least is None or count is None:
            return Premise(statement, UNTOLD, "a number that the spec does not fix")
        missing = least - count
        need = f"{missing} more goal{'s' if missing != 1 else ''}"
        return holds(statement, missing <= 0, f"|G| = {count}", need, cost_of(missing))

    return check


def rewards_are(shape: Shape, statement: str | None = None) -> Check:
    """Rewards of a shape that theorems know."""

    def check(facts: Facts) -> Premise:
        found, need = f"rewards are {facts.goals.kind}{scaled(facts)}", f"goals.reward.kind: {shape}"
        met = facts.goals.shape == shape and not is_level(facts)
        if facts.goals.shape == shape and not met:
            found, need = (
                "arriving is worth what never arriving is",
                "another reward for arriving, or goals.terminate: never",
            )
        return holds(statement or f"rewards are {shape}", met, found, need, OTHER_GOALS)

    return check


def scaled(facts: Facts) -> str:
    """An indicator of two other numbers tells the same states apart."""
    pays = facts.goals.pays
    if pays is None or pays == (1, 0):
        return ""
    return f", {pays[0]:g} there and {pays[1]:g} elsewhere: an indicator but for scale and shift"


def is_level(facts: Facts) -> bool:
    """Whether an end on arrival pays as much as going on for ever, so that values do not tell who arrived."""
    pays, gamma = facts.goals.pays, facts.agent.discount
    if pays is None or gamma is None or facts.goals.ending == "never":
        return False
    return abs(pays[0] * (1 - gamma) - pays[1]) < 1e-9


def generic_rewards(facts: Facts) -> Premise:
    goals = facts.goals
    found = "noise with a density is added" if goals.noise else f"rewards are {goals.kind}"
    need = "noise on the rewards (goals.reward.noise), or kind: generic"
    return holds("rewards are generic", goals.generic, found, need)


def spanning(facts: Facts) -> Premise:
    statement, goals = "goals span the states: their rewards have rank |S|", facts.goals
    if goals.spans is None:
        return Premise(statement, UNTOLD, "their rank is not obvious from the spec")
    short = (facts.world.states or 0) - (goals.count or 0)
    need = f"{short} more goals" if short > 0 else "linearly independent rewards"
    return holds(statement, goals.spans, f"|G| = {goals.count}, |S| = {facts.world.states}", need, cost_of(short))


def unconditional(facts: Facts) -> Premise:
    found = "it differs between goals" if facts.agent.conditional else "it is the same for all goals"
    return holds("the policy is unconditional", not facts.agent.conditional, found, "one policy for all goals")


def full_rank(facts: Facts) -> Premise:
    statement, goals = "M has full rank", facts.goals
    if goals.count is not None and facts.world.states is not None and goals.count < facts.world.states:
        rows = goals.count * facts.agent.discounts * facts.agent.policies
        if rows < facts.world.states:
            return Premise(
                statement, "not met", f"{rows} rows for {facts.world.states} states", "as many goals as states"
            )
    if goals.spans is False and not facts.agent.conditional and goals.ending == "never":
        return Premise(statement, "not met", "goals do not span, and the policy is unconditional", "goals that span")
    return Premise(statement, UNTOLD, "ident.nullity will say")


def no_exception(facts: Facts) -> Premise:
    """Almost every discount and policy: whether this one is among the exceptions, nobody can say beforehand."""
    statement = "the discount and the policy are no exception: M loses rank at finitely many discounts, if at any"
    if facts.agent.drawn:
        return Premise(statement, "met", "drawn at random: almost surely")
    return Premise(statement, UNTOLD, "ident.nullity will say")


def goes_on(facts: Facts) -> Premise:
    """Where every goal ends, M is the reward, whatever the values are."""
    statement = "states go on for some goal, or pay differently where they do not"
    if facts.goals.ending == "never" or (facts.goals.ending == "on arrival" and facts.goals.sigma is None):
        return Premise(statement, "met", ends(facts))
    return Premise(statement, UNTOLD, ends(facts))


def one_goal(facts: Facts) -> Premise:
    return holds("there is one goal", facts.goals.count == 1, f"|G| = {facts.goals.count}")


def many_horizons(facts: Facts) -> Premise:
    agent = facts.agent
    found = f"{agent.discounts} discounts, {agent.policies} policies"
    return holds("seen over several discounts or policies", agent.discounts > 1 or agent.policies > 1, found)


def stochastic(facts: Facts) -> Premise:
    return holds("the world is not declared deterministic", facts.world.deterministic is not True)


def discounted(facts: Facts) -> Premise:
    return holds("the discount is above 0", facts.agent.discount != 0, f"γ = {facts.agent.discount}", "a discount")


def ends(facts: Facts) -> str:
    """How episodes end, as a sentence."""
    words = {"never": "they never end", "within": "they end near the goal"}
    return words.get(facts.goals.ending, f"they end {facts.goals.ending}")


def always(statement: str) -> Check:
    """Something that only a run, or nobody, can tell."""
    return lambda facts: Premise(statement, UNTOLD)
