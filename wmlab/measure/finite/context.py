"""What is measured in a finite world, with what several measurements share.

Shapes: R rows (goal x discount x policy), S states, A actions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from wmlab.core.finite.kernel import Kernel
from wmlab.core.finite.space import FiniteSpace
from wmlab.core.finite.view import FiniteView
from wmlab.core.finite.world import FiniteWorld
from wmlab.planning.finite.values import policy_values
from wmlab.sections.experiment import Evaluate
from wmlab.sections.spec import Compare


@dataclass(frozen=True, eq=False)
class FiniteContext:
    """An agent, its model and its world."""

    view: FiniteView
    model: Kernel | None = None  # None: nothing was extracted
    world: FiniteWorld | None = None  # None: nobody knows it
    asked: Evaluate = Evaluate()
    labels: Sequence[str] | None = None  # of rows; None: several discounts or policies share a goal

    @property
    def truth(self) -> FiniteWorld:
        assert self.world is not None
        return self.world

    @cached_property
    def differences(self) -> tuple[np.ndarray, np.ndarray]:
        """The squared and the absolute differences of model and truth, summed over successors: both [S, A]."""
        assert self.model is not None
        return differences(self.truth.kernel, self.model)

    @cached_property
    def own_values(self) -> np.ndarray:
        """Exact values [R, S, A] of the agent's own policy in the true world."""
        view = self.view
        return policy_values(self.truth.kernel, view.policy, view.reward, view.continues, view.discount)

    @cached_property
    def l1_error(self) -> float:
        """The greatest over s, a of the l1 distance between the agent's values and those of its policy, over rows."""
        return float(np.abs(self.view.q - self.own_values).sum(axis=0).max())


@dataclass(frozen=True, eq=False)
class FinitePair:
    """The models of two agents in worlds of the same states."""

    model: Kernel
    other: Kernel
    space: FiniteSpace
    asked: Compare


def differences(world: Kernel, model: Kernel) -> tuple[np.ndarray, np.ndarray]:
    """The squared and the absolute differences of two kernels, summed over successors: both [S, A]."""
    if world.is_local and model.is_local:
        successors = np.concatenate([world.successors, model.successors], axis=-1)
        gap = Kernel.merged(successors, np.concatenate([world.probabilities, -model.probabilities], axis=-1))
        between = gap.probabilities
    else:
        between = world.to_dense() - model.to_dense()
    return (between**2).sum(axis=-1), np.abs(between).sum(axis=-1)


def starts_of(starts: str | int, world: FiniteWorld) -> np.ndarray | None:
    """Where evaluation starts, as a distribution [S]. It is exact, so that a count of resets is the reset itself."""
    return None if starts in ("all", "uniform") else world.reset
