"""How far chance spreads next states in a continuous world that is written in a spec, found with NumPy alone.

Shapes: n states, r draws of each, d variables with derived ones, A actions.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from wmlab import expressions
from wmlab.core.continuous.space import ContinuousSpace
from wmlab.core.randomness import generator
from wmlab.mdps.dynamics.check_continuous import next_values
from wmlab.mdps.dynamics.options import NoiseTerm, Options
from wmlab.mdps.dynamics.step import WrittenStep

STATES, DRAWS = 256, 256  # that are tried: a spread is then right to about one part in a hundred
ROUNDING = 1e-6  # of how far a variable goes: less is no spread


def spread(options: Options, space: ContinuousSpace) -> Mapping[str, float]:
    """Variable: the standard deviation of its next value by chance, root mean square over states and actions."""
    if not options.noise:
        return {}
    stream = generator(0, "spread of next states")
    box = np.array([variable.scale for variable in space.variables])
    states = np.tile(stream.uniform(box[:, 0], box[:, 1], (STATES, space.size)), (DRAWS, 1))  # [r n, d]
    draws = {name: drawn(each, stream, len(states)) for name, each in options.noise.items()}
    with np.errstate(all="ignore"):
        env = next_values(WrittenStep.of(options), space, states, draws)
        after = np.stack([np.asarray(env[expressions.next_name(name)], float) for name in space.names], axis=-1)
        moved = space.difference(space.full(after), space.full(states))  # [A, r n, d]
    variances = moved.reshape(len(space.actions), DRAWS, STATES, -1).var(axis=1, ddof=1)  # [A, n, d]
    variances = np.where(np.isfinite(variances), variances, 0.0)
    return {
        variable.name: float(size)
        for variable, size in zip(space.everything, np.sqrt(variances.mean(axis=(0, 1))), strict=True)
        if size > ROUNDING * (variable.scale[1] - variable.scale[0])
    }


def drawn(noise: NoiseTerm, stream: np.random.Generator, count: int) -> np.ndarray:
    """Draws [count] of a noise term."""
    if noise.kind == "normal":
        return stream.normal(noise.mean or 0.0, noise.sd or 0.0, count)
    if noise.kind == "uniform":
        return stream.uniform(noise.low or 0.0, noise.high or 0.0, count)
    return stream.choice(np.array(noise.values or (0.0,)), count, p=np.array(noise.probabilities or (1.0,)))
