"""The same in plain words: what is asked of what, the short answer, and the terms that the long one uses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from wmlab.explain.facts import Facts

VALUES = {
    "exact": "exact values",
    "approximate": "values moved off the exact ones",
    "learnt": "learnt values",
    "external": "values from elsewhere",
    "of another world": "exact values of another world",
}
YES = "Yes, in theory: only one world explains these values, the true one."
IF = "Yes, in theory, if what only a run can tell turns out well: only one world then explains these values."
NEARLY = "Nearly, in theory: the model is right, or nearly so, as long as the values are good enough."
NO = "No, says theory: worlds that differ give the same values."
OPEN = "Theory promises nothing here: more than one world may explain these values, and only a run can tell."

# Terms that need a word: how they stand in a text, and what they mean.
TERMS = {
    r"\|G\|": ("|G|", "the number of goals"),
    r"\|S\|": ("|S|", "the number of states"),
    r"\bN\b": ("N", "how many states may follow a state and action"),
    r"\bd\b": ("d", "the number of state variables"),
    r"\bM\b": ("M", "what arriving in a state is worth: reward + discounted value; a row per goal, a column per state"),
    r"M⁺": ("M⁺", "the pseudo-inverse of M"),
    r"\bQ\b": ("Q", "the agent's values of actions, for each goal"),
    r"\bD\b(?!\.)": ("D", "0 where a goal ends the episode, else 1"),
    r"γ": ("γ", "the discount"),
    r"ε": ("ε", "how far the values are off, summed over goals"),
    r"σ": ("σ", "the width of a goal's reward"),
    r"ρ": ("ρ", "the distance from the goal at which an episode ends"),
    r"\bgeneric\b": ("generic", "drawn at random, so that no two states pay quite alike"),
    r"\bsupport\b": ("support", "the states that may follow a state and action"),
    r"\bunconditional\b": ("unconditional", "the policy acts alike, whatever the goal"),
    r"\bgeneral position\b": ("general position", "no symmetry among the goals, such as all on a line"),
    r"\bfull rank\b|\brank\b": ("rank", "how many directions goals tell apart; full: all of them"),
    r"\balmost surely\b": ("almost surely", "but for exceptions of probability 0"),
}


def setting(facts: Facts) -> tuple[str, ...]:
    """What is asked of what: the world, the goals, the values, the method."""
    return world_words(facts), goal_words(facts), VALUES[facts.agent.values], method_words(facts)


def world_words(facts: Facts) -> str:
    world = facts.world
    if world.family == "unknown":
        return "a world of which nothing is told but states and actions"
    sort = {True: ", deterministic", False: ", stochastic", None: ""}[world.deterministic]
    size = f"{world.states} states" if world.family == "finite" else f"{counted(world.dimension, 'variable')}"
    actions = f" and {counted(world.actions, 'action')}" if world.actions else ""
    actions = " and actions from a box" if world.actions is None else actions
    return f"a {world.family}{sort} world" + (f" of {size}{actions}" if world.states or world.dimension else "")


def goal_words(facts: Facts) -> str:
    goals = facts.goals
    noise = ", with noise" if goals.noise else ""
    count = "goals" if goals.count is None else counted(goals.count, "goal")
    return f"{count} {goals.says}{noise}"


def method_words(facts: Facts) -> str:
    return f"a model by {facts.method.kind}" if facts.method.kind else "no model"


def counted(count: int | None, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def answer(promised: str, impossible: bool, open_: bool) -> str:
    """The verdict in a sentence that needs no theory."""
    if promised == "one world":
        return IF if open_ else YES
    if impossible:
        return NO
    return NEARLY if promised == "a bound" else OPEN


def senses_of_one(facts: Facts) -> str:
    """What a run says of uniqueness: three things that are easily taken for each other, by their names."""
    method = facts.method
    needed = "the last will do for" if method.simplex else "the first is what counts for"
    asked = f"; {needed} {method.kind}" if method.kind is not None else ""
    return (
        "one world has three senses, each weaker than the one before: M has full rank (ident.nullity is 0); so has M "
        "with a row of ones, as probabilities sum to one (ident.simplex_nullity is 0); the identified set is a single "
        f"kernel, as none of them is below 0 (ident.width is 0){asked}"
    )


def together(settings: Sequence[Sequence[str]]) -> str:
    """The settings of several points in one line: what they share once, what differs from the first to the last."""
    parts = []
    for each in zip(*settings, strict=True):
        different = list(dict.fromkeys(each))
        parts.append(different[0] if len(different) == 1 else f"from {different[0]} to {different[-1]}")
    return "; ".join(parts)


def terms_in(text: str) -> Iterator[tuple[str, str]]:
    """The terms that a text uses, with what they mean."""
    for pattern, (term, sense) in TERMS.items():
        if re.search(pattern, text):
            yield term, sense
