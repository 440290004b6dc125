"""Values of actions from a box, from an agent's own library, held against those of the critics that are read here.

Shapes: N rows, k components of an action, C critics.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wmlab.agents.external.expect import Mismatch
from wmlab.agents.external.in_numpy import outputs
from wmlab.agents.external.options import Actor, Critics, Options
from wmlab.agents.external.orders import NOTHING, TRIALS, permutations, said, wirings
from wmlab.agents.external.probe import KNOWN, Probe, Rows, Wired, columns, read_rows, values_of
from wmlab.core.continuous.points import Points
from wmlab.core.continuous.space import ContinuousSpace

WHOLE = (*KNOWN, "components", "policy")


@dataclass(frozen=True, eq=False)
class BoxProbe(Probe):
    """Rows whose actions are from a box, by the names of components."""

    action: Mapping[str, np.ndarray]  # component: [N]
    action_named: bool
    policy: Mapping[str, np.ndarray]  # likewise, what the agent does there; nothing where the file does not say


def box_probe_of(
    arrays: Mapping[str, np.ndarray], options: Options, space: ContinuousSpace, points: Points
) -> BoxProbe:
    """The rows of a file for critics."""
    network = options.q.network
    assert network is not None
    value = values_of(arrays, WHOLE)
    listed = tuple(options.actions or space.controls)
    action, named = columns(arrays, "action", "components", listed)
    policy = columns(arrays, "policy", "components", listed)[0] if "policy" in arrays else {}
    if policy and options.actor is None:
        raise Mismatch("it says what the agent does, and the spec names no actor", "file", hint="say agent.actor")
    inside(action, space)
    plain = {name: array for name, array in arrays.items() if name not in ("components", "policy")}
    read = read_rows(plain, Rows(np.zeros(len(value), int), value), network, space, points)
    common = {field.name: getattr(read, field.name) for field in dataclasses.fields(Probe)}
    return BoxProbe(**common, action=action, action_named=named, policy=policy)


def inside(action: Mapping[str, np.ndarray], space: ContinuousSpace) -> None:
    """Actions lie in their box: a library's own scale, such as [-1, 1], would show where ranges are another."""
    for name, (low, high) in zip(space.controls, space.control_ranges, strict=True):
        slack = 1e-5 * (high - low)
        out = action[name][(action[name] < low - slack) | (action[name] > high + slack)]
        if len(out):
            raise Mismatch(f"an action has {name} = {out[0]:.6g}, outside [{low:g}, {high:g}]", "file")


@dataclass(frozen=True, eq=False)
class WiredCritic(Wired):
    """Critics with their weights, and the actor that goes with them."""

    critics: Critics | None = None
    order: tuple[str, ...] = ()  # [k] components as the files have them
    actor: Actor | None = None

    @property
    def rows(self) -> BoxProbe:
        assert isinstance(self.probe, BoxProbe)
        return self.probe

    def block(self, name: str) -> list[np.ndarray]:
        if name != "action":
            return super().block(name)
        ranges = dict(zip(self.space.controls, self.space.control_ranges, strict=True))
        plain = {each: self.rows.action[each] for each in self.order}
        if self.network.action_encoding == "raw":
            return list(plain.values())
        return [
            2 * (value - ranges[each][0]) / (ranges[each][1] - ranges[each][0]) - 1 for each, value in plain.items()
        ]

    def q(self) -> np.ndarray:
        """Q [N] of each row's own action and goal."""
        if self.critics is None:
            return self._asked("")[:, 0]
        count = 1 if self.critics.combine == "first" else self.critics.count
        return np.mean([self._asked(f"critic{place}.")[:, 0] for place in range(count)], axis=0)

    def acted(self) -> np.ndarray:
        """What the actor does [N, k], in the files' order."""
        assert self.actor is not None and self.actor.network is not None
        given = dataclasses.replace(self, network=self.actor.network, limits=None)._asked("actor.")
        ranges = dict(zip(self.space.controls, self.space.control_ranges, strict=True))
        low, high = np.array([ranges[name] for name in self.order]).T
        if self.actor.squash == "tanh":
            return np.asarray(low + (np.tanh(given) + 1) / 2 * (high - low))
        return np.clip(given, low, high)

    def _asked(self, prefix: str) -> np.ndarray:
        """Outputs of each row's own goal."""
        weights = {name.removeprefix(prefix): each for name, each in self.weights.items() if name.startswith(prefix)}
        read = np.column_stack([column for block in self.network.blocks for column in self.block(block)])
        found = outputs(weights, self.network, read, self.limits)
        if self.network.goal == "input":
            return found
        each = len(self.order) if prefix == "actor." else 1
        return np.asarray(found.reshape(len(found), -1, each)[np.arange(len(found)), self.probe.goal])


