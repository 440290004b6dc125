"""How far the members of an ensemble are apart, beside how wrong they are.

Shapes: n states, D variables with derived ones, A actions.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import spearmanr

from wmlab.core.randomness import jax_key
from wmlab.measure.continuous.context import DRAWS, ContinuousContext
from wmlab.measure.continuous.members import MembersApart
from wmlab.measure.continuous.model_error import error_by_state
from wmlab.measure.continuous.moves import Sampled, mean_of, over, rows_of, sample_errors
from wmlab.registry.metrics import Measured

DEVIATIONS = 2.0  # that an error may be off by and still counts as covered


def disagreement(context: ContinuousContext) -> Measured:
    """wm.disagreement and, where the truth is known, whether it says where the model is wrong."""
    apart = context.members
    each = over(apart.variance.mean(axis=1), apart.scale)  # [A, D]
    names = [variable.name for variable in apart.space.everything]
    what, labels = rows_of(apart.space)
    by = {
        "dimension": {name: mean_of(each[:, column]) for column, name in enumerate(names)},
        what: {name: mean_of(each[row]) for row, name in enumerate(labels)},
    }
    values: Measured = {"wm.disagreement": {"value": mean_of(each), "by": by}}
    if context.world is None:
        return values
    world, key = context.world, jax_key(0, "draws of the model's error")
    sampled = sample_errors(world.space, world.dynamics, context.ensemble, apart.states, key, DRAWS)
    return values | against_truth(apart, sampled)


def doubt_by_state(apart: MembersApart) -> np.ndarray:
    """The variance among members over that of displacements, mean over actions and variables: [n]."""
    mean: np.ndarray = over(apart.variance, apart.scale).mean(axis=(0, 2))
    return mean


def against_truth(apart: MembersApart, sampled: Sampled) -> Measured:
    """Whether members part where they are wrong: in order (Spearman), and in size."""
    error, doubt = error_by_state(sampled), doubt_by_state(apart)
    in_order = np.ptp(error) > 0 and np.ptp(doubt) > 0  # else there is nothing to rank
    inside = sampled.gap.astype(np.float64) ** 2 <= DEVIATIONS**2 * apart.variance  # [A, n, D]
    by = {"dimension": {name: float(inside[..., column].mean()) for column, name in enumerate(sampled.names)}}
    return {
        "wm.disagreement_rank": {"value": float(spearmanr(doubt, error).statistic) if in_order else None},
        "wm.disagreement_covers": {"value": float(inside.mean()), "by": by},
    }
