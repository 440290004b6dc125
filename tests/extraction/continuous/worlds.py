"""Small continuous worlds whose agents have values in closed form.

Every agent acts uniformly, so its values are sums over where the actions can lead: positions that many sequences of
actions share are counted once. Sums run until what is left is worth less than 1e-3.

Shapes: N states, d variables, G goals, A actions, P places.
"""

from __future__ import annotations

import itertools
from collections import Counter

import jax
import jax.numpy as jnp
import numpy as np

from tests.environments import function_view
from wmlab.core.continuous.view import ContinuousView, Frame

PUSH, TIME = np.array([-1.0, 0.0, 1.0]), 0.25  # forces, and seconds in a step
DRIFT, GUST = np.array([0.1, -0.05]), np.array([0.25, 0.15])  # of the windy world: mean and deviation of a step


def gaussian_goals(params, state):
    """exp(-|s' - g|² / 2σ²), and no end."""
    gap = (state[:, None] - params["goals"]) / params["sigma"]
    return jnp.exp(-0.5 * (gap**2).sum(-1)), jnp.ones((state.shape[0], params["goals"].shape[0]))


def uniform(params, key, count):
    return params["frame"].uniform(key, count)


def lattice(steps: int) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """After t steps under uniform actions: (sum of pushes, sum of pushes times steps since) [P, 2], chances [P]."""
    places: Counter = Counter({(0.0, 0.0): 1.0})
    found = {0: (np.zeros((1, 2)), np.ones(1))}
    for step in range(1, steps):
        moved: Counter = Counter()
        for ((speed, place), chance), push in itertools.product(places.items(), PUSH):
            moved[(speed + push, place + speed + push)] += chance / len(PUSH)
        places = moved
        found[step] = (np.array(list(places)), np.array(list(places.values())))
    return found


# --- the double integrator: velocity += push * TIME, then position += velocity * TIME ------------------------------


def integrate(state, action):
    velocity = state[..., 1] + TIME * jnp.asarray(PUSH)[action]
    return jnp.stack([state[..., 0] + TIME * velocity, velocity], axis=-1)


def integrator_values(params, state):
    after = integrate(state[:, None], jnp.arange(len(PUSH))[None])[:, None, :, None]  # [N, 1, A, 1, d]
    goals, spread = params["goals"][:, None, None], params["spread"]  # [G, 1, 1, d], [P, d]
    velocity = after[..., 1] + spread[:, 0] - goals[..., 1]  # [N, G, A, P]
    position = after[..., 0] + TIME * params["elapsed"] * after[..., 1] + spread[:, 1] - goals[..., 0]
    return jnp.exp((velocity**2 + position**2) * (-0.5 / params["sigma"] ** 2)) @ params["chance"]  # [N, G, A]


def integrator(discount: float = 0.1, steps: int = 4, sigma: float = 1.0, goals: int = 6) -> ContinuousView:
    """An agent with Gaussian goals in a double integrator, and its exact values."""
    parts = lattice(steps).items()
    spread = np.concatenate([places * [TIME, TIME**2] for _, (places, _) in parts])
    chance = np.concatenate([discount**step * chances for step, (_, chances) in parts])
    elapsed = np.concatenate([np.full(len(chances), step) for step, (_, chances) in parts])
    frame = Frame(jnp.array([[-2.0, 2.0], [-1.0, 1.0]]), ("open", "open"), ("position", "velocity"))
    params = {
        "goals": frame.low + frame.span * jnp.asarray(np.random.default_rng(0).random((goals, 2))),
        "sigma": jnp.float32(sigma),
        "spread": jnp.asarray(spread, jnp.float32),
        "chance": jnp.asarray(chance, jnp.float32),
        "elapsed": jnp.asarray(elapsed, jnp.float32),
        "frame": frame,
    }
    return function_view(
        params, jnp.float32(discount), frame, integrator_values, gaussian_goals, uniform, 3, goals, "uniform"
    )


# --- the windy plane: a push along x, a steady drift, and a gust that is normal ------------------------------------


def windy_mean(state, action):
    push = jnp.asarray(PUSH)[action]
    return state + jnp.asarray(DRIFT) + 0.4 * jnp.stack([push, jnp.zeros_like(push)], -1)


def windy_values(params, state):
    mean = windy_mean(state[:, None], jnp.arange(len(PUSH))[None])[:, None, :, None]  # [N, 1, A, 1, d]
    variance = params["sigma"] ** 2 + params["variance"]  # [P, d]
    # goals are a product of places along each axis, and so is what they pay
    across, along = (
        jnp.sqrt(params["sigma"] ** 2 / variance[:, axis])
        * jnp.exp(-0.5 * (mean[..., axis] + params["spread"][:, axis] - place[:, None, None]) ** 2 / variance[:, axis])
        for axis, place in ((0, params["axis"]), (1, params["axis"]))
    )  # [N, side, A, P]
    found = jnp.einsum("nxap,nyap,p->nxya", across, along, params["chance"])
    return found.reshape(state.shape[0], -1, len(PUSH))  # [N, G, A]


def windy(discount: float = 0.1, steps: int = 4, sigma: float = 0.6, side: int = 4) -> ContinuousView:
    """An agent with Gaussian goals on a windy plane, and its exact values."""
    spread, chance, variance = [], [], []
    for step in range(steps):
        sums = Counter(sum(pushes) for pushes in itertools.product(PUSH, repeat=step))
        spread += [step * DRIFT + 0.4 * np.array([total, 0.0]) for total in sums]
        chance += [discount**step * count / len(PUSH) ** step for count in sums.values()]
        variance += [(step + 1) * GUST**2] * len(sums)
    axis = np.linspace(-1.5, 1.5, side)
    frame = Frame(jnp.array([[-1.0, 1.0], [-1.0, 1.0]]), ("open", "open"))
    params = {
        "goals": jnp.asarray(list(itertools.product(axis, axis)), jnp.float32),
        "axis": jnp.asarray(axis, jnp.float32),
        "sigma": jnp.float32(sigma),
        "spread": jnp.asarray(np.array(spread), jnp.float32),
        "chance": jnp.asarray(chance, jnp.float32),
        "variance": jnp.asarray(np.array(variance), jnp.float32),
        "frame": frame,
    }
    return function_view(
        params, jnp.float32(discount), frame, windy_values, gaussian_goals, uniform, 3, side**2, "uniform"
    )


# --- how far a model is from the truth -----------------------------------------------------------------------------


def delta_nmse(predict, truth, states) -> np.ndarray:
    """Squared error of the displacement over its mean square, [d]; nothing moves: 1."""
    state, action = jnp.repeat(states, 3, axis=0), jnp.tile(jnp.arange(3), states.shape[0])
    found, true = jax.jit(predict)(state, action) - state, truth(state, action) - state
    return np.asarray(((found - true) ** 2).mean(0) / (true**2).mean(0))
