"""How much of the return is certain, and which goal would help most: in a sentence for each point, and as findings."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wmlab.results.point_facts import PointFacts, Sign, shown

WORLDS = {
    "model": "in the extracted model",
    "prior": "on average over worlds that the prior allows",
}  # truth goes unsaid
HELPS = 1e-6  # a further goal that adds no more to what is certain, or takes no more from a width, adds nothing
NEARLY = 1e-3  # of the optimal return: where less is open, that is said in place of a share


@dataclass(frozen=True)
class Suggestion:
    """The goal that would help most, and what it would change."""

    goal: str | None  # None: none of the candidates would change anything
    by: str  # guarantee or width
    using: str  # the world whose exact values were taken: truth, model, or several that a prior allows
    now: float
    then: float


def certainty(facts: Sequence[PointFacts]) -> list[dict[str, Any]]:
    """A sentence for each point of a study at which guarantees or a further goal are asked for; as JSON."""
    told = ((point, sentence_of(point)) for point in facts)
    return [{"where": dict(point.where), "sentence": sentence} for point, sentence in told if sentence]


def sentence_of(facts: PointFacts) -> str:
    """What is certain at one point, and which goal would help most; empty where neither is known."""
    known = share_of(facts)
    suggestion = suggested(facts.designs)
    count = "" if facts.goals is None else f"{facts.goals} goal{'' if facts.goals == 1 else 's'}"
    head = f"With {count} the" if count else "The"
    if known:
        more = f"; {further(suggestion, told=False)}" if suggestion else ""
        return f"{head} agent's values {guaranteed(facts, known)}{more}."
    if suggestion is None:
        return ""
    open_ = f"leave probabilities open by a mean of {shown(suggestion.now)}"
    if suggestion.by == "guarantee":
        open_ = f"make a return of {floored(suggestion.now)} certain"
    world = WORLDS.get(suggestion.using)
    start = f"{world[:1].upper()}{world[1:]}, exact" if world else "Exact"
    return f"{start} values{f' of {count}' if count else ''} {open_}; {further(suggestion)}."


def guaranteed(facts: PointFacts, known: str) -> str:
    """What the values guarantee; where the true world is not among those that fit, that they do not."""
    seeds = list(zip(*facts.guarantees.values(), strict=True))  # of each seed what is said of every goal
    missed = sum(any(one.get("truth_fits") is False for one in goals) for goals in seeds)
    if not missed:
        return f"guarantee {known}"
    where = "" if missed == len(seeds) else f"at {missed} of {len(seeds)} seeds "
    return f"would guarantee {known} if the true world were among the kernels that fit, and {where}it is not"


def share_of(facts: PointFacts) -> str:
    """How much is certain, mean over the unseen goals: of the optimal return, where it is known, else as a return."""
    ratio, certain, possible = (
        facts.metric(f"unseen.mean.{name}") for name in ("certain_ratio", "r_certain", "r_possible")
    )
    if ratio is not None:
        return f"{floored(ratio)} of the optimal return" if ratio < 1 - NEARLY else whole(1 - ratio)
    if certain is None or possible is None:
        return ""
    return f"a return of {floored(certain)} on the unseen goals, and {shown(possible)} is possible"


def whole(left: float) -> str:
    return f"the optimal return, but for {left:.1g} of it" if left > 0 else "the optimal return"


def floored(number: float) -> str:
    """A number in three decimals, never more than it is: it is guaranteed."""
    return f"{math.floor(number * 1000) / 1000:g}"


def suggested(designs: Sequence[Mapping[str, Any]]) -> Suggestion | None:
    """The goal that comes first at most seeds."""
    known = [design for design in designs if design.get("ranking") is not None]
    if not known:
        return None
    now, by, using = mean_of(design["now"] for design in known), str(known[0]["by"]), str(known[0]["using"])
    first = Counter(design["ranking"][0][0] for design in known if design["ranking"]).most_common(1)
    if not first:
        return Suggestion(None, by, using, now, now)
    goal = first[0][0]
    then = mean_of(worth for design in known for label, worth in design["ranking"] if label == goal)
    return Suggestion(goal if abs(then - now) > HELPS else None, by, using, now, then)


def mean_of(numbers: Iterator[float]) -> float:
    listed = list(numbers)
    return sum(listed) / len(listed)


def further(suggestion: Suggestion, told: bool = True) -> str:
    """Which goal would help most, in words; and in which world, where that is not the true one and was not told yet."""
    world = WORLDS.get(suggestion.using) if not told else None
    if suggestion.goal is None:
        return f"none of the candidates would change that alone{f' {world}' if world else ''}"
    which = f"which, {world}," if world else "which"
    gain = shown(abs(suggestion.then - suggestion.now))
    if suggestion.by == "width":
        return f"the next goal that would tell most is {suggestion.goal}, {which} takes {gain} off the mean width"
    return f"the next goal that would help most is {suggestion.goal}, {which} adds {gain} to the certain return"


# --- findings --------------------------------------------------------------------------------------------------------


def certain(facts: PointFacts) -> Iterator[Sign]:
    """How much of the return is certain."""
    sentence, ratio = sentence_of(facts), facts.metric("unseen.mean.certain_ratio")
    if sentence:
        yield Sign("certain", "note", sentence, 1 - ratio if ratio is not None else 0.0)


def not_certain(facts: PointFacts) -> Iterator[Sign]:
    """A true world that is not among those that fit: what is called certain does not speak of it."""
    for goal, each in facts.guarantees.items():
        outside = [one for one in each if one.get("truth_fits") is False]
        if not outside:
            continue
        needed = [one.get("slack_needed") for one in outside]
        cure = (
            "extract.prior.support rules it out"
            if None in needed
            else f"it fits from evaluate.unseen.guarantee.slack = {max(number for number in needed if number):.2g} on"
        )
        sentence = (
            f"What is called certain of {goal} may not hold: the true world is not among those that explain the "
            f"values within the slack; {cure}."
        )
        yield Sign("not_certain", "doubtful", sentence, float(len(outside)))


CERTAINTY: tuple[Callable[[PointFacts], Iterator[Sign]], ...] = (not_certain, certain)
