"""From a resolved experiment to an explanation: the verdict, the statement that covers it, what is missing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

from wmlab.explain.continuous import CONTINUOUS
from wmlab.explain.facts import Facts, facts_of
from wmlab.explain.finite import FINITE
from wmlab.explain.plain import answer, senses_of_one, setting
from wmlab.explain.premises import UNTOLD, Premise, Statement
from wmlab.measure.chance import too_fine, unseen
from wmlab.sections.experiment import ExperimentSpec

Promised = Literal["one world", "a bound", "nothing"]
STATEMENTS = (*FINITE, *CONTINUOUS)  # those that promise most with least come first
WORLD = {"the world is finite", "the world is continuous"}


@dataclass(frozen=True)
class Checked:
    """A statement held against a spec."""

    name: str
    where: str
    promises: str
    conclusion: str
    premises: tuple[Premise, ...]

    @property
    def unmet(self) -> tuple[Premise, ...]:
        return tuple(premise for premise in self.premises if premise.status == "not met")

    @property
    def open(self) -> tuple[Premise, ...]:
        """Premises that only a run can tell."""
        return tuple(premise for premise in self.premises if premise.status == UNTOLD)

    @property
    def applies(self) -> bool:
        return not self.unmet

    @property
    def speaks(self) -> bool:
        """Whether the statement is about such a world at all."""
        return not any(premise.says in WORLD for premise in self.unmet)


@dataclass(frozen=True)
class Explanation:
    """What the theory says of one experiment, before anything runs."""

    setting: tuple[str, ...]  # in plain words: the world, the goals, the values, the method
    answer: str  # the verdict in plain words
    verdict: str
    promised: Promised  # by the statements that apply
    statement: Checked | None  # the one that covers it, or comes nearest
    further: tuple[Checked, ...]  # other statements that apply: bounds, limits, impossibilities
    missing: tuple[str, ...]  # what would complete the nearest statement
    warnings: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def explain(experiment: ExperimentSpec) -> Explanation:
    """Which statement covers a resolved experiment (mdp, goals, agent, extract), what it promises, what is missing."""
    facts = facts_of(experiment)
    checked = [check(statement, facts) for statement in STATEMENTS]
    unique = [one for one in checked if one.promises == "uniqueness"]
    best = cover(unique)
    applying = [one for one in checked if one.applies and one.promises != "uniqueness"]
    if best is not None:
        short = answer("one world", False, bool(best.open))
        warnings = tuple(warnings_of(facts, best.name))
        return Explanation(setting(facts), short, covers(best), "one world", best, tuple(applying), (), warnings)
    near = nearest(unique)
    bound = next(
        (one for one in applying if one.promises == "bound" and facts.agent.values not in ("exact", "external")), None
    )
    never = next((one for one in applying if one.promises == "impossibility"), None)
    verdict = f"{never.name} covers this: {never.conclusion}." if never else falls_short(facts, near, bound)
    missing = () if near is None else tuple(premise.need or premise.says for premise in near.unmet)
    promised: Promised = "a bound" if bound else "nothing"
    short = answer(promised, never is not None, False)
    warnings = tuple(warnings_of(facts, None))
    return Explanation(setting(facts), short, verdict, promised, near, tuple(applying), missing, warnings)


def check(statement: Statement, facts: Facts) -> Checked:
    found = statement.check(facts)
    return Checked(statement.name, statement.where, statement.promises, statement.conclusion(facts), found)


def cover(statements: list[Checked]) -> Checked | None:
    """The first statement that applies; one that leaves nothing open comes before one that does."""
    return min((one for one in statements if one.applies), key=lambda one: len(one.open), default=None)


def nearest(statements: list[Checked]) -> Checked | None:
    """The statement about such worlds that lacks least."""
    speaking = [one for one in statements if one.speaks]
    return min(speaking, key=lambda one: sum(premise.cost for premise in one.unmet) + len(one.open) / 2, default=None)


def covers(best: Checked) -> str:
    unless = "" if not best.open else f", provided that {' and '.join(premise.says for premise in best.open)}"
    return f"{best.name} covers this: {best.conclusion}{unless}."


def falls_short(facts: Facts, near: Checked | None, bound: Checked | None) -> str:
    if facts.world.family == "unknown" or near is None:
        return "No theorem covers this: nothing is declared of the world."
    if {premise.says for premise in near.unmet} == {"values are exact"}:
        found = f"{near.name} would cover this if values were exact, and they are {facts.agent.values}"
        return f"{found}: {bound.conclusion} ({bound.name})." if bound else f"{found}."
    missing = "; ".join(premise.need or premise.says for premise in near.unmet)
    return f"No theorem covers this. {near.name} comes nearest; what is missing for it: {missing}."


def warnings_of(facts: Facts, covered_by: str | None) -> Iterator[str]:
    """What is worth knowing of a spec although no theorem says it; `covered_by` is the statement that covers it."""
    goals, world, agent = facts.goals, facts.world, facts.agent
    if covered_by == "Theorem 3(b)" and agent.discounts == 1 and not agent.drawn:
        yield (
            "a single discount can be singular (ident.rank and ident.sigma_min will say); another one, or a "
            "little noise in the policy, cures it"
        )
    if covered_by is not None and world.family == "finite" and not facts.method.deterministic:
        yield senses_of_one(facts)
    on_a_map = world.family == "finite" and world.dimension is not None
    if on_a_map and not goals.generic and goals.shape == "indicator" and goals.spans is not True:
        yield (
            "bottlenecks hide the world: from a room with one door all goals beyond it look alike, however many; "
            "noise on the rewards cures it (evaluate.identify.width shows where)"
        )
    if goals.ending != "never" and world.family == "finite" and covered_by is not None:
        yield (
            "goals end episodes: the paper extends its finite results to any such ends (§2, App. D.1), with "
            "M = r + γ D V; only for a policy that is the same for all goals must the ends be, too"
        )
    if agent.values == "of another world":
        yield "the values come from another world: it is that one that they can tell of"
    if world.family == "continuous":
        yield (
            "wm.nmse, the NMSE of next states, flatters: a model in which nothing moves scores well, too "
            "(wm.identity_nmse says how well); wm.delta_nmse is the error of the moves themselves"
        )
    if facts.bend is not None and too_fine(facts.bend, agent.values) and not facts.method.deterministic:
        yield unseen(facts.bend)
    if agent.values == "learnt":
        yield "learnt values need not be right for a good model, but they must fit each other: fit.residual tells"
