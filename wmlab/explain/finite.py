"""The statements about finite worlds."""

from __future__ import annotations

from wmlab.explain.facts import Facts
from wmlab.explain.premises import (
    OTHER_ENDS,
    OTHER_WORLD,
    UNTOLD,
    Premise,
    Statement,
    deterministic,
    discounted,
    ends,
    exact,
    finite,
    full_rank,
    generic_rewards,
    goals_at_least,
    goes_on,
    holds,
    many_horizons,
    near,
    no_exception,
    one_goal,
    one_successor,
    rewards_are,
    says,
    spanning,
    stochastic,
    unconditional,
)

GAUSSIAN = rewards_are("gaussian", "rewards are Gaussian")
MOST_SPARSE = 3  # successors that are looked for among all supports
ALMOST_SURELY = "almost surely the values have exactly one world in them, the true one"


def states(facts: Facts) -> int | None:
    return facts.world.states


def on_a_plane(facts: Facts) -> Premise:
    met = facts.world.dimension is not None
    return holds(
        "states lie at different points of a plane",
        met,
        f"mdp.kind is {facts.world.kind}",
        "a world with a map",
        OTHER_WORLD,
    )


def general_position(facts: Facts) -> Premise:
    statement = "goals lie in general position"
    if facts.goals.scattered or facts.goals.noise:
        return Premise(statement, "met", "they are moved at random")
    need = "move them off the lattice at random (goals.reward.jitter), or list points off it"
    return Premise(statement, UNTOLD, "a goal on an axis of symmetry cannot tell mirrored states apart", need)


def drawn_kernel(facts: Facts) -> Premise:
    found = f"mdp.kind is {facts.world.kind}"
    return holds("the kernel is generic", facts.world.generic, found, "a kernel drawn from a density", OTHER_WORLD)


def known_support(facts: Facts) -> Premise:
    """The whole state space is a support, too, for a method that knows that probabilities sum to one."""
    method = facts.method
    if method.support is not None:
        return Premise("the support is known", "met", f"prior.support leaves N = {method.support}")
    met = method.simplex and method.sparse is None
    found = f"any of N = {facts.world.states} states may follow" if met else f"{method.kind} has no support prior"
    return holds("the support is known", met, found, "extract.prior.support, with a method such as lp", 2.0)


def needed_if_known(facts: Facts) -> int | None:
    size = facts.method.support or facts.world.states
    return None if size is None else size - 1


def local_model(facts: Facts) -> Premise:
    """At most N successors: what the method assumes, beside what the world has."""
    statement, size, most = "at most N successors, not known which", facts.method.sparse, facts.world.successors
    if size is None:
        found = f"{facts.method.kind} assumes nothing of the kind"
        few = most is not None and most <= MOST_SPARSE
        need = f"extract: {{kind: sparse_lp, size: {most}}}" if few else "a world with few successors"
        return holds(statement, False, found, need, 2.0 if few else OTHER_WORLD)
    if most is not None and most > size:
        found = f"N = {size} is assumed, and the world has up to {most}"
        return holds(statement, False, found, f"extract.size: {most}")
    return Premise(statement, "met", f"N = {size} is assumed")


def needed_if_unknown(facts: Facts) -> int | None:
    size = facts.method.sparse or facts.world.successors
    return None if size is None else 2 * size - 1


def m_of(facts: Facts) -> str:
    """The m of the bounds: errors of so many actions may add up."""
    if not facts.agent.conditional:
        return "1"
    found = [count for count in (facts.world.actions, facts.goals.count) if count is not None]
    return str(min(found)) if found else "m"


def recovery(facts: Facts) -> str:
    gamma = facts.agent.discount
    factor = f"2 (1 + {gamma:g} × {m_of(facts)})" if gamma is not None else f"2 (1 + γ × {m_of(facts)})"
    return (
        f"column matching finds the true world as long as ε < Δ / ({factor}), with Δ the least distance between two "
        "columns of M (ident.gap); from Δ / 2 on no method can be sure"
    )


def error_bound(facts: Facts) -> str:
    gamma = "γ" if facts.agent.discount is None else f"{facts.agent.discount:g}"
    bound = f"the l1 error of M⁺Q is at most ‖M⁺‖₁ (1 + {gamma} × {m_of(facts)}) ε for each state and action"
    better = facts.goals.pays == (1.0, 0.0) and facts.goals.spans and facts.goals.ending == "never"
    if better and not facts.agent.conditional:
        bound += f", and at most ε (1 + {gamma})² / (1 − ε {gamma} (1 + {gamma})), as the policy is unconditional"
    return f"{bound}; no method is better than (1 + {gamma}) ε / 2 in the worst case"


