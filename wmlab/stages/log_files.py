"""Logged transitions from files of others: plain arrays (.npz), or episodes of Minari. Nothing in them is executed.

Shapes: M transitions, n columns, d variables, k components of an action.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from wmlab.core.continuous.log import Log, held_out_rows
from wmlab.core.continuous.points import goal_points, outside
from wmlab.core.continuous.space import ContinuousSpace, settled
from wmlab.errors import StageError
from wmlab.sections.data import DataSection, LoggedColumns
from wmlab.sections.experiment import GoalsSection
from wmlab.stages.array_files import read_arrays
from wmlab.stages.minari_files import read_minari

NEAR = 1e-4  # of the span of a component: logged actions are within this of one that the world has
Arrays = Mapping[str, Any]  # by the names that a spec gives them


def read_log(data: DataSection, space: ContinuousSpace, files: Mapping[str, str], goals: GoalsSection) -> Log:
    """The transitions of a log; StageError, by row and variable, where they cannot be of this world."""
    arrays: Arrays
    if data.format == "minari":
        arrays, after, unit = read_minari(data, files)
    else:
        arrays = read_arrays(data.file, files)
        after = taken(data, arrays, data.next_states)
        unit = np.arange(len(after)) if data.episode is None else taken(data, arrays, data.episode).ravel()
    state = taken(data, arrays, data.states.array)
    if len(state) < 2:
        raise StageError(f"{data.file}: {len(state)} transitions; a part is held out, so there must be two or more")
    for name, array in (("next states", after), ("episodes", unit)):
        if len(array) != len(state):
            raise StageError(f"{data.file}: {len(state)} states and {len(array)} {name}")
    if len(np.unique(unit)) < 2:
        raise StageError(f"{data.file}: one episode alone; whole ones are held out, so there must be two or more")
    return Log(
        states_of(data, space, state),
        actions_of(data, space, taken(data, arrays, data.actions.array), len(state)),
        states_of(data, space, after),
        held_out_rows(unit, data.held_out, data.seed),
        None if data.goals is None else goals_of(data, data.goals, space, arrays, goals),
        None if data.reward is None else numbers(data, data.reward, arrays).reshape(len(state)).astype(np.float64),
    )


def taken(data: DataSection, arrays: Arrays, name: str) -> np.ndarray:
    """One array of a log, whole."""
    if name not in arrays:
        raise StageError(f"{data.file}: no array '{name}'; it holds {', '.join(list(arrays)[:20])}")
    return np.asarray(arrays[name])


def numbers(data: DataSection, name: str, arrays: Arrays) -> np.ndarray:
    array = taken(data, arrays, name)
    if not np.isfinite(array).all():
        row = int(np.argwhere(~np.isfinite(array))[0][0])
        raise StageError(f"{data.file}: '{name}' has no number in row {row}")
    return array


def columns_of(data: DataSection, said: LoggedColumns, names: Sequence[str], array: np.ndarray) -> np.ndarray:
    """The columns of these variables, in their order, float64 [M, len(names)]."""
    listed = said.columns or names
    table = array.reshape(len(array), -1)
    if table.shape[1] != len(listed):
        message = f"'{said.array}' has {table.shape[1]} columns, and the spec names {len(listed)}"
        raise StageError(f"{data.file}: {message}; say which by columns: [{', '.join(names)}, …]")
    return np.asarray(table[:, [listed.index(name) for name in names]], np.float64)


def states_of(data: DataSection, space: ContinuousSpace, array: np.ndarray) -> np.ndarray:
    """States float32 [M, d], angles brought into their ranges; what is beyond a range is refused."""
    table = columns_of(data, data.states, space.names, array)
    for column, variable in enumerate(space.variables):
        values = table[:, column]
        if not np.isfinite(values).all():
            raise StageError(f"{data.file}: {variable.name} is no number in row {int(np.argmin(np.isfinite(values)))}")
        if variable.periodic:
            table[:, column] = settled(variable, values)
            continue
        far = np.flatnonzero([outside(variable, end) for end in (values.min(), values.max())])
        if len(far):
            row = int(values.argmax() if far[-1] else values.argmin())
            shown = f"{values[row]:g}, outside its range [{variable.low:g}, {variable.high:g}]"
            hint = "are the columns in this order, and in these units?"
            raise StageError(f"{data.file}: in row {row} {variable.name} is {shown}; {hint}")
    return table.astype(np.float32)


def actions_of(data: DataSection, space: ContinuousSpace, array: np.ndarray, rows: int) -> np.ndarray:
    """Which action of the world was taken, int32 [M]: by number, or by its components."""
    order = data.actions.order or space.actions
    if array.shape[:1] != (rows,):
        raise StageError(f"{data.file}: {rows} states and {array.shape[0] if array.ndim else 1} actions")
    table = array.reshape(rows, -1)
    whole = np.issubdtype(table.dtype, np.integer)
    if table.shape[1] == 1 and whole:
        number = table[:, 0]
        if number.min() < 0 or number.max() >= len(order):
            row = int(np.argmax((number < 0) | (number >= len(order))))
            raise StageError(f"{data.file}: action {number[row]} in row {row}, of {len(order)} from 0 on")
        return np.array([space.actions.index(name) for name in order], np.int32)[number]
    return nearest_action(data, space, np.asarray(table, np.float64))


def nearest_action(data: DataSection, space: ContinuousSpace, table: np.ndarray) -> np.ndarray:
    """The action with these components [M, k]; StageError where the world has none."""
    known = np.array(space.control_values, float)  # [A, k]
    if table.shape[1] != known.shape[1]:
        message = f"actions of {table.shape[1]} numbers, and the world's have {known.shape[1]}"
        raise StageError(f"{data.file}: {message}: {', '.join(space.controls)}")
    span = np.maximum(np.ptp(known, axis=0), 1e-12)
    gap = (np.abs(table[:, None] - known) / span).max(axis=-1)  # [M, A]
    far = np.flatnonzero(gap.min(axis=1) > NEAR)
    if len(far):
        row = int(far[0])
        shown = ", ".join(f"{name}={value:g}" for name, value in zip(space.controls, table[row], strict=True))
        raise StageError(f"{data.file}: no action has {shown} (row {row}, and {len(far) - 1} more like it)")
    return gap.argmin(axis=1).astype(np.int32)


def goals_of(
    data: DataSection, said: LoggedColumns, space: ContinuousSpace, arrays: Arrays, goals: GoalsSection
) -> np.ndarray:
    """The goals that were pursued, float32 [M, K], as the spec's goals have their variables."""
    names = goal_points(goals, space).names(space)
    return columns_of(data, said, names, numbers(data, said.array, arrays)).astype(np.float32)
