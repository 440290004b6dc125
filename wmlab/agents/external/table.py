"""Arrays from elsewhere as what an extraction may know of an agent in a finite world.

Shapes: S states, A actions, G goals.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np

from wmlab.agents.external.expect import Mismatch, chosen_tensor, network_shapes, policy_shape, table_shape
from wmlab.agents.external.options import TABLE_AXES, ExternalNetwork, Options, PolicyFile, ValuesFile
from wmlab.agents.external.parts import Part
from wmlab.core.finite.goals import Goals
from wmlab.core.finite.space import FiniteSpace
from wmlab.core.finite.view import FiniteView
from wmlab.errors import StageError, suggest

T = TypeVar("T")
TOLERANCE = 1e-6  # probabilities of a policy are often float32


class ArrayOnDemand(Protocol):
    """An array, or what becomes one when its numbers are asked for."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    def __array__(self, dtype: Any = None, /) -> np.ndarray: ...


Arrays = Mapping[str, ArrayOnDemand]


def order_of(listed: Sequence[str] | None, actions: Sequence[str]) -> list[int]:
    """Where each action of the world stands in the files."""
    return list(range(len(actions))) if listed is None else [list(listed).index(name) for name in actions]


def finite_view(options: Options, space: FiniteSpace, goals: Goals, files: Mapping[str, Arrays]) -> FiniteView:
    """Values and policy by the axes that the spec declares; `files` are the arrays of `q`, and of `policy`."""
    theirs = dataclasses.replace(space, actions=options.actions or space.actions)  # messages name their actions
    order = order_of(options.actions, space.actions)
    if options.q.network is not None:
        q = network_values(options, theirs, goals, files["q"])[..., order]
    else:
        q = by_name(options.q.file, read_table(options.q, files["q"], theirs, goals), order)
    if isinstance(options.policy, PolicyFile):
        policy = by_name(options.policy.file, read_policy(options.policy, files["policy"], theirs, goals), order)
    elif options.policy == "greedy":
        policy = np.eye(len(space.actions))[q.argmax(axis=-1)]
    else:
        policy = np.full(q.shape, 1 / q.shape[-1])
    discount = np.full(goals.count, options.discount)
    return FiniteView(q, policy, goals.reward, goals.continues, discount, space)


def by_name(file: str, table: np.ndarray, order: list[int]) -> np.ndarray:
    """A table [..., A] with its actions in the world's order; rows of text name their actions, and are in it."""
    return table if file.lower().endswith(".csv") else np.ascontiguousarray(table[..., order])


def read_table(q: ValuesFile, arrays: Arrays, space: FiniteSpace, goals: Goals) -> np.ndarray:
    """Q [G, S, A], every number of it finite."""
    declared = q if q.axes is not None else ValuesFile(q.file, None, TABLE_AXES)
    name = told(q.file, lambda: chosen_tensor(declared.tensor, {each: a.shape for each, a in arrays.items()}))
    told(q.file, lambda: table_shape(declared, arrays[name].shape, space, goals.count))
    table = in_order(np.asarray(arrays[name], np.float64), declared.axes or TABLE_AXES, ("goal", "state", "action"))
    require_finite(q.file, table, (goals.labels, space.names, space.actions))
    return np.ascontiguousarray(table)


def told(file: str, read: Callable[[], T]) -> T:
    """What a reading gives; a mismatch is told as the failure of a stage, with the file's name."""
    try:
        return read()
    except Mismatch as wrong:
        raise StageError(f"{file}: {wrong}" + (f"; {wrong.hint}" if wrong.hint else "")) from None


def in_order(array: np.ndarray, axes: Sequence[str], wanted: Sequence[str]) -> np.ndarray:
    """An array with its axes in another order; an axis that it lacks has one place."""
    missing = [name for name in wanted if name not in axes]
    whole = array.reshape(*array.shape, *[1] * len(missing))
    return whole.transpose([[*axes, *missing].index(name) for name in wanted])


