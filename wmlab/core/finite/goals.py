"""The goals of a finite world: what they pay, and where they end an episode.

A reward kind is called with (options, space, at, seed) and gives `Rewards`; `at` are the goal states, or points [G, d]
of the map's plane or of named variables, or None where the spec names none.

Shapes: G goals, S states, d dimensions of the embedding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from wmlab import expressions
from wmlab.core.finite.places import places
from wmlab.core.finite.space import FiniteSpace
from wmlab.registry import RewardChoice
from wmlab.sections.experiment import Ending, GoalsSection

EDGE = 1e-9  # relative: a distance that differs from a radius by less is the radius itself, and that is not near
Places = Sequence[int] | np.ndarray  # states, or points float [G, d]


@dataclass(frozen=True, eq=False)
class Rewards:
    """What each goal pays, and where each goal is."""

    values: np.ndarray  # [G, S]  r(s', g)
    centres: np.ndarray  # int [G] the goal's own state, -1 where it has none; or points, float [G, d]
    arrival: np.ndarray  # bool [G, S] states that count as having arrived


@dataclass(frozen=True, eq=False)
class Goals:
    """What the agent was trained to want."""

    reward: np.ndarray  # [G, S]  r(s', g)
    continues: np.ndarray  # [G, S]  D(s', g): 0 ends the episode
    labels: tuple[str, ...]  # [G]
    # Such a goal at each state, G = S; None where the goals are at no states.
    everywhere: Callable[[], Goals] | None = None

    @property
    def count(self) -> int:
        return len(self.labels)


def make_goals(
    reward: RewardChoice, space: FiniteSpace, at: Places | None, terminate: str | Ending, seed: int
) -> Goals:
    """Goals from a spec's `goals.reward`, the selected states and `goals.terminate`."""
    made: Rewards = reward.kind.run(reward.options, space, at, seed)
    labels = labels_of(reward, space, at)
    everywhere = partial(goals_everywhere, reward, space, at, terminate, seed) if isinstance(at, list) else None
    return Goals(made.values, continue_flags(made, labels, space, terminate), labels, everywhere)


def goals_everywhere(
    reward: RewardChoice, space: FiniteSpace, at: list[int], terminate: str | Ending, seed: int
) -> Goals:
    """Such a goal at each state, in the order of states: listed ones as they are, others with draws of their own."""
    row = rows_at(at, space.size)
    others = np.flatnonzero(row < 0)
    row[others] = len(at) + np.arange(len(others))  # what is drawn, is drawn row by row: the listed goals keep theirs
    goals = make_goals(reward, space, [*at, *others.tolist()], terminate, seed)
    return Goals(goals.reward[row], goals.continues[row], tuple(goals.labels[each] for each in row))


def rows_at(at: Places, size: int) -> np.ndarray:
    """Which goal is at each state, int [S]: the first one, where several are, and -1 where there is none."""
    row = np.full(size, -1, np.int32)
    states = np.asarray(at, np.int32)
    row[states[::-1]] = np.arange(len(states))[::-1]
    return row


def continue_flags(made: Rewards, labels: Sequence[str], space: FiniteSpace, terminate: str | Ending) -> np.ndarray:
    """D [G, S]: 0 where the episode ends, 1 elsewhere."""
    if terminate == "never":
        return np.ones_like(made.values)
    if terminate == "on_arrival":
        return 1.0 - made.arrival
    assert isinstance(terminate, Ending)
    if terminate.table is not None:
        return 1.0 - listed(space, labels, terminate.table)
    ended = np.zeros(made.values.shape, bool)
    if terminate.within is not None:
        ended |= within(space, made.centres, terminate.within)
    if terminate.when is not None:
        ended |= formula(terminate.when, space, made.centres, "boolean")
    return 1.0 - ended


def listed(space: FiniteSpace, labels: Sequence[str], table: Mapping[str, Sequence[Any]]) -> np.ndarray:
    """Which states a table lists for each goal: bool [G, S]; a goal that it leaves out has none."""
    marked = np.zeros((len(labels), space.size), bool)
    for row, label in zip(marked, labels, strict=True):
        row[[state for each in table.get(label, ()) for state in space.states(each)]] = True
    return marked


