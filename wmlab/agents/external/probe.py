"""Values from an agent's own library, held against those that are read here: whatever is wired wrongly shows.

Shapes: N rows, d variables, k variables of a goal, G goals, A actions, I inputs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from wmlab.agents.external.expect import Mismatch
from wmlab.agents.external.in_numpy import encoded, outputs
from wmlab.agents.external.options import ExternalNetwork
from wmlab.core.continuous.points import Points
from wmlab.core.continuous.space import ContinuousSpace
from wmlab.errors import suggest
from wmlab.limits import listed, shorten

KNOWN = ("observation", "variables", "goal", "wanted", "achieved", "action", "value")
NAMES = ("variables", "wanted", "components")  # arrays that name columns
MOST = 100_000  # rows


@dataclass(frozen=True, eq=False)
class Rows:
    """What a file says of actions and values."""

    action: np.ndarray  # int [N]: which of the world's actions
    value: np.ndarray  # float64 [N]

    @property
    def scale(self) -> float:
        """What `within` is measured by."""
        return max(1.0, float(np.abs(self.value).max()))


@dataclass(frozen=True, eq=False)
class Probe:
    """Rows of a continuous world, by the names of variables."""

    rows: Rows
    read: Mapping[str, np.ndarray]  # variable: [N]
    named: bool  # whether the file itself names the variables
    wanted: Mapping[str, np.ndarray]  # variable of a goal: [N]
    wanted_named: bool
    achieved: Mapping[str, np.ndarray]  # likewise, where the file has it
    goal: np.ndarray  # int [N]: which head


def values_of(arrays: Mapping[str, np.ndarray], known: Sequence[str]) -> np.ndarray:
    """Values [N]; Mismatch where they are not what a check needs, or where rows are not as many."""
    for name in ("observation", "action", "value"):
        if name not in arrays:
            raise Mismatch(f"no array '{name}'; it holds {listed(arrays) or 'nothing'}", "file")
    strange = next((name for name in arrays if name not in known), None)
    if strange is not None:
        raise Mismatch(f"what is '{shorten(strange)}'?", "file", hint=suggest(strange, known) or f"say {listed(known)}")
    value = numbers(arrays, "value")
    count = len(value) if value.ndim == 1 else 0
    if not 0 < count <= MOST:
        raise Mismatch(f"value has shape {list(value.shape)}; expected a number for each row", "file")
    for name, array in arrays.items():
        if name not in NAMES and (array.ndim == 0 or len(array) != count):
            raise Mismatch(f"{count} values, and {name} has shape {list(array.shape)}", "file")
    return value


def rows_of(arrays: Mapping[str, np.ndarray], actions: Sequence[str]) -> Rows:
    """Actions and values; Mismatch where they are not what a check needs."""
    value = values_of(arrays, KNOWN)
    said = arrays["action"]
    if said.dtype.kind != "U" or said.ndim != 1:
        message = "actions by number do not say which is which"
        raise Mismatch(message, "file", hint=f"save their names, of {listed(actions)}")
    stranger = next((name for name in said.tolist() if name not in actions), None)
    if stranger is not None:
        raise Mismatch(f"no action '{shorten(stranger)}'", "file", hint=suggest(stranger, actions) or listed(actions))
    places = np.array([list(actions).index(name) for name in said.tolist()])
    unseen = [name for place, name in enumerate(actions) if place not in places]
    if unseen:
        raise Mismatch(f"no row has the action '{unseen[0]}', so that nothing is known of it", "file")
    return Rows(places, value)


def numbers(arrays: Mapping[str, np.ndarray], name: str) -> np.ndarray:
    """An array of numbers, float64, all of them finite."""
    array = arrays[name]
    if array.dtype.kind not in "fiub":
        raise Mismatch(f"{name} holds texts; expected numbers", "file")
    array = np.asarray(array, np.float64)
    if not np.isfinite(array).all():
        raise Mismatch(f"{name} holds {array[~np.isfinite(array)][0]}", "file")
    return array


def probe_of(
    arrays: Mapping[str, np.ndarray], network: ExternalNetwork, space: ContinuousSpace, points: Points
) -> Probe:
    """The rows of a file for a network in a continuous world."""
    return read_rows(arrays, rows_of(arrays, space.actions), network, space, points)


def read_rows(
    arrays: Mapping[str, np.ndarray], rows: Rows, network: ExternalNetwork, space: ContinuousSpace, points: Points
) -> Probe:
    """What the rows of a file say of states and goals."""
    observation = tuple(network.observation or space.names)
    read, named = columns(arrays, "observation", "variables", observation)
    wanted: dict[str, np.ndarray] = {}
    achieved: dict[str, np.ndarray] = {}
    wanted_named = False
    goal = np.zeros(len(rows.value), int)
    if network.goal == "input":
        names = tuple(network.wanted or points.names(space))
        wanted, wanted_named = columns(arrays, "goal", "wanted", names)
        if "achieved" in arrays:
            held = {**arrays, "wanted": np.array([*wanted])}
            achieved, _ = columns(held, "achieved", "wanted", names)
            require_achieved(achieved, read)
    elif len(points.labels) > 1:
        goal = goals_of(arrays, points.labels)
    return Probe(rows, read, named, wanted, wanted_named, achieved, goal)


def columns(
    arrays: Mapping[str, np.ndarray], name: str, names_under: str, expected: Sequence[str]
) -> tuple[dict[str, np.ndarray], bool]:
    """Variable: its numbers [N]; and whether the file says which column is which."""
    if name not in arrays:
        raise Mismatch(f"no array '{name}', and the network reads one", "file")
    array = numbers(arrays, name)
    table = array.reshape(len(array), -1)
    given = names_under in arrays
    names = [str(each) for each in arrays[names_under].ravel().tolist()] if given else list(expected)
    if table.shape[1] != len(names) or len({*names}) < len(names):
        raise Mismatch(f"{name} has {table.shape[1]} columns, and their names are {listed(names)}", "file")
    missing = next((each for each in expected if each not in names), None)
    if missing is not None:
        hint = suggest(missing, names) or f"{names_under} are {listed(names)}"
        raise Mismatch(f"the network reads {missing}, and {name} has no such column", "file", hint=hint)
    return {each: table[:, place] for place, each in enumerate(names)}, given


def require_achieved(achieved: Mapping[str, np.ndarray], read: Mapping[str, np.ndarray]) -> None:
    """The goal that a state reaches is what the state says, where it says it."""
    for name, values in achieved.items():
        if name in read and np.abs(values - read[name]).max() > 1e-5 * max(1.0, np.abs(values).max()):
            same = [other for other in read if np.abs(values - read[other]).max() <= 1e-5]
            hint = f"it is {same[0]}: name the goal's variables in its order, under `wanted`" if same else None
            raise Mismatch(f"the achieved goal's {name} is not the observation's {name}", "file", hint=hint)


def goals_of(arrays: Mapping[str, np.ndarray], labels: Sequence[str]) -> np.ndarray:
    """Which goal each row is of, by number or by label."""
    if "goal" not in arrays:
        raise Mismatch(f"no array 'goal', and there are {len(labels)} goals", "file", hint="say their numbers, from 0")
    if arrays["goal"].dtype.kind == "U":
        stranger = next((each for each in arrays["goal"].tolist() if each not in labels), None)
        if stranger is not None:
            raise Mismatch(f"no goal '{shorten(str(stranger))}'", "file", hint=suggest(str(stranger), labels))
        return np.array([list(labels).index(each) for each in arrays["goal"].tolist()])
    places = numbers(arrays, "goal")
    if places.ndim != 1 or not np.isin(places, np.arange(len(labels))).all():
        raise Mismatch(f"goals are numbered from 0 to {len(labels) - 1}", "file")
    return places.astype(int)


@dataclass(frozen=True, eq=False)
class Wired:
    """A network with its weights as the file has them, its space, and the rows that it is asked for."""

    network: ExternalNetwork
    weights: Mapping[str, np.ndarray]  # under our own names, [inputs, outputs]
    space: ContinuousSpace
    probe: Probe
    limits: tuple[float, float] | None = None

    def having(self, **changes: Any) -> Self:
        """The same with other options of the network."""
        return dataclasses.replace(self, network=dataclasses.replace(self.network, **changes))

    @property
    def wanted(self) -> tuple[str, ...]:
        return tuple(self.network.wanted or self.probe.wanted)

    def values(self) -> np.ndarray:
        """Q [N, A] of each row's own goal, in the order of the outputs."""
        read = np.column_stack([column for block in self.network.blocks for column in self.block(block)])
        found = outputs(self.weights, self.network, read, self.limits)
        heads = found.reshape(len(found), -1, len(self.space.actions))
        return heads[np.arange(len(found)), self.probe.goal if self.network.goal == "head" else 0]

    def block(self, name: str) -> list[np.ndarray]:
        """Columns [N] of one part of what is read."""
        blocks = {"state": self._state, "goal": self._goal, "achieved": self._achieved}
        return blocks[name]()

    def _columns(self, names: Sequence[str], values: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        variables = [self.space.everything[self.space.column(name)] for name in names]
        return encoded(variables, [values[name] for name in names], self.network.encoding)

    def _state(self) -> list[np.ndarray]:
        return self._columns(self.network.observation or self.space.names, self.probe.read)

    def _goal(self) -> list[np.ndarray]:
        return self._columns(self.wanted, self.probe.wanted)

    def _achieved(self) -> list[np.ndarray]:
        known = {**self.probe.read, **self.probe.achieved}
        missing = next((name for name in self.wanted if name not in known), None)
        if missing is not None:
            message = f"the network reads what is achieved, and no row says its {missing}"
            raise Mismatch(message, "file", hint="save it as achieved, beside goal")
        return self._columns(self.wanted, known)
