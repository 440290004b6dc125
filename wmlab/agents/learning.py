"""What agents that learn have in common: the course of a training, and what it leaves in a finite world."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np


class Course(Protocol):
    """The part of a learner's options that acting, testing and keeping records go by."""

    @property
    def discount(self) -> float: ...

    @property
    def policy(self) -> Literal["greedy", "uniform"]:
        """Whose values are learnt."""

    @property
    def envs(self) -> int: ...

    @property
    def rollout(self) -> int:
        """Steps in each environment within one update."""

    @property
    def updates(self) -> int: ...

    @property
    def checkpoint_updates(self) -> tuple[int, ...]:
        """After how many updates each checkpoint is taken."""

    @property
    def resets(self) -> Any:
        """How fresh starts are shared among environments; None: each draws its own."""

    @property
    def remedy(self) -> str:
        """What to do about a training that diverges."""


@dataclass(frozen=True)
class LearnedValues:
    """What a training in a finite world leaves. Shapes: C checkpoints, G goals, S states, A actions, U updates."""

    q: np.ndarray  # [C, G, S, A]
    steps: np.ndarray  # int [C]: environment steps done by each checkpoint
    returns: np.ndarray  # [C, G]: mean discounted return of the learnt policy, from the world's resets
    visits: np.ndarray  # int [S]: how often each state was acted from
    curves: dict[str, np.ndarray]  # each [U]
    weights: dict[str, np.ndarray]  # of a network, at the end; none where the values are a table