def hold_box(wired: WiredCritic, within: float) -> None:
    """Mismatch where critics or actor do not give what their own library does, with the wiring that fits."""
    rows = wired.rows
    apart = np.abs(wired.q() - rows.rows.value)
    if (apart > within * rows.rows.scale).any():
        worst, count = int(apart.argmax()), int((apart > within * rows.rows.scale).sum())
        most = f"row {worst} says {rows.rows.value[worst]:.6g}, and here it is {wired.q()[worst]:.6g}"
        message = f"{count} of {len(apart)} values are not those of the agent's own library; {most}"
        raise Mismatch(message, "file", hint=fitting_critic(wired, within))
    if rows.policy and wired.actor is not None:
        hold_actor(wired, within)


def fitting_critic(wired: WiredCritic, within: float) -> str:
    """What to change so that values agree, or that nothing of what was tried does it."""
    rows = wired.rows.rows
    for changes, order in itertools.islice(box_wirings(wired), TRIALS):
        found = dataclasses.replace(wired.having(**changes), order=order).q()
        if (np.abs(found - rows.value) <= within * rows.scale).all():
            listed = {name: list(each) if isinstance(each, tuple) else each for name, each in changes.items()}
            more = {} if order == wired.order else {"actions": list(order)}
            return f"they agree with {said(**listed, **more)}"
    ours = wired.q()
    factor = float(ours @ rows.value / (rows.value @ rows.value)) if rows.value.any() else 0.0
    if factor > 0 and (np.abs(ours / factor - rows.value) <= within * rows.scale).all():
        return f"they agree when divided by {factor:.6g}: wmlab import --reward-scale {factor:.6g}"
    return NOTHING


def box_wirings(wired: WiredCritic) -> Iterator[tuple[dict[str, Any], tuple[str, ...]]]:
    """Changes of the critic's options, with an order of components each; one at a time first."""
    orders: Sequence[tuple[str, ...]] = permutations(wired.order) if wired.rows.action_named else [wired.order]
    other = "raw" if wired.network.action_encoding == "normalised" else "normalised"
    yield from (({}, order) for order in orders[1:])
    yield from (({"action_encoding": other}, order) for order in orders)
    for order in orders:
        yield from ((changes, order) for changes in itertools.islice(wirings(wired), TRIALS // len(orders)))


def hold_actor(wired: WiredCritic, within: float) -> None:
    """Mismatch where the actor does something else than in its own library."""
    wanted = np.column_stack([wired.rows.policy[name] for name in wired.order])
    spans = {
        name: high - low for name, (low, high) in zip(wired.space.controls, wired.space.control_ranges, strict=True)
    }
    scale = within * np.array([spans[name] for name in wired.order])
    apart = np.abs(wired.acted() - wanted) / scale
    if (apart <= 1).all():
        return
    row, column = np.unravel_index(int(apart.argmax()), apart.shape)
    most = f"row {row} says {wired.order[column]} = {wanted[row, column]:.6g}, here {wired.acted()[row, column]:.6g}"
    count = int((apart > 1).any(axis=1).sum())
    message = f"in {count} of {len(apart)} rows the actor does not do what it does in its own library; {most}"
    raise Mismatch(message, "file", hint=fitting_actor(wired, wanted, scale))


def fitting_actor(wired: WiredCritic, wanted: np.ndarray, scale: np.ndarray) -> str | None:
    """What to change in the actor's network so that it does."""
    actor = wired.actor
    assert actor is not None and actor.network is not None
    own = dataclasses.replace(wired, network=actor.network)
    for changes in itertools.islice(wirings(own), TRIALS):
        network = dataclasses.replace(actor.network, **changes)
        found = dataclasses.replace(wired, actor=dataclasses.replace(actor, network=network)).acted()
        if (np.abs(found - wanted) <= scale).all():
            listed = {name: list(each) if isinstance(each, tuple) else each for name, each in changes.items()}
            return f"it does with {said(**listed)} in actor.network"
    return "was its input normalised in training (wmlab import --normalise), or is the file another agent's?"
