"""Bellman's equation in a finite model, for many rows at once, in JAX.

A row is one reward function with its continue flags and its discount: Q = P (r + gamma D V).

Shapes: R rows, S states, A actions, K successors.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array, lax
from jax.scipy.sparse.linalg import bicgstab

TIES = 1e-12  # actions whose values differ by less, relative to the larger one, are equally good
RESIDUAL = 1e-12  # of the iteration, relative to the largest value
PATIENCE = 20  # policy improvements before a gain within rounding is enough to stop


class KernelLists(NamedTuple):
    """A kernel as lists of successors; the first of them all, then the second: three times faster on a CPU."""

    successors: Array  # int32 [K, S, A]
    probabilities: Array  # [K, S, A]


class Rows(NamedTuple):
    """What is asked of a model."""

    reward: Array  # [R, S]  r(s')
    continues: Array  # [R, S]  D(s')
    discount: Array  # [R]

    def backup(self, value: Array) -> Array:
        """M = r + gamma D V, [R, S]."""
        return self.reward + self.discount[:, None] * self.continues * value


def expect(model: KernelLists, values: Array) -> Array:
    """The mean of values [R, S] after each state and action: [R, S, A]."""
    successors, probabilities = model
    nothing = jnp.zeros((values.shape[0], *successors.shape[1:]), values.dtype)
    return lax.fori_loop(
        0, successors.shape[0], lambda k, sofar: sofar + values[:, successors[k]] * probabilities[k], nothing
    )


def greedy(q: Array) -> Array:
    """The best action as one-hot [R, S, A]; of equally good ones, the first."""
    best = q.max(axis=-1, keepdims=True)
    scale = jnp.abs(q).max(axis=(1, 2), keepdims=True)
    good = q >= best - TIES * jnp.maximum(jnp.abs(best), 1e-3 * scale)
    first = jnp.argmax(good, axis=-1, keepdims=True)
    return (jnp.arange(q.shape[-1]) == first).astype(q.dtype)


def solve(model: KernelLists, rows: Rows, policy: Array, bonus: Array, guess: Array) -> Array:
    """V [R, S] of a policy [R, S, A] that also earns `bonus` [R, S] for being in a state.

    Sweeps, which always converge, and a Krylov step between them wherever that takes the residual down.
    """

    def operate(value: Array) -> Array:
        return (policy * expect(model, value)).sum(axis=-1)

    wanted = operate(rows.reward) + bonus

    def sweep(value: Array) -> Array:
        return wanted + operate(rows.discount[:, None] * rows.continues * value)

    def error(value: Array) -> Array:  # [R]
        return jnp.abs(sweep(value) - value).max(axis=-1)

    def improve(state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        value, _, count = state
        value = lax.fori_loop(0, 50, lambda _, v: sweep(v), value)
        leap, _ = bicgstab(
            lambda v: v - operate(rows.discount[:, None] * rows.continues * v), wanted, x0=value, tol=1e-14, maxiter=40
        )
        better = jnp.isfinite(leap).all(axis=-1) & (error(leap) < error(value))
        value = jnp.where(better[:, None], leap, value)
        return value, error(value), count + 1

    def unfinished(state: tuple[Array, Array, Array]) -> Array:
        value, left, count = state
        scale = jnp.maximum(jnp.abs(value).max(axis=-1), 1e-300)
        return (count < 2_000) & (left > RESIDUAL * scale).any()

    return lax.while_loop(unfinished, improve, (guess, error(guess), jnp.asarray(0)))[0]


def evaluate(model: KernelLists, rows: Rows, policy: Array) -> Array:
    """Q of a policy, [R, S, A]."""
    nothing = jnp.zeros_like(rows.reward)
    return expect(model, rows.backup(solve(model, rows, policy, nothing, nothing)))


def optimise(model: KernelLists, rows: Rows, sweeps: int) -> tuple[Array, Array]:
    """The best policy and its Q, both [R, S, A]: value iteration to come near, policy iteration to arrive."""
    nothing = jnp.zeros_like(rows.reward)
    start = lax.fori_loop(0, sweeps, lambda _, v: expect(model, rows.backup(v)).max(axis=-1), nothing)

    def improve(state: tuple[Array, Array, Array, Array]) -> tuple[Array, Array, Array, Array]:
        q, policy, _, count = state
        better = greedy(q)
        value = solve(model, rows, better, nothing, (better * q).sum(axis=-1))
        improved = expect(model, rows.backup(value))
        gain = (improved.max(axis=-1) - value).max()
        # Where iteration leaves noise above the tie rule, equal actions may swap for ever: stop once nothing is gained.
        idle = (count >= PATIENCE) & (gain <= 10 * RESIDUAL * jnp.abs(improved).max())
        return improved, better, (better == policy).all() | idle, count + 1

    def unfinished(state: tuple[Array, Array, Array, Array]) -> Array:
        _, _, settled, count = state
        return ~settled & (count < 500)

    q = expect(model, rows.backup(start))
    first = (q, jnp.zeros_like(q), jnp.asarray(False), jnp.asarray(0))
    q, policy, _, _ = lax.while_loop(unfinished, improve, first)
    return policy, q


def soften(model: KernelLists, rows: Rows, temperature: Array) -> tuple[Array, Array]:
    """The entropy-regularised optimum at temperatures [R], and the plain Q of it (not the soft one), both [R, S, A]."""
    nothing = jnp.zeros_like(rows.reward)

    def soft_policy(q: Array) -> Array:
        weights = jnp.exp((q - q.max(axis=-1, keepdims=True)) / temperature[:, None, None])
        return weights / weights.sum(axis=-1, keepdims=True)

    def improve(state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        q, _, count = state
        policy = soft_policy(q)
        entropy = -(policy * jnp.log(jnp.maximum(policy, 1e-300))).sum(axis=-1)
        value = solve(model, rows, policy, temperature[:, None] * entropy, (policy * q).sum(axis=-1))
        better = expect(model, rows.backup(value))
        change = jnp.abs(better - q).max() / jnp.maximum(jnp.abs(better).max(), 1e-300)
        return better, change, count + 1

    def unfinished(state: tuple[Array, Array, Array]) -> Array:
        _, change, count = state
        return (change > 1e-13) & (count < 200)

    q = lax.while_loop(unfinished, improve, (expect(model, rows.reward), jnp.asarray(jnp.inf), jnp.asarray(0)))[0]
    policy = soft_policy(q)
    return policy, expect(model, rows.backup(solve(model, rows, policy, nothing, nothing)))
