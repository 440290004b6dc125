"""Makes drone_q.safetensors: the values of a drone that flies at random, as a small network in PyTorch's layout.

Plain NumPy, so that anybody can make it again: `python specs/examples/data/drone_q.py`. The drone knows its world (it
flies in a wind that is stronger further up); the file holds only what it makes of it, its values.

Shapes: N grid points, A actions, G goals, H units.
"""

from __future__ import annotations

import json
import struct
import sys
from pathlib import Path

import numpy as np

PUSHES = np.array([(0, 1), (1, 0), (0, -1), (-1, 0), (0, 0)]) * 0.1  # north, east, south, west, hover
GOALS = np.array([(-0.8, -0.7), (0.7, -0.8), (0.1, 0.2), (-0.6, 0.8), (0.8, 0.6), (-0.2, -0.3)])
SIGMA, DISCOUNT = 0.5, 0.9
POINTS, UNITS = 61, 160


def fly(states: np.ndarray, push: np.ndarray) -> np.ndarray:
    """Where a push leads [N, 2]: the wind carries eastwards, more so further up."""
    wind = np.stack([0.04 * (1 + states[:, 1]), np.zeros(len(states))], axis=-1)
    return np.clip(states + push + wind, -1, 1)


def read(table: np.ndarray, states: np.ndarray) -> np.ndarray:
    """A table [P, P, G] over the square, read at states [N, 2] by bilinear interpolation."""
    place = (states + 1) / 2 * (POINTS - 1)
    corner = np.minimum(place.astype(int), POINTS - 2)
    (i, j), (u, v) = corner.T, (place - corner).T[..., None]
    low = table[i, j] * (1 - v) + table[i, j + 1] * v
    high = table[i + 1, j] * (1 - v) + table[i + 1, j + 1] * v
    return low * (1 - u) + high * u


def values() -> tuple[np.ndarray, np.ndarray]:
    """States [N, 2] of a grid, and Q [N, G, A] of flying at random."""
    axis = np.linspace(-1, 1, POINTS)
    states = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    after = [fly(states, push) for push in PUSHES]
    pays = [np.exp(-((to[:, None] - GOALS) ** 2).sum(-1) / (2 * SIGMA**2)) for to in after]
    value = np.zeros((POINTS, POINTS, len(GOALS)))
    for _ in range(300):
        q = np.stack([pay + DISCOUNT * read(value, to) for pay, to in zip(pays, after, strict=True)], axis=-1)
        value = q.mean(axis=-1).reshape(value.shape)
    return states, q


def network(states: np.ndarray, q: np.ndarray) -> dict[str, np.ndarray]:
    """One hidden layer of random tanh units, and the output layer that fits Q best; weights are [outputs, inputs]."""
    draw = np.random.RandomState(0)
    weight, bias = draw.normal(0, 1.2, (UNITS, 2)), draw.uniform(-1.5, 1.5, UNITS)
    hidden = np.tanh(states @ weight.T + bias)
    design = np.concatenate([hidden, np.ones((len(states), 1))], axis=1)
    target = q.reshape(len(states), -1)  # goal by goal, the actions of each side by side
    ridge = design.T @ design + 1e-7 * len(states) * np.eye(UNITS + 1)
    found = np.linalg.solve(ridge, design.T @ target)
    error = np.abs(design @ found - target)
    print(f"largest error {error.max():.2g}, mean {error.mean():.2g}, of values up to {q.max():.2g}")
    return {"net.0.weight": weight, "net.0.bias": bias, "net.2.weight": found[:-1].T, "net.2.bias": found[-1]}


def write(path: Path, tensors: dict[str, np.ndarray]) -> None:
    """The tensors as safetensors: the length of a header, the header, the numbers."""
    header, start = {}, 0
    blocks = [np.ascontiguousarray(tensor, "<f4").tobytes() for tensor in tensors.values()]
    for (name, tensor), block in zip(tensors.items(), blocks, strict=True):
        header[name] = {"dtype": "F32", "shape": tensor.shape, "data_offsets": [start, start + len(block)]}
        start += len(block)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(blocks))


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("drone_q.safetensors")
    write(target, network(*values()))
