"""An agent as a file gives it: its networks, and what is known of how they are to be read."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from wmlab.foreign.fold import duelling, mean_of_quantiles, normalised
from wmlab.foreign.layers import Part, Perceptron, Place, chained, parts_of
from wmlab.foreign.spaces import Box, Discrete, Other, Space
from wmlab.foreign.tensors import StateDict
from wmlab.limits import listed, shorten
from wmlab.spec.check.array_headers import Unreadable

# Words of names that tell the two streams of a duelling network, beside each other: value, advantage.
STREAMS = (
    (
        re.compile(r"val(ue)?(_\w+)?|\w+_val(ue)?|v_stream|fc_v\w*"),
        re.compile(r"adv(antage)?(_\w+)?|\w+_adv(antage)?|a_stream"),
    ),
    (re.compile("V"), re.compile("[AQ]")),
)
ASIDE = re.compile(r"\w*target\w*|optimi[sz]er\w*|opt_state|\w*_optim")  # no part of the network itself


@dataclass(frozen=True)
class Asked:
    """What the command line says beside the file."""

    network: str | None = None  # a prefix of names
    value: str | None = None  # prefixes of a duelling network's streams
    advantage: str | None = None
    quantiles: int | None = None
    activation: str | None = None
    norm_place: Place | None = None


@dataclass(frozen=True)
class Block:
    """One part of what a network reads, under its library's name."""

    name: str
    space: Box | Discrete | Other


@dataclass(frozen=True, eq=False)
class ForeignAgent:
    """An agent of another library."""

    source: str  # library, version and algorithm, for people
    kind: Literal["sb3", "torch", "flax"]
    networks: Mapping[str, Perceptron]  # q; or actor, critic0, critic1 …
    activation: str
    algorithm: str = ""
    discount: float | None = None
    reads: tuple[Block, ...] = ()  # in order; nothing where the file does not tell
    actions: Space | None = None
    hindsight: bool = False
    chance: Mapping[str, float | bool] = field(default_factory=dict)  # what a spec says of how an actor's actions vary
    remarks: tuple[str, ...] = ()  # what was assumed or left out

    @property
    def q(self) -> Perceptron | None:
        """The network of values, where actions are counted."""
        return self.networks.get("q")

    @property
    def critics(self) -> tuple[Perceptron, ...]:
        """The critics, where actions are from a box."""
        return tuple(network for name, network in self.networks.items() if re.fullmatch(r"critic\d+", name))

    @property
    def box(self) -> Box | None:
        """The box of actions that critics read; None where actions are counted."""
        return self.actions if self.critics and isinstance(self.actions, Box) else None


def plain_agent(state: StateDict, asked: Asked) -> ForeignAgent:
    """The agent of a file that holds tensors and says nothing else."""
    network, remarks = network_of(state, asked)
    activation = asked.activation or "relu"
    if asked.activation is None:
        remarks = (*remarks, "the file does not name the activation: relu is assumed (--activation says another)")
    name = "PyTorch" if state.library == "torch" else "Flax"
    return ForeignAgent(f"a network of {name}", state.library, {"q": network}, activation, remarks=remarks)


def network_of(state: StateDict, asked: Asked) -> tuple[Perceptron, tuple[str, ...]]:
    """The perceptron that tensors make, with quantiles and duelling streams taken in, and what is to be said of it."""
    state = chosen(state, asked.network)
    state, averages, remarks = without_input_norm(state)
    parts = parts_of(state)
    streams = streams_of(parts, asked)
    if streams is None:
        network = chained(state, parts)
    else:
        network = duelling_network(state, parts, streams, asked.activation or "relu")
        remarks += ("its duelling streams are one perceptron now: V + A - mean A",)
    if asked.quantiles is not None:
        network = mean_of_quantiles(network, asked.quantiles)
        remarks += (f"its values are the mean of {asked.quantiles} quantiles",)
    if averages is not None:
        network = normalised(network, *averages)
        remarks += ("the normalisation of its inputs is taken into the first layer",)
    if not network.hidden:
        raise Unreadable("it has no hidden layer; a network of wmlab has one or more")
    if network.normed:
        network, more = with_norm_place(network, asked.norm_place)
        remarks += more
    return network, remarks


def with_norm_place(network: Perceptron, asked: Place | None) -> tuple[Perceptron, tuple[str, ...]]:
    place = asked or network.norm_place or "before"
    assumed = asked is None and network.norm_place is None
    remark = "normalisation before each activation is assumed (--norm-place after says otherwise)"
    return dataclasses.replace(network, norm_place=place), (remark,) if assumed else ()


