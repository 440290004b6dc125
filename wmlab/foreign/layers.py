"""Tensors as layers in a row: a perceptron, as far as names and shapes tell.

Shapes: I inputs, W units, O outputs.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from wmlab.foreign.array_file import natural
from wmlab.foreign.tensors import StateDict
from wmlab.limits import listed, shorten
from wmlab.spec.check.array_headers import Unreadable

Place = Literal["before", "after"]
WEIGHTS, BIASES = ("weight", "kernel"), ("bias",)
AVERAGES = ("running_mean", "running_var", "num_batches_tracked", "mean", "var")
EPSILON = {"torch": 1e-5, "flax": 1e-6}


@dataclass(frozen=True, eq=False)
class Layer:
    """A linear layer, and the layer normalisation behind it."""

    weight: np.ndarray  # [I, W]
    bias: np.ndarray  # [W]
    scale: np.ndarray | None = None  # [W]
    shift: np.ndarray | None = None  # [W]

    @property
    def inputs(self) -> int:
        return int(self.weight.shape[0])

    @property
    def outputs(self) -> int:
        return int(self.weight.shape[1])


@dataclass(frozen=True, eq=False)
class Perceptron:
    """Hidden layers of one activation, then a linear layer; float64."""

    hidden: tuple[Layer, ...]
    output: Layer
    epsilon: float
    norm_place: Place | None = None  # of the normalisation, against the activation; None: the file does not tell

    @property
    def inputs(self) -> int:
        return (*self.hidden, self.output)[0].inputs

    @property
    def widths(self) -> tuple[int, ...]:
        return tuple(layer.outputs for layer in self.hidden)

    @property
    def normed(self) -> bool:
        return any(layer.scale is not None for layer in self.hidden)

    def tensors(self) -> dict[str, np.ndarray]:
        """Our own names for its weights, float32, [inputs, outputs] each."""
        named: dict[str, np.ndarray] = {}
        for place, layer in enumerate((*self.hidden, self.output)):
            name = f"layer{place}" if place < len(self.hidden) else "output"
            parts = {"weight": layer.weight, "bias": layer.bias, "scale": layer.scale, "shift": layer.shift}
            named |= {f"{name}.{part}": array for part, array in parts.items() if array is not None}
        return {name: np.ascontiguousarray(array, np.float32) for name, array in named.items()}


@dataclass(frozen=True, eq=False)
class Part:
    """The tensors that have one stem: those of one layer."""

    stem: str
    tensors: Mapping[str, tuple[int, ...]]  # last word: shape

    @property
    def linear(self) -> bool:
        return any(len(self.tensors.get(word, ())) == 2 for word in WEIGHTS)

    @property
    def norm(self) -> bool:
        return not self.linear and any(len(self.tensors.get(word, ())) == 1 for word in ("weight", "scale"))

    @property
    def number(self) -> int | None:
        """Its place in a torch.nn.Sequential, where it has one."""
        last = self.stem.rpartition(".")[2]
        return int(last) if re.fullmatch(r"\d{1,6}", last) else None


def parts_of(state: StateDict) -> list[Part]:
    """Tensors by their stems, in the file's order; what is no layer of a perceptron is refused by its name."""
    stems: dict[str, dict[str, tuple[int, ...]]] = {}
    for name, tensor in state.tensors.items():
        stem, _, last = name.rpartition(".")
        stems.setdefault(stem, {})[last] = tensor.shape
    parts = [Part(stem, tensors) for stem, tensors in stems.items()]
    for part in parts:
        require_known(part)
    return parts


def require_known(part: Part) -> None:
    name = shorten(part.stem)
    axes = max((len(shape) for shape in part.tensors.values()), default=0)
    if axes > 2:
        what = "a convolution, or several networks in one array" if axes == 3 else "a convolution"
        raise Unreadable(f"'{name}' has {axes} axes: it is {what}, and no layer of a perceptron")
    if any(word in AVERAGES for word in part.tensors):
        raise Unreadable(f"'{name}' is a batch normalisation; fold its averages into the layer before it")
    if any(word.startswith(("weight_ih", "weight_hh")) for word in part.tensors):
        raise Unreadable(f"'{name}' is recurrent: it remembers, and a perceptron does not")
    if not part.linear and not part.norm:
        names = listed(f"{part.stem}.{word}".lstrip(".") for word in part.tensors)
        raise Unreadable(
            f"'{names}' belongs to no layer of a perceptron; --network PREFIX says which tensors are meant"
        )


