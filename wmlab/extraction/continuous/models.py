"""World models: s + h(s, a), with the change h from a network or on a grid.

Shapes: N states, d variables, A actions, m points of a grid along each variable.
"""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any, Literal

import jax
import jax.numpy as jnp
from jax import Array

from wmlab.core.continuous.dynamics import Chance, Dynamics
from wmlab.core.continuous.ensemble import Ensemble
from wmlab.core.continuous.view import ActionBox, Frame
from wmlab.core.perceptron import Weights, forward, hidden_weights, orthogonal_weights
from wmlab.core.programs import pytree, static
from wmlab.extraction.continuous.options import Model

LOG_SD = (-12.0, 1.0)  # standard deviations stay within e^-12 and e times a range: no weight can make them 0


@pytree
class NeuralModel(Dynamics):
    """A world model: weights by name, and how they are read."""

    weights: Weights
    frame: Frame
    actions: int = static()  # A; of a box, k
    options: Model = static()
    box: ActionBox | None = None  # where actions are from one
    rates: tuple[tuple[int, int], ...] = static(default=())  # columns: a variable, and the one that is its rate

    @classmethod
    def of(
        cls, weights: Weights, frame: Frame, actions: int, options: Model, box: ActionBox | None = None
    ) -> NeuralModel:
        """A model by its weights and options."""
        column = frame.names.index
        assert isinstance(options.rates, dict)  # those that are to be found were found before there is a model
        rates = tuple((column(name), column(rate)) for name, rate in options.rates.items())
        return cls(weights, frame, actions, options, box, rates)

    @property
    def stochastic(self) -> bool:
        return self.options.family == "gaussian"

    @property
    def chances(self) -> tuple[Chance, ...]:
        return (Chance(),) * self.frame.size if self.stochastic else ()

    def step(self, states: Array, actions: Array, noise: Array) -> Array:
        mean, sd = self.moments(states, actions)
        return self.settle(mean if sd is None else mean + sd * noise)

    def predict(self, state: Array, action: Array) -> Array:
        """The next states [N, d] of states [N, d] and actions; the mean ones where the model is stochastic."""
        return self.settle(self.moments(state, action)[0])

    def sample(self, key: Array, state: Array, action: Array) -> Array:
        """Next states drawn from the model, [N, d]; gradients pass through the draws."""
        return self.samples(key, state, action, 1)[0]

    def samples(self, key: Array, state: Array, action: Array, count: int) -> Array:
        """So many next states of each, [count, N, d]: the network is asked once."""
        mean, sd = self.moments(state, action)
        noise = 0.0 if sd is None else sd * jax.random.normal(key, (count, *mean.shape))
        return self.settle(jnp.broadcast_to(mean + noise, (count, *mean.shape)))

    def moments(self, state: Array, action: Array) -> tuple[Array, Array | None]:
        """Mean and standard deviation [N, d] of the next state before it is wrapped; None where it is certain."""
        change = _change(self.weights, self.options, self.frame, state, self._read(action, state.dtype))
        unit = self.frame.span if self.options.scale == "range" else 1.0
        if not self.stochastic:
            return self._driven(state, state + unit * change), None
        change, log_sd = jnp.split(change, 2, axis=-1)
        log_sd = jnp.clip(log_sd + jnp.log(self.options.init_sd), *LOG_SD)
        return state + unit * change, self.frame.span * jnp.exp(log_sd)

    def _driven(self, state: Array, after: Array) -> Array:
        """Next states [N, d], in which each variable with a rate has moved by a number times what that is next.

        A rate is next what `settle` makes of it: it drives as it arrives.
        """
        unit = self.frame.span if self.options.scale == "range" else jnp.ones(self.frame.size)
        for weight, (column, rate) in zip(self.weights.get("rate.weight", ()), self.rates, strict=True):
            arriving = after if self.frame.edges[rate] == "open" else self.settle(after)
            moved = state[:, column] + weight * unit[column] / unit[rate] * arriving[:, rate]
            after = after.at[:, column].set(moved)
        return after

    def _read(self, action: Array, dtype: Any) -> Array:
        """Actions as the network reads them: one of A as 0 and 1, or k components of one from a box in [-1, 1]."""
        if self.box is not None:
            return self.box.scaled(action)
        return jax.nn.one_hot(action, self.actions, dtype=dtype)  # a product: gathers are slow on CPUs

    def settle(self, state: Array) -> Array:
        """A raw prediction as a state: wrapped, and held at the bounds if the options say so."""
        return self.frame.confine(state) if self.options.bounded else self.frame.wrap(state)


def fresh(key: Array, frame: Frame, actions: int, options: Model, box: ActionBox | None = None) -> NeuralModel:
    """A model before it is fitted: next to nothing moves in it."""
    actions = actions if box is None else box.size
    weights = _fresh_weights(key, frame, actions, options)
    if options.rates:
        weights["rate.weight"] = jnp.zeros(len(options.rates))
    return NeuralModel.of(weights, frame, actions, options, box)


