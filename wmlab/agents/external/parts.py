"""The networks of an agent from elsewhere: its Q, and where actions are from a box its actor and its V.

Shapes: A actions, k components of an action.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

from wmlab.agents.external.options import ExternalNetwork, Options
from wmlab.core.continuous.space import ContinuousSpace
from wmlab.core.finite.space import FiniteSpace


@dataclass(frozen=True)
class Part:
    """One network, or several of one form."""

    name: str  # q, actor, v: where the spec says it, below `agent`
    network: ExternalNetwork
    file: str
    outputs: int  # for each goal
    prefixes: tuple[str, ...] = ("",)  # of the names of tensors, one for each network

    def tensor_names(self) -> list[str]:
        """Every tensor, under our own names."""
        return [f"{prefix}{name}" for prefix in self.prefixes for name in own_names(self.network)]


def parts_of(options: Options, space: FiniteSpace | ContinuousSpace) -> Iterator[Part]:
    """The networks that a spec names."""
    q, actor, v = options.q, options.actor, options.v
    box = isinstance(space, ContinuousSpace) and space.in_box
    if q.network is not None:
        prefixes = ("",) if q.critics is None else tuple(f"critic{place}." for place in range(q.critics.count))
        yield Part("q", q.network, q.file, 1 if box else len(space.actions), prefixes)
    if actor is not None and isinstance(space, ContinuousSpace) and q.network is not None:
        prefixes = ("actor.", "actor_deviation.") if actor.deviation else ("actor.",)
        yield Part("actor", actor_network(options), actor.file or q.file, len(space.controls), prefixes)
    if v is not None:
        yield Part("v", v.network, v.file or q.file, 1, ("value.",))


def actor_network(options: Options) -> ExternalNetwork:
    """The network of an actor: its own, or one as the critic's that does not read an action."""
    assert options.actor is not None and options.q.network is not None
    if options.actor.network is not None:
        return options.actor.network
    critic = options.q.network
    inputs = tuple(word for word in critic.inputs if word != "action")
    return dataclasses.replace(critic, inputs=inputs, output="linear", tensors=None)


def own_names(network: ExternalNetwork) -> list[str]:
    """Every tensor of a network."""
    parts = ("weight", "bias", *(("scale", "shift") if network.norm == "layer" else ()))
    layers = [f"layer{layer}.{part}" for layer in range(network.depth) for part in parts]
    return [*layers, "output.weight", "output.bias"]
