"""What the theorems promise, evaluated for an agent: how wrong its values may be, and its model with them.

Both rest on how far M moves when Q(s, a) moves by epsilon in l1 over goals: by at most gamma * m * epsilon in any
column. The paper takes the number of actions for m; min(actions, rows) also holds, and so does 1 for a policy that
does not depend on the goal.

Shapes: R rows (goal x discount x policy), S states, A actions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wmlab.core.finite.view import FiniteView
from wmlab.identify.rank import gap, rank


@dataclass(frozen=True)
class Bound:
    """An interval that a theorem gives, and the quantities that it is made of."""

    upper: float  # infinite where the theorem does not apply
    lower: float
    parts: dict[str, float]


def unconditional(view: FiniteView) -> bool:
    """Whether the policy is the same in every row."""
    return bool(np.allclose(view.policy, view.policy[:1], rtol=0.0, atol=1e-12))


def spread_of_errors(view: FiniteView) -> float:
    """The m of the theorems: by how much a policy can add up errors of different actions."""
    return 1.0 if unconditional(view) else float(min(view.q.shape[2], view.rows))


def theorem_2b(view: FiniteView) -> Bound:
    """Deterministic worlds: column matching is exact for epsilon below `lower`; from `upper` on any method can fail.

    The proof gives gap / (2 (1 + gamma m)); the main text prints another, larger figure, which does not hold.
    """
    separation, gamma, m = gap(view), float(view.discount.max()), spread_of_errors(view)
    parts = {"gap": separation, "discount": gamma, "m": m}
    return Bound(upper=separation / 2.0, lower=separation / (2.0 * (1.0 + gamma * m)), parts=parts)


def theorem_3c(view: FiniteView, epsilon: float, tolerance: float = 1e-9) -> Bound:
    """Stochastic worlds: the error of M+ Q in l1 is at most `upper`; in the worst case no method beats `lower`.

    `epsilon` bounds ||Q(s, a) - Q^pi(s, a)||_1 over goals. Where the policy is unconditional and the goals are the
    states themselves, without termination, the better of this bound and its improvement counts.
    """
    algebra, gamma, m = rank(view, tolerance), float(view.discount.max()), spread_of_errors(view)
    general = algebra.inverse_norm * (1.0 + gamma * m) * epsilon if algebra.nullity == 0 else float("inf")
    better = improvement(view, epsilon)
    parts = {
        "epsilon": epsilon,
        "discount": gamma,
        "m": m,
        "inverse_norm": algebra.inverse_norm,
        "general": general,
        "unconditional": better,
    }
    return Bound(upper=min(general, better), lower=(1.0 + gamma) * epsilon / 2.0, parts=parts)


def improvement(view: FiniteView, epsilon: float) -> float:
    """The bound for occupancy measures, epsilon (1 + gamma)^2 / (1 - epsilon gamma (1 + gamma)); else infinite."""
    states = view.q.shape[1]
    gamma = float(view.discount[0])
    goals_are_states = view.reward.shape == (states, states) and bool(
        np.isin(view.reward, (0.0, 1.0)).all()
        and (view.reward.sum(axis=0) == 1.0).all()
        and (view.reward.sum(axis=1) == 1.0).all()
    )
    applies = goals_are_states and unconditional(view) and bool((view.continues == 1.0).all())
    if not applies or np.ptp(view.discount) > 0 or epsilon * gamma * (1.0 + gamma) >= 1.0:
        return float("inf")
    return epsilon * (1.0 + gamma) ** 2 / (1.0 - epsilon * gamma * (1.0 + gamma))
