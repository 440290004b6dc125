"""The same perceptrons in NumPy, float64: for some rows, before anything runs, without JAX.

Shapes: N rows, I inputs, W units, O outputs, K variables.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from wmlab.agents.external.options import ExternalNetwork
from wmlab.core.continuous.space import Variable

erf = np.vectorize(math.erf, otypes=[float])
ACTIVATIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "relu": lambda x: np.maximum(x, 0),
    "silu": lambda x: x / (1 + np.exp(-np.clip(x, -500, 500))),
    "tanh": np.tanh,
    "elu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
    "gelu": lambda x: x * (1 + erf(x / math.sqrt(2))) / 2,
    "gelu_tanh": lambda x: x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
}


def outputs(
    weights: Mapping[str, np.ndarray],
    network: ExternalNetwork,
    read: np.ndarray,
    limits: tuple[float, float] | None = None,
) -> np.ndarray:
    """Outputs [N, O] of what is read [N, I]; `limits` are the ends of a bounded output."""
    hidden = np.asarray(read, np.float64)
    act, after = ACTIVATIONS[network.activation], network.norm_place == "after"
    for layer in range(network.depth):
        hidden = hidden @ weights[f"layer{layer}.weight"] + weights[f"layer{layer}.bias"]
        hidden = act(hidden) if after else hidden
        if network.norm == "layer":
            centred = hidden - hidden.mean(axis=1, keepdims=True)
            hidden = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + network.epsilon)
            hidden = hidden * weights[f"layer{layer}.scale"] + weights[f"layer{layer}.shift"]
        hidden = hidden if after else act(hidden)
    values = hidden @ weights["output.weight"] + weights["output.bias"]
    if limits is None:
        return np.asarray(values)
    low, high = limits
    return np.asarray(low + (high - low) / (1 + np.exp(-np.clip(values, -500, 500))))


def encoded(variables: Sequence[Variable], values: Sequence[np.ndarray], encoding: str) -> list[np.ndarray]:
    """Columns [N] as a network reads the values [N] of K variables."""
    if encoding == "raw":
        return list(values)
    columns: list[np.ndarray] = []
    for variable, value in zip(variables, values, strict=True):
        low, high = variable.scale
        scaled = 2 * (value - low) / (high - low) - 1
        circle = encoding == "sincos" and variable.periodic
        columns += [np.sin(math.pi * scaled), np.cos(math.pi * scaled)] if circle else [scaled]
    return columns
