"""Acting on a linear combination of trained values in a finite world, exactly.

Shapes: R rows (goals), S states, A actions.
"""

from __future__ import annotations

import numpy as np

from wmlab.core.finite.kernel import Kernel
from wmlab.core.finite.view import FiniteView
from wmlab.measure.baselines import Combined, nearest
from wmlab.planning.finite.values import Tasks, evaluate_plan, returns

AS_GOOD = 1e-9  # values that are closer, relative to the largest, are equal: each such action is taken as often


def combined(view: FiniteView, world: Kernel, task: Tasks, starts: np.ndarray | None) -> Combined:
    """What acting on the combination attains in the true world, from a distribution of starts [S]."""
    weights, misfit = nearest(view.reward, task.reward[0])
    q = np.einsum("r,rsa->sa", weights, view.q)
    best = q >= q.max(axis=-1, keepdims=True) - AS_GOOD * max(1.0, float(np.abs(q).max()))
    policy = best / best.sum(axis=-1, keepdims=True)  # [S, A]
    value = evaluate_plan(world, policy[None], task)
    return Combined(weights, misfit, float(returns(value, task, starts)[0]))
