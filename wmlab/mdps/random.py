"""Worlds drawn at random: dense, with few successors (garnets), or local.

Shapes: S states, A actions, K successors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from wmlab.core.finite.kernel import Kernel
from wmlab.core.finite.space import FiniteSpace
from wmlab.core.finite.world import FiniteWorld, reset_distribution
from wmlab.core.randomness import generator
from wmlab.registry import Finding, Scope, WorldTraits, mdps, option


@dataclass(frozen=True)
class Options:
    states: int = option(doc="How many states.", at_least=1, at_most=10_000)
    actions: int = option(doc="How many actions.", at_least=1, at_most=1_000)
    concentration: float = option(
        1.0, doc="Of the Dirichlet that rows are drawn from: small is nearly deterministic, 1 is uniform.", above=0
    )
    branching: int | None = option(
        None,
        doc="How many successors each state and action has, drawn at random; 1 is deterministic; null: all.",
        at_least=1,
    )
    local: int | None = option(
        None, doc="Successors are among this many states around the state, on a ring; null: anywhere.", at_least=1
    )
    horizon: int | None = option(None, doc="Steps until an episode is cut; null: never.", at_least=1)
    seed: int | None = option(None, doc="Seed of the world; null: each run draws its own.", at_least=0)


def check(options: Options, scope: Scope) -> Iterator[Finding]:
    if options.local is not None and options.local > options.states:
        yield Finding(("local",), f"{options.local} states around each, of {options.states}")
    candidates = min(options.local or options.states, options.states)
    if options.branching is not None and options.branching > candidates:
        yield Finding(("branching",), f"{options.branching} successors, of {candidates} that are possible")


def space(options: Options) -> FiniteSpace:
    """The states s0, s1, …"""
    return FiniteSpace.named(options.states, options.actions)


@mdps.register(
    "random",
    Options,
    WorldTraits(
        space=space,
        sort="finite",
        draws=lambda options: options.seed is None,
        max_successors=lambda options, where: options.branching or options.local or options.states,
        is_generic=lambda options: options.branching is None and options.local is None,
    ),
    check=check,
)
def random_world(options: Options, seed: int) -> FiniteWorld:
    """A world drawn at random, one for each run unless it has a seed of its own."""
    draw = generator(seed if options.seed is None else options.seed, "random world")
    where = space(options)
    size = (options.states, options.actions)
    candidates = options.local or options.states
    width = options.branching or candidates
    chosen = np.broadcast_to(np.arange(candidates), (*size, candidates))
    if width < candidates:
        chosen = np.argpartition(draw.random(chosen.shape), width - 1, axis=-1)[..., :width]
    if options.local is not None:
        around = np.arange(options.states)[:, None, None] - (options.local - 1) // 2
        chosen = (chosen + around) % options.states
    chances = draw.dirichlet(np.full(width, options.concentration), size=size)
    chances /= chances.sum(axis=-1, keepdims=True)  # a lone successor gets exactly 1
    return FiniteWorld(where, Kernel.merged(chosen, chances), reset_distribution("uniform", where), options.horizon)
