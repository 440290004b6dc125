"""A perceptron in plain NumPy, by the names of a file that was written."""

from __future__ import annotations

import numpy as np
from safetensors.numpy import load_file
from scipy.special import erf

ACTIVATIONS = {
    "relu": lambda x: np.maximum(x, 0),
    "tanh": np.tanh,
    "gelu": lambda x: x * (1 + erf(x / np.sqrt(2))) / 2,
    "gelu_tanh": lambda x: x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
}


def values(path, read, activation="relu", after=False, epsilon=1e-5, prefix=""):
    """Outputs [N, O] of rows [N, I]."""
    weights = {name.removeprefix(prefix): each.astype(np.float64) for name, each in load_file(path).items()}
    hidden, depth = np.asarray(read, np.float64), 0
    while f"layer{depth}.weight" in weights:
        hidden = hidden @ weights[f"layer{depth}.weight"] + weights[f"layer{depth}.bias"]
        hidden = ACTIVATIONS[activation](hidden) if after else hidden
        if f"layer{depth}.scale" in weights:
            hidden = (hidden - hidden.mean(axis=1, keepdims=True)) / np.sqrt(
                hidden.var(axis=1, keepdims=True) + epsilon
            )
            hidden = hidden * weights[f"layer{depth}.scale"] + weights[f"layer{depth}.shift"]
        hidden = hidden if after else ACTIVATIONS[activation](hidden)
        depth += 1
    return hidden @ weights["output.weight"] + weights["output.bias"]
