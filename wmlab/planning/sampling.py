"""Planning by sampling: at every step, sequences of actions are tried in the model and the best of them improved.

The cross-entropy method: sequences are drawn around a mean, the best of them give the next mean and spread, and the
first action of the best is taken; then everything is asked again from where that leads. No grid of states is needed, so
that it goes where variables or components are many. It sees as far as its horizon and no further: of sequences that
reach nothing within it, the one that comes nearest counts.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from wmlab.core.continuous.space import ContinuousSpace
from wmlab.planning.grid_value_iteration import GridSolution
from wmlab.registry import Finding, Scope, SolverTraits, option, solvers

if TYPE_CHECKING:
    from jax import Array

    from wmlab.core.continuous.dynamics import ContinuousWorld, Dynamics
    from wmlab.core.continuous.goals import Task


@dataclass(frozen=True)
class Options:
    horizon: int = option(15, doc="Steps that a plan looks ahead.", at_least=1, at_most=10_000)
    samples: int = option(64, doc="Sequences of actions that are tried in every round.", at_least=2, at_most=100_000)
    elites: int = option(8, doc="How many of the best give the next mean and spread.", at_least=1)
    rounds: int = option(4, doc="Rounds at every step; a step begins where the last one ended.", at_least=1)
    spread: float = option(
        1.0, doc="First standard deviation of each component, as a fraction of half its range.", above=0
    )


def check(options: Options, scope: Scope) -> Iterator[Finding]:
    space = scope.space
    if isinstance(space, ContinuousSpace) and not space.in_box:
        message = "draws actions from a box, and this world has a list of them"
        yield Finding(("kind",), message, "say grid_value_iteration")
    if options.elites > options.samples:
        yield Finding(("elites",), f"{options.elites} of {options.samples} samples", "lower it")


@solvers.register("sampling", Options, SolverTraits(worlds="continuous", from_box=True), check=check)
def sampling(
    options: Options,
    model: Dynamics,
    world: ContinuousWorld | None,
    task: Task,
    starts: np.ndarray,
    *,
    space: ContinuousSpace,
    discount: float,
    start: int | None = None,
    key: Array,
) -> GridSolution:
    """Sequences of actions drawn in the model and improved, at every step anew: for many variables or components."""
    from wmlab.planning.continuous.sampled import Search, follow_samples

    search = Search(**dataclasses.asdict(options))
    horizon = None if world is None else world.horizon
    inside = follow_samples(search, model, model, task, discount, starts, space, horizon, key)
    promised = float(inside.returns.mean(dtype=np.float64))
    nothing = np.zeros(0, np.float32)
    if world is None:
        return GridSolution(nothing, (0,), promised, math.nan, nothing, nothing, nothing, 0.0)
    done = follow_samples(search, model, world.dynamics, task, discount, starts, space, horizon, key)
    path = done.states[: int(done.steps[0]) + 1, 0]
    mean, peaks = float(done.returns.mean(dtype=np.float64)), np.abs(space.full(done.states)).max(axis=0)
    return GridSolution(nothing, (0,), promised, mean, done.returns, path, peaks, 0.0)
