"""From a resolved experiment to an explanation: the verdict, the statement that covers it, what is missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from wmlab.explain.facts import Facts, facts_of
from wmlab.explain.plain import answer, setting
from wmlab.explain.premises import UNTOLD, Premise
from wmlab.explain.statements import Statement, every_statement
from wmlab.explain.warnings import warnings_of

Promised = Literal["one world", "a bound", "nothing"]
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


def explain(experiment: Mapping[str, Any]) -> Explanation:
    """Which statement covers a resolved experiment (mdp, goals, agent, extract), what it promises, what is missing."""
    facts = facts_of(experiment)
    checked = [check(statement, facts) for statement in every_statement()]
    unique = [one for one in checked if one.promises == "uniqueness"]
    best = cover(unique)
    applying = [one for one in checked if one.applies and one.promises != "uniqueness"]
    if best is not None:
        short = answer("one world", False, bool(best.open))
        warnings = warnings_of(facts, best.name)
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
    return Explanation(
        setting(facts), short, verdict, promised, near, tuple(applying), missing, warnings_of(facts, None)
    )


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
