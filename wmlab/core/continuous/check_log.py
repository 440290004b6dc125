"""What can be wrong with logged transitions, seen from a spec and from the headers of its file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from wmlab.core.continuous.points import goal_points
from wmlab.core.continuous.space import ContinuousSpace
from wmlab.core.finite.select import SelectionError
from wmlab.errors import suggest
from wmlab.registry import Finding, Scope
from wmlab.sections.data import DataSection, LoggedColumns

MINARI_FILE = "main_data.hdf5"
Shapes = Mapping[str, tuple[int, ...]]


def check_log(data: DataSection, scope: Scope) -> Iterator[Finding]:
    """Findings with paths below `data`."""
    space = scope.space
    if not isinstance(space, ContinuousSpace):
        message = "logged transitions are of a continuous world, and this one is finite"
        yield Finding((), message, "count them, and give probabilities as mdp.kind: tabular")
        return
    wanted = [*_check_format(data), *_check_names(data, space, scope)]
    yield from wanted
    if wanted or data.format != "npz" or scope.holds is None:
        return
    try:
        held = scope.holds(data.file)
    except LookupError:
        return  # told where files are checked
    except ValueError as error:
        yield Finding(("file",), f"{data.file}: {error}")
        return
    yield from check_arrays(data, held, space, goal_names(scope))


def _check_format(data: DataSection) -> Iterator[Finding]:
    name = data.file.rpartition("/")[2]
    if data.format == "npz":
        if not data.file.lower().endswith(".npz"):
            yield Finding(("file",), "format npz reads files that end in .npz", "say format: minari")
        return
    if name != MINARI_FILE:
        yield Finding(("file",), f"a Minari dataset has its transitions in {MINARI_FILE}", "name that file")
    for key in ("after", "episode"):
        if getattr(data, key) is not None:
            yield Finding((key,), "episodes of Minari tell it by their sequence", "leave it out", key=True)


def _check_names(data: DataSection, space: ContinuousSpace, scope: Scope) -> Iterator[Finding]:
    """Columns name variables, the state's all of them; actions are those of the world."""
    yield from _check_columns(data.states, [variable.name for variable in space.everything], space.names, "state")
    order = data.actions.order
    for place, name in enumerate(order or ()):
        if name not in space.actions:
            yield Finding(("action", "order", place), f"no action '{name}'", suggest(name, space.actions))
    if data.reward is not None and data.goal is None:
        yield Finding(("reward",), "rewards were paid for a goal", "say data.goal, too", key=True)
    names = goal_names(scope)
    if data.goals is None or names is None:
        return
    if not names:
        yield Finding(("goal",), "the goals of this spec are no points, so there is nothing to read", key=True)
        return
    yield from _check_columns(data.goals, names, names, "goal")


def _check_columns(said: LoggedColumns, known: Sequence[str], needed: Sequence[str], key: str) -> Iterator[Finding]:
    for place, name in enumerate(said.columns or ()):
        if name is not None and name not in known:
            hint = suggest(name, known) or f"there are {', '.join(known)}, and null for what is none of them"
            yield Finding((key, "columns", place), f"no variable '{name}'", hint)
        elif name is not None and name in (said.columns or ())[:place]:
            yield Finding((key, "columns", place), f"'{name}' is listed twice")
    if said.columns is not None:
        missing = [name for name in needed if name not in said.columns]
        if missing:
            yield Finding((key, "columns"), f"no column is {missing[0]}", f"a {key} is {', '.join(needed)}")


def goal_names(scope: Scope) -> list[str] | None:
    """The variables that every goal names; none where goals are no points, or name different ones. None: in error."""
    if scope.goals is None:
        return None
    try:
        points = goal_points(scope.goals, scope.space)
    except (LookupError, SelectionError):
        return None  # told where the goals are checked
    return points.names(scope.space) if points.alike else []


def check_arrays(
    data: DataSection, held: Shapes, space: ContinuousSpace, goals: Sequence[str] | None
) -> Iterator[Finding]:
    """Whether the arrays of an .npz are there, a row for each transition, and as wide as they should be."""
    parts: list[tuple[str, str, int | None]] = [
        ("state", data.states.array, len(data.states.columns or space.names)),
        ("after", data.next_states, len(data.states.columns or space.names)),
        ("action", data.actions.array, None),
    ]
    if data.goals is not None:
        parts.append(("goal", data.goals.array, len(data.goals.columns or goals or ())))
    parts += [(key, name, 1) for key, name in (("reward", data.reward), ("episode", data.episode)) if name is not None]
    rows = held[data.states.array][0] if held.get(data.states.array) else None
    for key, name, width in parts:
        if name not in held:
            listed = ", ".join(f"{each} {list(shape)}" for each, shape in list(held.items())[:8]) or "nothing"
            hint = suggest(name, held) or f"it holds {listed}"
            yield Finding((key,), f"{data.file}: no array '{name}'", hint)
            continue
        shape = held[name]
        wide = (len(shape) == 2 and shape[1] == width) or (len(shape) == 1 and width == 1) or width is None
        if not shape or shape[0] != (rows or shape[0]) or not wide:
            many = "" if width is None else f", {width} number{'s' if width > 1 else ''} each"
            much = "a row for each transition" if rows is None else f"{rows} rows"
            yield Finding((key,), f"{data.file}: '{name}' has shape {list(shape)}; expected {much}{many}")
