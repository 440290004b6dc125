"""What an extraction may know of an agent.

Shapes: R rows (goal x discount x policy), S states, A actions, K candidates.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from wmlab.core.finite.space import FiniteSpace


@dataclass(frozen=True, eq=False)
class FiniteView:
    """All that an extraction may know of an agent in a finite world. Rows are goal x discount x policy."""

    q: np.ndarray  # [R, S, A]
    policy: np.ndarray  # [R, S, A] probabilities
    reward: np.ndarray  # [R, S]  r(s', row)
    continues: np.ndarray  # [R, S]  D(s', row): 0 ends the episode
    discount: np.ndarray  # [R]
    space: FiniteSpace
    support: np.ndarray | None = None  # int32 [S, K] or [S, A, K] candidates of the prior, padded with -1; None: any

    @property
    def rows(self) -> int:
        return self.q.shape[0]

    @functools.cached_property
    def value(self) -> np.ndarray:
        """V = E_pi[Q], [R, S]."""
        return (self.policy * self.q).sum(axis=-1)

    @functools.cached_property
    def backup(self) -> np.ndarray:
        """M = r + gamma D V, [R, S]: what arriving in a state is worth. The Bellman equation is M P(s, a) = Q(s, a)."""
        return self.reward + self.discount[:, None] * self.continues * self.value
