"""The five statements about continuous worlds."""

from __future__ import annotations

import math

from wmlab.explain.facts import Facts
from wmlab.explain.premises import (
    OTHER_ENDS,
    UNTOLD,
    Premise,
    Statement,
    always,
    continuous,
    deterministic,
    ends,
    exact,
    goals_at_least,
    holds,
    one_successor,
    rewards_are,
    says,
    unconditional,
)

SEPARATED = "the values have exactly one deterministic world in them, the true one: goals tell any two states apart"
INFINITELY_MANY = 3.0  # what it costs to ask for a continuum of goals
DETERMINED = "the values have exactly one world in them, the true one"


def whole_states(facts: Facts) -> Premise:
    need = "goals that name every state variable"
    found = "goals name only some variables, or derived ones" if not facts.goals.whole else ""
    return holds("goals are points of the state space", facts.goals.whole, found, need)


def ends_on_arrival(facts: Facts) -> Premise:
    met = facts.goals.ending == "on arrival"
    return holds("episodes end on arrival", met, ends(facts), "goals.terminate: on_arrival", OTHER_ENDS)


def ends_within(facts: Facts) -> Premise:
    met = facts.goals.ending == "within"
    return holds(
        "episodes end within ρ of the goal",
        met,
        ends(facts),
        "goals.terminate: {within: ρ}",
        OTHER_ENDS,
    )


def ends_alike(facts: Facts) -> Premise:
    met = facts.goals.ending == "never"
    return holds("episodes end alike for all goals", met, ends(facts), "goals.terminate: never", OTHER_ENDS)


def covers_the_rim(facts: Facts) -> Premise:
    """A finite set of goals never contains a continuum; how near it comes is all that a spec can choose."""
    found = f"|G| = {facts.goals.count}: finitely many goals" if facts.goals.count else "finitely many goals"
    need = "goals everywhere among the states and up to σ around them (a finite set only comes near it)"
    return Premise("goals lie everywhere, and in a rim of σ around the states", "not met", found, need, INFINITELY_MANY)


def has_interior(facts: Facts) -> Premise:
    found = f"|G| = {facts.goals.count}: finitely many goals" if facts.goals.count else "finitely many goals"
    need = "goals that fill an open set (a finite set only comes near it)"
    return Premise("goals fill an open set", "not met", found, need, INFINITELY_MANY)


def compact(facts: Facts) -> Premise:
    return holds("the state space is compact", facts.world.box is not None, "", "a range for every variable")


def small_sigma(facts: Facts) -> Premise:
    """σ² < ρ² / (−4 log(1 − γ))."""
    statement = "σ² < ρ² / (−4 log(1 − γ))"
    sigma, rho, gamma = facts.goals.sigma, facts.goals.rho, facts.agent.discount
    if sigma is None or rho is None or not gamma:
        return Premise(statement, UNTOLD, "σ, ρ or γ is not one number")
    limit = rho / math.sqrt(-4.0 * math.log1p(-gamma))
    return holds(statement, sigma < limit, f"σ = {sigma:g}, the limit is {limit:.3g}", f"σ below {limit:.3g}")


def covering_goals(facts: Facts) -> int | None:
    """How many goals the proof needs: d + 1 around each centre of a net of balls of radius η over the box."""
    sigma, rho, gamma = facts.goals.sigma, facts.goals.rho, facts.agent.discount
    if sigma is None or rho is None or not gamma or facts.world.box is None:
        return None
    level = math.exp(-(rho**2) / (2 * sigma**2)) / (1 - gamma) + gamma
    if level >= 1:
        return None
    eta = min(rho / 2, sigma * math.sqrt(-math.log(level) / 2))
    dimension = len(facts.world.box)
    cells = math.prod(math.ceil((high - low) * math.sqrt(dimension) / eta) for low, high in facts.world.box)
    return (dimension + 1) * cells


def twice_and_one(facts: Facts) -> int | None:
    return None if facts.world.dimension is None else 2 * facts.world.dimension + 1


def scattered(facts: Facts) -> Premise:
    need = "goals drawn at random, not on a lattice"
    return Premise("goals lie in general position", "met" if facts.goals.scattered else UNTOLD, "", need)


CONTINUOUS = (
    Statement(
        "Theorem (continuous, deterministic, indicator goals)",
        "§4.2, App. D.4",
        "uniqueness",
        (
            continuous,
            deterministic,
            one_successor,
            rewards_are("indicator"),
            whole_states,
            ends_on_arrival,
            covers_the_rim,
            exact,
        ),
        says(SEPARATED),
    ),
    Statement(
        "Theorem (continuous, deterministic, 2 d + 1 Gaussian goals)",
        "App. D.4",
        "uniqueness",
        (
            continuous,
            deterministic,
            one_successor,
            rewards_are("gaussian"),
            whole_states,
            unconditional,
            ends_alike,
            goals_at_least(twice_and_one, "2 d + 1"),
            scattered,
            always("values are real-analytic in state and goal"),
            exact,
        ),
        says(f"for almost every choice of goals {SEPARATED}"),
    ),
    Statement(
        "Theorem (continuous, deterministic, Gaussian goals that end)",
        "App. D.4",
        "uniqueness",
        (
            continuous,
            deterministic,
            one_successor,
            rewards_are("gaussian"),
            whole_states,
            ends_within,
            compact,
            small_sigma,
            goals_at_least(covering_goals, "the proof's (d + 1) × a net of η-balls"),
            exact,
        ),
        says(f"with goals at the proof's places {SEPARATED}"),
    ),
    Statement(
        "Theorem (continuous, stochastic, Gaussian goals)",
        "App. D.3",
        "uniqueness",
        (continuous, rewards_are("gaussian"), whole_states, unconditional, ends_alike, has_interior, exact),
        says(DETERMINED),
    ),
    Statement(
        "Theorem (continuous, stochastic, indicator goals)",
        "App. D.3",
        "uniqueness",
        (continuous, rewards_are("indicator"), whole_states, unconditional, ends_alike, covers_the_rim, exact),
        says(DETERMINED),
    ),
)
