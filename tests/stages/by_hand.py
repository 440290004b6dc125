"""The errors of a model and of values in logged transitions, written out in NumPy from stored weights."""

from __future__ import annotations

import numpy as np
from safetensors.numpy import load_file

ACTIONS = 5


def predicted(weights: dict[str, np.ndarray], state: np.ndarray, action: np.ndarray) -> np.ndarray:
    """Next states of a model with one hidden layer of tanh, states in [-1, 1], changes in units of their ranges."""
    read = np.concatenate([state, np.eye(ACTIONS)[action]], axis=1)
    hidden = np.tanh(read @ weights["layer0.weight"] + weights["layer0.bias"])
    return state + 2 * (hidden @ weights["output.weight"] + weights["output.bias"])


def errors(
    weights: dict[str, np.ndarray], state: np.ndarray, action: np.ndarray, after: np.ndarray
) -> dict[str, float]:
    gap, move = predicted(weights, state, action) - after, after - state
    inside = (np.abs(after) < 1 - 1e-5).all(axis=1)
    return {
        "wm.mse": (gap**2).mean(),
        "wm.nmse": ((gap**2).mean(axis=0) / after.var(axis=0)).mean(),
        "wm.identity_nmse": ((move**2).mean(axis=0) / after.var(axis=0)).mean(),
        "wm.delta_nmse": ((gap**2).mean(axis=0) / move.var(axis=0)).mean(),
        "wm.delta_nmse_interior": ((gap[inside] ** 2).mean(axis=0) / move[inside].var(axis=0)).mean(),
    }


def td_error(file: str, goals: np.ndarray, state: np.ndarray, action: np.ndarray, after: np.ndarray) -> float:
    """The mean over goals of |r + 0.9 V - Q| for the drone, which flies at random."""
    weights = {name: each.astype(np.float64) for name, each in load_file(file).items()}

    def values(state: np.ndarray) -> np.ndarray:
        hidden = np.tanh(state @ weights["net.0.weight"].T + weights["net.0.bias"])
        return (hidden @ weights["net.2.weight"].T + weights["net.2.bias"]).reshape(len(state), -1, ACTIONS)

    paid = np.exp(-0.5 * ((after[:, None] - goals) ** 2).sum(axis=-1) / 0.25)
    here = np.take_along_axis(values(state), action[:, None, None], axis=2)[..., 0]
    return float(np.abs(paid + 0.9 * values(after).mean(axis=-1) - here).mean())