def chained(state: StateDict, parts: Sequence[Part]) -> Perceptron:
    """The layers in the order in which they follow each other: as the file has them, or by their names."""
    by_name = sorted(parts, key=lambda part: natural(part.stem))
    for order in (list(parts), by_name):
        layers = list(in_a_row(state, order))
        if all(one.outputs == two.inputs for one, two in zip(layers, layers[1:], strict=False)):
            break
    else:
        shown = listed(f"{part.stem} {shapes(part)}" for part in parts)
        raise Unreadable(f"its layers do not follow each other: {shown}; --network PREFIX says which of them are meant")
    if not layers:
        raise Unreadable("it holds no layer of a perceptron")
    *hidden, output = layers
    if output.scale is not None:
        raise Unreadable("its outputs are normalised, which a perceptron's are not")
    normed = [layer.scale is not None for layer in hidden]
    if any(normed) and not all(normed):
        raise Unreadable("some of its hidden layers are normalised and others are not")
    return Perceptron(tuple(hidden), output, EPSILON[state.library], place_of_norms(order))


def shapes(part: Part) -> str:
    return " and ".join(str(list(shape)) for shape in part.tensors.values())


def in_a_row(state: StateDict, parts: Sequence[Part]) -> Iterator[Layer]:
    """Each linear layer, with the normalisation that stands behind it."""
    norms = norms_of(parts)
    for part in (part for part in parts if part.linear):
        layer = linear_layer(state, part)
        norm = norms.get(part.stem)
        if norm is not None:
            arrays = {word: state.tensors[f"{norm.stem}.{word}".lstrip(".")].numbers() for word in norm.tensors}
            scale = arrays.get("weight", arrays.get("scale"))
            assert scale is not None
            if scale.shape != (layer.outputs,):
                message = f"'{shorten(norm.stem)}' normalises {len(scale)} numbers, and the layer before it has"
                raise Unreadable(f"{message} {layer.outputs}")
            layer = dataclasses.replace(layer, scale=scale, shift=arrays.get("bias", np.zeros_like(scale)))
        yield layer


def linear_layer(state: StateDict, part: Part) -> Layer:
    arrays = {word: state.tensors[f"{part.stem}.{word}".lstrip(".")].numbers() for word in part.tensors}
    turned = "weight" in arrays
    weight = arrays["weight"].T if turned else arrays["kernel"]
    bias = arrays.get("bias", np.zeros(weight.shape[1]))
    if bias.shape != weight.shape[1:] or len(arrays) > 2:
        raise Unreadable(f"'{shorten(part.stem)}' is no linear layer: it holds {listed(part.tensors)}")
    bad = next((word for word, array in arrays.items() if not np.isfinite(array).all()), None)
    if bad is not None:
        raise Unreadable(f"'{shorten(part.stem)}.{bad}' holds numbers that are not finite")
    return Layer(weight, bias)


def norms_of(parts: Sequence[Part]) -> dict[str, Part]:
    """Linear layer: the normalisation behind it, which comes next in the file, or is counted by itself."""
    linear, norms = [part for part in parts if part.linear], [part for part in parts if part.norm]
    following = {one.stem: two for one, two in zip(parts, parts[1:], strict=False) if one.linear and two.norm}
    if len(following) == len(norms):
        return following
    if len(norms) != len(linear) - 1:
        names = listed(part.stem for part in norms)
        raise Unreadable(f"{len(norms)} normalisations ({names}) of {len(linear) - 1} hidden layers: which is whose?")
    return {part.stem: norm for part, norm in zip(linear, norms, strict=False)}


def place_of_norms(parts: Sequence[Part]) -> Place | None:
    """Whether normalisations stand before the activations: in a Sequential the numbers tell, where there is one."""
    gaps = set()
    for one, two in zip(parts, parts[1:], strict=False):
        if two.norm:
            if one.number is None or two.number is None:
                return None
            gaps.add(two.number - one.number)
    return {frozenset({1}): "before", frozenset({2}): "after"}.get(frozenset(gaps))  # type: ignore[return-value]
