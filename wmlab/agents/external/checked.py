"""`agent.check`: when a spec is validated, as far as that is quick, and in any case when it runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping

import numpy as np

from wmlab.agents.external.box_probe import WiredCritic, box_probe_of, hold_box
from wmlab.agents.external.expect import Mismatch, part_shapes
from wmlab.agents.external.options import Check, ExternalNetwork, Options
from wmlab.agents.external.orders import hold, hold_table
from wmlab.agents.external.parts import actor_network, parts_of
from wmlab.agents.external.probe import Wired, goals_of, numbers, probe_of, rows_of
from wmlab.core.continuous.points import Points
from wmlab.core.continuous.space import ContinuousSpace
from wmlab.core.finite.space import FiniteSpace
from wmlab.registry import Finding, Scope

Arrays = Mapping[str, np.ndarray]


def check_values(options: Options, scope: Scope, points: Points) -> Iterator[Finding]:
    """Whether a network's values are those of its own library, where files are small enough to be read here."""
    check, network = options.check, options.q.network
    if check is not None and network is None:
        message = "values on a grid are as their library gave them: there is no network to hold against it"
        yield Finding(("check",), message, "leave it out", key=True)
    if check is None or network is None or scope.arrays is None:
        return
    try:
        probe = scope.arrays(check.file)
    except LookupError:
        return  # told where files are checked
    except ValueError as error:
        yield Finding(("check", "file"), f"{check.file}: {error}")
        return
    weights: dict[str, np.ndarray] = {}
    for part in parts_of(options, scope.space):
        try:
            held = scope.arrays(part.file)
        except (LookupError, ValueError):
            return  # told where that file is checked
        if held is None:
            return
        weights |= in_ours(held, part.network, part_shapes(part, scope.space, points))
    if probe is None or network.output == "bounded":  # whose ends are known when goals are made
        return
    try:
        hold_network(options, weights, scope.space, points, probe)
    except Mismatch as wrong:
        yield Finding(("check", *wrong.path), f"{check.file}: {wrong}", wrong.hint)


def in_ours(held: Arrays, network: ExternalNetwork, expected: Mapping[str, tuple[int, ...]]) -> dict[str, np.ndarray]:
    """Weights under our own names, [inputs, outputs] each; their shapes were checked before."""
    found = {name: np.asarray(held[network.name_of(name)], np.float64) for name in expected}
    turned = network.layout == "out_in"
    return {name: array.T if turned and array.ndim == 2 else array for name, array in found.items()}


def hold_network(
    options: Options,
    weights: Arrays,
    space: ContinuousSpace,
    points: Points,
    probe: Arrays,
    limits: tuple[float, float] | None = None,
) -> None:
    """Mismatch where a network, its outputs in the file's order, does not give the values of its own library."""
    network, check = options.q.network, options.check
    assert network is not None and check is not None
    if limits is None and not isinstance(network.output, str):
        limits = (network.output.low, network.output.high)
    if space.in_box:
        rows = box_probe_of(probe, options, space, points)
        order = options.actions or space.controls
        actor = options.actor and dataclasses.replace(options.actor, network=actor_network(options))
        wired = WiredCritic(network, weights, space, rows, limits, options.q.critics, order, actor)
        hold_box(wired, check.within)
        return
    counted = Wired(network, weights, space, probe_of(probe, network, space, points), limits)
    hold(counted, options.actions or space.actions, check.within)


def hold_finite(check: Check, q: np.ndarray, space: FiniteSpace, labels: tuple[str, ...], probe: Arrays) -> None:
    """Mismatch where values [G, S, A] are not those of their own library."""
    rows = rows_of(probe, space.actions)
    goal = goals_of(probe, labels) if len(labels) > 1 else np.zeros(len(rows.value), int)
    said = probe["observation"]
    if said.dtype.kind == "U":
        stranger = next((each for each in said.ravel().tolist() if each not in space.names), None)
        if stranger is not None:
            raise Mismatch(f"no state '{stranger}'", "file")
        states = np.array([space.index(each) for each in said.ravel().tolist()])
    else:
        states = numbers(probe, "observation").ravel().astype(int)
        if len(states) != len(rows.value) or not np.isin(states, np.arange(space.size)).all():
            raise Mismatch(f"observations are states, from 0 to {space.size - 1} or by name", "file")
    hold_table(q[goal, states], rows, space.actions, check.within)
