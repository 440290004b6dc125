"""The size of a Bellman residual, its slope, and what has the right gradient when residuals are sampled."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array

from wmlab.extraction.continuous.options import Fit


def size(options: Fit, error: Array) -> Array:
    """The loss of each residual; l2 is half its square, as in the Bellman residual."""
    if options.loss == "l1":
        return jnp.abs(error)
    if options.loss == "l2":
        return 0.5 * error**2
    inside = jnp.minimum(jnp.abs(error), options.huber)
    return inside * (jnp.abs(error) - 0.5 * inside) / options.huber


def slope(options: Fit, error: Array) -> Array:
    """The derivative of `size`."""
    if options.loss == "l1":
        return jnp.sign(error)
    if options.loss == "l2":
        return error
    return jnp.clip(error / options.huber, -1.0, 1.0)


def paired(options: Fit, first: Array, second: Array) -> Array:
    """A surrogate whose gradient is the slope at one estimate of a residual times the gradient of the other.

    The two estimates are independent: with one of them in both places the gradient would also shrink the variance
    of the samples. For l2 its expectation is the gradient of half the squared mean residual.
    """
    held = jax.lax.stop_gradient
    return 0.5 * (held(slope(options, first)) * second + held(slope(options, second)) * first)