def require_finite(file: str, table: np.ndarray, names: Sequence[Sequence[str]]) -> None:
    """StageError at the first number of a table [G, S, A] that is none, by the names of its goal, state and action."""
    bad = np.argwhere(~np.isfinite(table))
    if bad.size:
        place = ", ".join(str(labels[position]) for labels, position in zip(names, bad[0], strict=True))
        count = f", and {len(bad) - 1} more" if len(bad) > 1 else ""
        raise StageError(f"{file}: the value at {place} is {table[tuple(bad[0])]}{count}")


def read_policy(policy: PolicyFile, arrays: Arrays, space: FiniteSpace, goals: Goals) -> np.ndarray:
    """Probabilities [G, S, A], from probabilities or from the numbers of actions."""
    axes = policy.axes or TABLE_AXES
    name = told(policy.file, lambda: chosen_tensor(policy.tensor, {each: a.shape for each, a in arrays.items()}))
    declared = PolicyFile("file", policy.file, policy.tensor, axes)
    told(policy.file, lambda: policy_shape(declared, arrays[name].shape, space, goals.count))
    actions = len(space.actions)
    array = np.asarray(arrays[name], np.float64)
    if "action" not in axes:
        taken = in_order(array, axes, ("goal", "state", "action"))[..., 0]
        if not np.isin(taken, np.arange(actions)).all():
            odd = taken[~np.isin(taken, np.arange(actions))][0]
            raise StageError(f"{policy.file}: {odd:g} is no action; they count from 0 to {actions - 1}")
        table = np.eye(actions)[taken.astype(int)]
    else:
        table = in_order(array, axes, ("goal", "state", "action"))
    table = np.ascontiguousarray(np.broadcast_to(table, (goals.count, space.size, actions)))
    require_finite(policy.file, table, (goals.labels, space.names, space.actions))
    totals = table.sum(axis=-1)
    bad = np.argwhere((table < 0).any(axis=-1) | (np.abs(totals - 1) > TOLERANCE))
    if bad.size:
        goal, state = bad[0]
        place, total = f"{goals.labels[goal]}, {space.names[state]}", totals[goal, state]
        raise StageError(f"{policy.file}: at {place} the actions are no distribution (they sum to {total:.9g})")
    return table / totals[..., None]


def read_weights(
    q: ValuesFile | Part,
    network: ExternalNetwork,
    arrays: Arrays,
    expected: Mapping[str, tuple[int, ...]],
    order: Sequence[int],
) -> dict[str, np.ndarray]:
    """The weights under our own names, float32, [inputs, outputs] each, every number of them finite.

    `order` says where each action of the world stands among the outputs of a goal.
    """
    weights = {}
    for name, shape in expected.items():
        theirs = network.name_of(name)
        if theirs not in arrays:
            hint = suggest(theirs, arrays) or f"it holds {', '.join(list(arrays)[:8])}"
            raise StageError(f"{q.file}: no tensor '{theirs}'; {hint}")
        if arrays[theirs].shape != shape:
            held = list(arrays[theirs].shape)
            raise StageError(f"{q.file}: '{theirs}' has shape {held}; expected {list(shape)} for {name}")
        weight = np.asarray(arrays[theirs], np.float32)
        if not np.isfinite(weight).all():
            raise StageError(f"{q.file}: '{theirs}' holds {weight[~np.isfinite(weight)][0]}")
        turned = network.layout == "out_in" and weight.ndim == 2
        weights[name] = np.ascontiguousarray(weight.T if turned else weight)
    for name in [name for name in weights if name.endswith(("output.weight", "output.bias"))]:
        outputs = weights[name].reshape(*weights[name].shape[:-1], -1, len(order))[..., order]
        weights[name] = np.ascontiguousarray(outputs.reshape(weights[name].shape))
    return weights


def network_values(options: Options, space: FiniteSpace, goals: Goals, arrays: Arrays) -> np.ndarray:
    """Q [G, S, A] of a network that reads the states of a finite world."""
    from wmlab.agents.external.network import finite_values

    network = options.q.network
    assert network is not None
    shapes = network_shapes(network, space, goals.labels)
    weights = read_weights(options.q, network, arrays, shapes, range(len(space.actions)))
    return finite_values(network, weights, space, goals, options.discount)
