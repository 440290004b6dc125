"""A linear world with actions from a box, and an agent in it whose values are known in closed form.

s' = A s + B a; a goal pays a combination of what is reached, and the agent always does the same. Its values are linear,
and perceptrons of relu give them exactly: each input enters as relu(z) - relu(-z).
"""

from __future__ import annotations

import numpy as np

GAMMA = 0.8
A = np.array([[0.9, 0.05], [-0.05, 0.85]])
B = np.array([[0.1, 0.0], [0.02, 0.08]])
LOW, HIGH = np.array([-1.0, -0.5]), np.array([1.0, 1.5])
ALWAYS = (LOW + HIGH) / 2  # what a tanh of 0 does
PAYS = np.array([[1.0, 0.0], [0.0, 1.0]])  # [goal, variable]

SPEC = {
    "wmlab": 1,
    "name": "linear",
    "mdp": {
        "kind": "dynamics",
        "state": {"x": {"range": [-2, 2], "edge": "clip"}, "y": {"range": [-2, 2], "edge": "clip"}},
        "actions": {"u": {"range": [-1, 1]}, "w": {"range": [-0.5, 1.5]}},
        "next": {"x": "0.9*x + 0.05*y + 0.1*u", "y": "-0.05*x + 0.85*y + 0.02*u + 0.08*w"},
        "horizon": 20,
        "reset": {"x": {"uniform": [-0.5, 0.5]}, "y": {"uniform": [-0.5, 0.5]}},
    },
    "goals": {
        "reward": {"kind": "expression", "pays": "x * goal(x) + y * goal(y)"},
        "at": [{"x": 1, "y": 0}, {"x": 0, "y": 1}],
        "terminate": "never",
    },
    "agent": {
        "kind": "external",
        "q": {
            "file": "linear.npz",
            "network": {"depth": 1, "width": 8, "inputs": ["state", "action"], "observation": ["x", "y"]},
            "critics": {"count": 2},
        },
        "actor": {"network": {"depth": 1, "width": 4, "observation": ["x", "y"]}},
        "discount": GAMMA,
    },
    "extract": {"kind": "p_learning", "preset": "quick", "model": {"family": "affine"}, "steps": 300},
    "evaluate": {"fit": {}},
}


def scaled(action: np.ndarray) -> np.ndarray:
    return 2 * (action - LOW) / (HIGH - LOW) - 1


def later() -> tuple[np.ndarray, np.ndarray]:
    """P and q: the discounted sum of the states that follow s is P s + q."""
    matrix = A @ np.linalg.inv(np.eye(2) - GAMMA * A)
    push = B @ ALWAYS
    return matrix, (push + GAMMA * matrix @ push) / (1 - GAMMA)


def worth(state: np.ndarray) -> np.ndarray:
    """V [N, G] of states [N, 2]."""
    matrix, offset = later()
    return (state @ matrix.T + offset) @ PAYS.T


def values(state: np.ndarray, action: np.ndarray) -> np.ndarray:
    """Q [N, G] of states [N, 2] and actions [N, 2]."""
    after = state @ A.T + action @ B.T
    return after @ PAYS.T + GAMMA * worth(after)


def linear_network(weight: np.ndarray, bias: np.ndarray) -> dict[str, np.ndarray]:
    """A perceptron of relu that gives weight [O, I] times what is read, plus bias [O]."""
    inputs = weight.shape[1]
    return {
        "layer0.weight": np.hstack([np.eye(inputs), -np.eye(inputs)]),
        "layer0.bias": np.zeros(2 * inputs),
        "output.weight": np.vstack([weight.T, -weight.T]),
        "output.bias": bias,
    }


def weights(order: tuple[int, int] = (0, 1), apart: float = 0.0) -> dict[str, np.ndarray]:
    """Both critics, `apart` above and below, with components of an action in another order; an actor that stands."""
    at_zero = values(np.zeros((1, 2)), ALWAYS[None])[0]
    by_state = (values(np.eye(2), np.tile(ALWAYS, (2, 1))) - at_zero).T  # [G, 2]
    by_action = (values(np.zeros((2, 2)), ALWAYS + np.eye(2) * (HIGH - LOW) / 2) - at_zero).T
    read = np.hstack([by_state, by_action[:, list(order)]])
    named: dict[str, np.ndarray] = {}
    for place, shift in enumerate((apart, -apart)):
        named |= {f"critic{place}.{name}": each for name, each in linear_network(read, at_zero + shift).items()}
    still = linear_network(np.zeros((4, 2)), np.zeros(4))  # two goals of two components
    return named | {f"actor.{name}": each for name, each in still.items()}
