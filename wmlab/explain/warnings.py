"""What is worth knowing of a spec although no theorem says it."""

from __future__ import annotations

from collections.abc import Iterator

from wmlab.explain.facts import Facts


def warnings_of(facts: Facts, covered_by: str | None) -> tuple[str, ...]:
    """Warnings that this spec calls for; `covered_by` is the statement that covers it."""
    return tuple(_warnings(facts, covered_by))


def _warnings(facts: Facts, covered_by: str | None) -> Iterator[str]:
    goals, world, agent = facts.goals, facts.world, facts.agent
    if covered_by == "Theorem 3(b)" and agent.discounts == 1:
        yield (
            "a single discount can be singular: M may lose rank at finitely many of them (ident.rank and "
            "ident.sigma_min will say; another discount, or a little noise in the policy, cures it)"
        )
    if world.kind == "gridworld" and not goals.generic and goals.family == "indicator" and goals.spans is not True:
        yield (
            "bottlenecks hide the world: from a room with one door all goals beyond it look alike, however many; "
            "noise on the rewards cures it (evaluate.identify.width shows where)"
        )
    if goals.ending != "never" and world.family == "finite" and covered_by is not None:
        yield (
            "goals end episodes, which the paper's finite theorems leave out; the arguments from generic rewards and "
            "from almost every discount carry over, as M = r + γ D V"
        )
    if agent.values == "of another world":
        yield "the values come from another world: it is that one that they can tell of"
    if world.family == "continuous":
        yield (
            "wm.nmse, the NMSE of next states, flatters: a model in which nothing moves scores well, too "
            "(wm.identity_nmse says how well); wm.delta_nmse is the error of the moves themselves"
        )
    if agent.values == "learnt":
        yield "learnt values need not be right for a good model, but they must fit each other: fit.residual tells"