@partial(jax.jit, static_argnums=(2, 3))
def _fresh_weights(key: Array, frame: Frame, actions: int, options: Model) -> Weights:
    read, outputs = frame.width(options.encoding), frame.size
    if options.family == "affine":
        return last_layer(key, read + actions, outputs, options)
    if options.family == "additive":
        return first_weights(key, read, outputs, options) | {"action.weight": jnp.zeros((actions, outputs))}
    return first_weights(key, read + actions, outputs * (2 if options.family == "gaussian" else 1), options)


def first_weights(key: Array, inputs: int, outputs: int, model: Model) -> Weights:
    """First weights: variance-preserving normals or orthogonal, the last layer `init_scale` as large, biases 0."""
    *hidden_keys, output_key = jax.random.split(key, model.depth + 1)
    gain = 1.0 if model.activation == "tanh" else 2.0
    weights: Weights = {"skip.weight": jnp.zeros((inputs, outputs))} if model.skip else {}
    weights |= hidden_weights(hidden_keys, inputs, model.width, model.norm == "layer", gain, model.init == "orthogonal")
    return weights | last_layer(output_key, model.width, outputs, model)


def last_layer(key: Array, inputs: int, outputs: int, model: Model) -> Weights:
    """The first weights of a last layer."""
    if model.init == "orthogonal":
        weight = orthogonal_weights(key, inputs, outputs, model.init_scale)
    else:
        weight = jax.random.normal(key, (inputs, outputs)) * (model.init_scale / jnp.sqrt(inputs))
    return {"output.weight": weight, "output.bias": jnp.zeros(outputs)}


def log_density(value: Array, mean: Array, sd: Array) -> Array:
    """The log-density [N] of unwrapped next states [N, d] under independent normals."""
    return (-0.5 * ((value - mean) / sd) ** 2 - jnp.log(sd) - 0.5 * jnp.log(2 * jnp.pi)).sum(axis=-1)


def _change(weights: Weights, options: Model, frame: Frame, state: Array, acted: Array) -> Array:
    """What states [N, d] change by under actions as they are read: one of A, or k components of one from a box."""
    encoded = frame.encode(state, options.encoding)
    if options.family == "additive":
        return _network(weights, options, encoded) + acted @ weights["action.weight"]
    inputs = jnp.concatenate([encoded, acted], axis=-1)
    if options.family == "affine":
        return inputs @ weights["output.weight"] + weights["output.bias"]
    return _network(weights, options, inputs)


def _network(weights: Weights, model: Model, inputs: Array) -> Array:
    """[N, inputs] -> [N, outputs]"""
    normalise = _normalise if model.norm == "layer" else None
    outputs = forward(weights, inputs @ weights["layer0.weight"], model.depth, model.activation, normalise)
    return outputs + inputs @ weights["skip.weight"] if model.skip else outputs


def _normalise(hidden: Array) -> Array:
    centred = hidden - hidden.mean(axis=-1, keepdims=True)
    return centred * jax.lax.rsqrt((centred * centred).mean(axis=-1, keepdims=True) + 1e-6)


# --- stored on a grid of states: the change of state at every point, and what lies between ---------------------------


@pytree
class GridModel(Dynamics):
    """Changes of state, in units of each variable's range, at the points of a regular grid."""

    weights: dict[str, Array]  # change [m^d, A, d]
    frame: Frame
    actions: int = static()  # A
    points: int = static()  # m
    between: Literal["linear", "nearest"] = static(default="linear")

    @property
    def stochastic(self) -> bool:
        return False

    @property
    def chances(self) -> tuple[Chance, ...]:
        return ()

    def step(self, states: Array, actions: Array, noise: Array) -> Array:
        return self.predict(states, actions)

    def predict(self, state: Array, action: Array) -> Array:
        """The next states [N, d] of states [N, d] and actions int [N]."""
        place = jnp.clip((self.frame.wrap(state) - self.frame.low) / self.frame.span, 0.0, 1.0) * (self.points - 1)
        if self.between == "nearest":
            change = self._at(jnp.round(place).astype(int), action)
        else:
            change = self._blend(place, action)
        return self.frame.confine(state + self.frame.span * change)

    def sample(self, key: Array, state: Array, action: Array) -> Array:
        """The same: nothing is left to chance."""
        return self.predict(state, action)

    def _blend(self, place: Array, action: Array) -> Array:
        """Multilinear interpolation between the corners of each cell."""
        base = jnp.clip(jnp.floor(place), 0, self.points - 2)
        part, base = place - base, base.astype(int)
        total = jnp.zeros_like(place)
        for corner in itertools.product((0, 1), repeat=self.frame.size):
            side = jnp.array(corner)
            weight = jnp.where(side == 1, part, 1 - part).prod(axis=-1, keepdims=True)
            total = total + weight * self._at(base + side, action)
        return total

    def _at(self, place: Array, action: Array) -> Array:
        powers = jnp.array([self.points**power for power in reversed(range(self.frame.size))])
        return self.weights["change"][(place * powers).sum(axis=-1), action]


def nodes(frame: Frame, points: int) -> Array:
    """The points of a regular grid over the ranges, [m^d, d], the last variable fastest."""
    axes = jnp.meshgrid(*[jnp.linspace(0.0, 1.0, points)] * frame.size, indexing="ij")
    return frame.low + frame.span * jnp.stack([axis.ravel() for axis in axes], axis=-1)


WorldModel = NeuralModel | GridModel | Ensemble