def formula(text: str, space: FiniteSpace, centres: np.ndarray, want: expressions.Type) -> np.ndarray:
    """An expression at every state, for goals at states int [G] (-1: nowhere) or points [G, n]: [G, S].

    A point that leaves a variable open has no number there.
    """
    env, names = space.described(), tuple(space.described())
    points = centres if centres.ndim == 2 else np.stack(list(env.values()), axis=-1)[centres]
    for position, name in enumerate(names[: points.shape[1]]):
        env[expressions.goal_name(name)] = points[:, position, None]
    values = expressions.program(text, names, want, names)(np, env)
    return np.broadcast_to(np.asarray(values), (len(centres), space.size))


def within(space: FiniteSpace, centres: np.ndarray, distance: float | Mapping[str, float]) -> np.ndarray:
    """Which states lie nearer than `distance` to each centre, as in a continuous world: bool [G, S].

    One distance is Euclidean, in the space's embedding; with one for each variable, all of them must hold. On a lattice
    a state often lies at exactly that distance, where rounding would decide: such a state is not near.
    """
    rounding = 4 * np.finfo(float).eps * _extent(space, centres)
    if not isinstance(distance, Mapping):
        return np.sqrt(squared_distances(space, centres)) < distance * (1 - EDGE) - rounding
    assert space.coordinates is not None
    near = np.ones((len(centres), space.size), bool)
    for name, gap in space.coordinates.gaps(_points(space, centres)):
        near &= gap < distance.get(name, np.inf) * (1 - EDGE) - rounding
    return near


def _extent(space: FiniteSpace, centres: np.ndarray) -> float:
    """The largest number that describes a state or a point."""
    own = None if space.coordinates is None else space.coordinates.values
    parts = [part for part in (own, space.cells, centres if centres.ndim == 2 else None) if part is not None]
    return max((float(np.abs(np.nan_to_num(part)).max(initial=0.0)) for part in parts), default=1.0)


def squared_distances(space: FiniteSpace, centres: np.ndarray, widths: Mapping[str, float] | None = None) -> np.ndarray:
    """[G, S], from states int [G] or points float [G, d]; `widths` are the units of named variables."""
    if space.coordinates is not None:
        total = np.zeros((len(centres), space.size))
        for name, gap in space.coordinates.gaps(_points(space, centres)):
            total += (gap / (widths or {}).get(name, 1.0)) ** 2
        return total
    if centres.ndim == 1 and space.cells is None:
        # One-hot: all others lie at distance sqrt(2), and no S x S array is needed to say so.
        return 2.0 * (np.asarray(centres)[:, None] != np.arange(space.size))
    return ((_points(space, centres)[:, None, :] - space.embedding()) ** 2).sum(axis=-1)


def _points(space: FiniteSpace, centres: np.ndarray) -> np.ndarray:
    """Centres as points [G, d], of states int [G] too."""
    return centres if centres.ndim == 2 else space.embedding()[centres]


def at_states(space: FiniteSpace, at: Places) -> np.ndarray:
    """One-hot rows at the goal states: bool [G, S]; a point is at a state only where it meets it exactly."""
    if np.ndim(at) == 2 and space.coordinates is not None:
        return space.coordinates.met(np.asarray(at))
    if np.ndim(at) == 2:
        return squared_distances(space, np.asarray(at)) == 0
    return np.asarray(at)[:, None] == np.arange(space.size)


def goal_labels(goals: GoalsSection, space: FiniteSpace) -> tuple[str, ...]:
    """The goals' names, from a spec's `goals`; LookupError where they cannot be told."""
    return labels_of(goals.reward, space, None if goals.at is None else places(goals.at, space))


def labels_of(reward: RewardChoice, space: FiniteSpace, at: Places | None) -> tuple[str, ...]:
    """Goals named by their places, or by the reward where it needs none."""
    return reward.traits.own_goals(reward.options) if at is None else state_labels(space, at)


def state_labels(space: FiniteSpace, at: Places) -> tuple[str, ...]:
    """Goals named by their states, or by their points."""
    if np.ndim(at) == 2 and space.coordinates is not None:
        return tuple(space.coordinates.label(point) for point in np.asarray(at))
    if np.ndim(at) == 2:
        return tuple(f"({row:g}, {column:g})" for row, column in np.asarray(at).tolist())
    return tuple(space.names[state] for state in at)
