"""What is linear at either end of a network, taken into its first or its last layer: exactly the same values.

Shapes: I inputs, W units, A actions, N quantiles.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from wmlab.foreign.layers import Layer, Perceptron
from wmlab.spec.check.array_headers import Unreadable


def mean_of_quantiles(network: Perceptron, quantiles: int) -> Perceptron:
    """Values from quantiles of returns, which are outputs quantile by quantile: their mean."""
    last = network.output
    if last.outputs % quantiles:
        raise Unreadable(f"{last.outputs} outputs are not {quantiles} quantiles of each action")
    weight = last.weight.reshape(last.inputs, quantiles, -1).mean(axis=1)  # [W, A]
    return dataclasses.replace(network, output=Layer(weight, last.bias.reshape(quantiles, -1).mean(axis=0)))


def duelling(trunk: Sequence[Layer], value: Perceptron, advantage: Perceptron, activation: str) -> Perceptron:
    """V + A - mean A as one perceptron: the two streams stand side by side, and the last layer puts them together."""
    if value.output.outputs != 1:
        raise Unreadable(f"the stream of values has {value.output.outputs} outputs, and a duelling network's has one")
    if value.normed or advantage.normed:
        raise Unreadable("its streams are normalised by themselves, which one perceptron of both cannot be")
    depth = max(len(value.hidden), len(advantage.hidden))
    streams = [lengthened(stream, depth, activation, bool(trunk)) for stream in (value, advantage)]
    hidden = list(trunk)
    for place in range(depth):
        first, second = (stream[place] for stream in streams)
        weight = np.hstack([first.weight, second.weight]) if place == 0 else apart(first.weight, second.weight)
        hidden.append(Layer(weight, np.concatenate([first.bias, second.bias])))
    worth, each = value.output, advantage.output
    gain, offset = each.weight - each.weight.mean(axis=1, keepdims=True), each.bias - each.bias.mean()
    spread = np.repeat(worth.weight, each.outputs, axis=1)
    weight = np.vstack([spread, gain]) if depth else spread + gain  # [W, A], of both streams' units
    return dataclasses.replace(advantage, hidden=tuple(hidden), output=Layer(weight, worth.bias + offset))


def lengthened(stream: Perceptron, depth: int, activation: str, has_trunk: bool) -> list[Layer]:
    """The hidden layers of a stream, with as many that pass numbers on as it is shorter than the other."""
    missing = depth - len(stream.hidden)
    if missing and (activation != "relu" or not (stream.hidden or has_trunk)):
        raise Unreadable("its two streams are of different depth, which side by side only relu can pass on")
    width = stream.output.inputs
    return [*stream.hidden, *[Layer(np.eye(width), np.zeros(width))] * missing]


def apart(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Two weights [W, W] side by side, with zeros between them."""
    upper = np.hstack([first, np.zeros((first.shape[0], second.shape[1]))])
    lower = np.hstack([np.zeros((second.shape[0], first.shape[1])), second])
    return np.vstack([upper, lower])


def normalised(network: Perceptron, mean: np.ndarray, deviation: np.ndarray) -> Perceptron:
    """The network that reads raw numbers, of one that reads (number - mean) / deviation, each [I]."""
    first = (*network.hidden, network.output)[0]
    if len(mean) != first.inputs or len(deviation) != first.inputs:
        raise Unreadable(f"averages of {len(mean)} numbers, and the network reads {first.inputs}")
    weight = first.weight / deviation[:, None]
    changed = dataclasses.replace(first, weight=weight, bias=first.bias - mean @ weight)
    if not network.hidden:
        return dataclasses.replace(network, output=changed)
    return dataclasses.replace(network, hidden=(changed, *network.hidden[1:]))


def scaled(network: Perceptron, reward_scale: float) -> Perceptron:
    """The network in the units of the reward, of one that was trained on the reward times `reward_scale`."""
    last = network.output
    return dataclasses.replace(network, output=Layer(last.weight / reward_scale, last.bias / reward_scale))