def no_goal_ends(facts: Facts) -> Premise:
    met = facts.goals.ending == "never" or facts.goals.count == 1
    return holds("episodes end alike for all goals", met, ends(facts), "goals.terminate: never", OTHER_ENDS)


def descends(facts: Facts) -> Premise:
    met = facts.method.descends
    return holds("P is learnt by gradient descent on tables", met, f"extract.kind is {facts.method.kind}")


def any_values(facts: Facts) -> Premise:
    met = facts.agent.values in ("learnt", "external", "of another world")
    return holds("values are arbitrary", met, f"they are {facts.agent.values}")


FINITE = (
    Statement(
        "Theorem 2(a)",
        "§4.1, App. C.1",
        "uniqueness",
        (finite, deterministic, one_successor, goals_at_least(lambda facts: 1, "1"), generic_rewards, exact),
        says(f"{ALMOST_SURELY}: all columns of M differ, and column matching finds it"),
    ),
    Statement(
        "Proposition (Gaussian rewards, deterministic)",
        "§4.1, App. C.2",
        "uniqueness",
        (finite, deterministic, one_successor, GAUSSIAN, on_a_plane, general_position, exact),
        says("for almost every goal the values have exactly one deterministic world in them, the true one"),
    ),
    Statement(
        "Theorem (local), unknown support",
        "§4.1, App. C.8 (b)",
        "uniqueness",
        (finite, local_model, generic_rewards, goals_at_least(needed_if_unknown, "2 N − 1"), exact),
        says(f"{ALMOST_SURELY}, among those with at most N successors"),
    ),
    Statement(
        "Theorem (local), known support",
        "§4.1, App. C.8 (a)",
        "uniqueness",
        (finite, known_support, generic_rewards, goals_at_least(needed_if_known, "N − 1"), exact),
        says(f"{ALMOST_SURELY}, among those on the support"),
    ),
    Statement(
        "Theorem 3(a)",
        "§4.1, App. C.3",
        "uniqueness",
        (finite, generic_rewards, goals_at_least(states, "|S|"), exact),
        says(f"{ALMOST_SURELY}: M has full rank"),
    ),
    Statement(
        "Theorem 3(b), unconditional policies",
        "§4.1, App. C.3",
        "uniqueness",
        (finite, spanning, unconditional, no_goal_ends, exact),
        says("the values have exactly one world in them, the true one: M has full rank at every discount"),
    ),
    Statement(
        "Proposition (Gaussian rewards, stochastic)",
        "App. C.4",
        "uniqueness",
        (finite, GAUSSIAN, on_a_plane, general_position, goals_at_least(states, "|S|"), exact),
        says("for almost every choice of goals the values have exactly one world in them, the true one"),
    ),
    Statement(
        "Proposition (finite, exact) (a)",
        "App. C.3",
        "uniqueness",
        (finite, drawn_kernel, spanning, exact),
        says("almost every kernel is determined by its values"),
    ),
    Statement(
        "Theorem 3(b)",
        "§4.1, App. C.3",
        "uniqueness",
        (finite, spanning, no_exception, exact),
        says("M has full rank, so that the values have exactly one world in them, the true one"),
    ),
    Statement(
        "Theorem 2(b)",
        "§4.1, App. C.1; the proof's bound, not the one printed",
        "bound",
        (finite, deterministic, one_successor, near),
        recovery,
    ),
    Statement("Theorem 3(c)", "§4.1, App. C.3", "bound", (finite, full_rank, near), error_bound),
    Statement(
        "Proposition (arbitrary values, deterministic)",
        "App. C.6",
        "any values",
        (finite, any_values, one_successor, discounted, goes_on, goals_at_least(lambda facts: 1, "1")),
        says("almost any values have at most one deterministic world in them, which need not be the true one"),
    ),
    Statement(
        "Proposition (arbitrary values, stochastic)",
        "App. C.6",
        "any values",
        (finite, any_values, discounted, goes_on, goals_at_least(states, "|S|")),
        says("almost any values have one model in them, M⁺Q, which need not be the true world, nor a world at all"),
    ),
    Statement(
        "Proposition (many horizons and policies)",
        "§4.1, App. C.7",
        "impossibility",
        (finite, stochastic, one_goal, many_horizons),
        says("there are worlds that one goal cannot tell apart over any number of discounts and policies; add a goal"),
    ),
    Statement(
        "Theorem 1",
        "§3, App. A",
        "limit",
        (finite, descends),
        says(
            "P-learning converges to M⁺Q + (I − M⁺M) P₀, its first guess projected on the kernels that fit best: where "
            "M has not full rank, part of the guess stays"
        ),
    ),
)