def chosen(state: StateDict, prefix: str | None) -> StateDict:
    """The tensors of the network that is meant: those with a prefix, or all but targets and optimisers."""
    if any(name.rpartition(".")[2] == "atoms" for name in state.tensors):
        raise Unreadable("its outputs are probabilities of atoms: their mean is not linear, and no perceptron gives it")
    if prefix is not None:
        kept = state.below(f"{prefix.rstrip('.')}.")
        if not kept.tensors:
            stems = dict.fromkeys(name.rpartition(".")[0] for name in state.tensors)
            raise Unreadable(f"no tensor's name begins with '{shorten(prefix)}.'; there are {listed(stems)}")
        return kept
    kept_names = {
        name: tensor
        for name, tensor in state.tensors.items()
        if not any(ASIDE.fullmatch(word) for word in name.split("."))
    }
    if not kept_names:
        raise Unreadable("it holds no tensors" if not state.tensors else "it holds a target network alone")
    return dataclasses.replace(state, tensors=kept_names)


Averages = tuple[np.ndarray, np.ndarray]  # mean and deviation [I]


def without_input_norm(state: StateDict) -> tuple[StateDict, Averages | None, tuple[str, ...]]:
    """A batch normalisation of the inputs, as Flax has it, taken off: its averages, where it does anything at all.

    purejaxql makes one in any case, and leaves it unused unless asked to: then its scale stays 1 and its shift 0.
    """
    stems = {name.rpartition(".")[0] for name in state.tensors}
    norms = [
        stem for stem in stems if re.fullmatch(r"BatchNorm_0", stem.rpartition(".")[2]) and "batch_stats" not in stem
    ]
    if state.library != "flax" or len(norms) != 1:
        return state, None, ()
    own = {word: state.tensors.get(f"{norms[0]}.{word}") for word in ("scale", "bias")}
    about = "batch_stats." + ".".join(word for word in norms[0].split(".") if word != "params")
    stats = {word: state.tensors.get(f"{about}.{word}") for word in ("mean", "var")}
    rest = {
        name: tensor for name, tensor in state.tensors.items() if not name.startswith((f"{norms[0]}.", f"{about}."))
    }
    kept = dataclasses.replace(state, tensors=rest)
    scale, shift = (None if each is None else each.numbers() for each in own.values())
    if (scale is None or np.all(scale == 1)) and (shift is None or np.all(shift == 0)):
        return kept, None, (f"'{norms[0]}' is left out: its scale is 1 and its shift 0, so it was never used",)
    mean, var = (None if each is None else each.numbers() for each in stats.values())
    if scale is None or shift is None or mean is None or var is None:
        raise Unreadable(f"'{norms[0]}' normalises the inputs, and the file lacks its averages (batch_stats)")
    deviation = np.sqrt(var + 1e-5) / scale  # of Flax: (x - mean) / sqrt(var + 1e-5) * scale + shift
    return kept, (mean - shift * deviation, deviation), ()


def streams_of(parts: Sequence[Part], asked: Asked) -> tuple[list[Part], list[Part]] | None:
    """The parts of a duelling network's streams, value and advantage; None where it has none."""
    if (asked.value is None) != (asked.advantage is None):
        raise Unreadable("a duelling network has two streams: say both --value and --advantage")
    if asked.value is not None and asked.advantage is not None:
        found = [
            [part for part in parts if f"{part.stem}.".startswith(f"{prefix.rstrip('.')}.")]
            for prefix in (asked.value, asked.advantage)
        ]
        for prefix, stream in zip((asked.value, asked.advantage), found, strict=True):
            if not stream:
                raise Unreadable(f"no layer begins with '{shorten(prefix)}'; there are {listed(p.stem for p in parts)}")
        return found[0], found[1]
    for patterns in STREAMS:
        found = [
            [part for part in parts if any(pattern.fullmatch(word) for word in part.stem.split("."))]
            for pattern in patterns
        ]
        if all(found):
            return found[0], found[1]
    return None


def duelling_network(
    state: StateDict, parts: Sequence[Part], streams: tuple[list[Part], list[Part]], activation: str
) -> Perceptron:
    """One perceptron of a trunk and two streams."""
    aside = {part.stem for stream in streams for part in stream}
    trunk = [part for part in parts if part.stem not in aside]
    whole = [chained(state, [*trunk, *stream]) for stream in streams]
    shared = sum(part.linear for part in trunk)
    value, advantage = (dataclasses.replace(each, hidden=each.hidden[shared:]) for each in whole)
    return duelling(whole[1].hidden[:shared], value, advantage, activation)
