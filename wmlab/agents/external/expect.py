"""What shapes the arrays of an agent from elsewhere must have, from the spec alone.

Shapes: S states, A actions, G goals, d variables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from wmlab.agents.external.options import TABLE_AXES, ExternalNetwork, PolicyFile, ValuesFile
from wmlab.agents.external.parts import Part
from wmlab.core.continuous.points import Points
from wmlab.core.continuous.space import ContinuousSpace, Variable, encoded_width
from wmlab.core.finite.space import FiniteSpace
from wmlab.errors import suggest

Shapes = Mapping[str, tuple[int, ...]]


class Mismatch(ValueError):
    """A file that is not what the spec says of it; `path` is below the mapping that names the file."""

    def __init__(self, message: str, *path: str | int, hint: str | None = None, in_file: bool = True):
        super().__init__(message)
        self.path, self.hint, self.in_file = path, hint, in_file


def shown(held: Shapes) -> str:
    """'q [48, 5, 5], bias [3]', for messages."""
    listed = [f"{name} {list(shape)}" for name, shape in list(held.items())[:8]]
    return ", ".join(listed) + (f" and {len(held) - 8} more" if len(held) > 8 else "") if listed else "nothing"


def chosen_tensor(asked: str | None, held: Shapes) -> str:
    """The array that is meant: the one that is asked for, or the only one."""
    if asked is None:
        if len(held) != 1:
            raise Mismatch(f"which tensor? it holds {shown(held)}", "tensor", hint="say tensor: its name")
        return next(iter(held))
    if asked not in held:
        raise Mismatch(f"no tensor '{asked}'; it holds {shown(held)}", "tensor", hint=suggest(asked, held))
    return asked


def table_shape(q: ValuesFile, shape: Sequence[int], space: FiniteSpace | ContinuousSpace, goals: int) -> None:
    """Mismatch where a table of values has not the axes or the sizes that it should have."""
    assert q.axes is not None
    finite = isinstance(space, FiniteSpace)
    wanted = TABLE_AXES if finite else (*space.names, "action", "goal")
    check_axes(q.axes, wanted, {"goal"} if goals == 1 else set())
    sizes = {"action": len(space.actions), "goal": goals} | ({"state": space.size} if finite else {})
    check_sizes(q.axes, shape, sizes)
    for name in q.grid:
        if finite or name not in space.names:
            names = [] if finite else space.names
            message = "a finite world has no variables" if finite else f"'{name}' is not a state variable"
            raise Mismatch(message, "grid", name, hint=suggest(name, names), in_file=False)
    if isinstance(space, ContinuousSpace):
        check_grid(q, shape, space)


def check_grid(q: ValuesFile, shape: Sequence[int], space: ContinuousSpace) -> None:
    """Mismatch where the points along a variable's axis cannot be told."""
    assert q.axes is not None
    for variable in space.variables:
        size = shape[q.axes.index(variable.name)]
        if size < 2:
            raise Mismatch(f"{size} point along {variable.name}; between points values are interpolated", "axes")
        ends = q.grid.get(variable.name)
        if ends is None and not variable.bounded:
            hint = f"say grid: {{{variable.name}: [first, last]}}"
            raise Mismatch(f"{variable.name} has no range of its own", "axes", hint=hint, in_file=False)
        if ends is not None and variable.periodic:
            message = f"{variable.name} goes round in a circle; its axis covers all of it"
            raise Mismatch(message, "grid", variable.name, in_file=False)
        if ends is not None and ends[0] >= ends[1]:
            raise Mismatch(f"{ends[0]:g} is not below {ends[1]:g}", "grid", variable.name, in_file=False)


def policy_shape(policy: PolicyFile, shape: Sequence[int], space: FiniteSpace, goals: int) -> None:
    """Mismatch where a policy has not the axes or the sizes that it should have."""
    assert policy.axes is not None
    check_axes(policy.axes, TABLE_AXES, {"action", "goal"})
    check_sizes(policy.axes, shape, {"state": space.size, "action": len(space.actions), "goal": goals})


def check_axes(axes: Sequence[str], wanted: Sequence[str], optional: set[str]) -> None:
    for place, name in enumerate(axes):
        if name not in wanted:
            hint = suggest(name, wanted) or f"axes are {', '.join(wanted)}"
            raise Mismatch(f"no axis is called '{name}'", "axes", place, hint=hint, in_file=False)
        if name in axes[:place]:
            raise Mismatch(f"'{name}' is listed twice", "axes", place, in_file=False)
    missing = [name for name in wanted if name not in axes and name not in optional]
    if missing:
        raise Mismatch(f"which axis is {missing[0]}?", "axes", hint=f"axes are {', '.join(wanted)}", in_file=False)


def check_sizes(axes: Sequence[str], shape: Sequence[int], sizes: Mapping[str, int]) -> None:
    if len(shape) != len(axes):
        message = f"shape {list(shape)} has {len(shape)} axes; the spec names {len(axes)}: {', '.join(axes)}"
        raise Mismatch(message, "axes")
    for name, size in zip(axes, shape, strict=True):
        if name in sizes and size != sizes[name]:
            fits = [other for other, own in sizes.items() if own == size and other != name]
            hint = f"is it the axis of {fits[0]}s?" if fits else None
            message = f"shape {list(shape)} ({', '.join(axes)}): {size} {name}s, and there are {sizes[name]}"
            raise Mismatch(message, "axes", hint=hint)


# --- networks --------------------------------------------------------------------------------------------------


def part_shapes(
    part: Part, space: FiniteSpace | ContinuousSpace, goals: Sequence[str] | Points
) -> dict[str, tuple[int, ...]]:
    """Tensor: its shape in the file, under our own names, of each of a part's networks."""
    shapes = network_shapes(part.network, space, goals, part.outputs)
    return {f"{prefix}{name}": shape for prefix in part.prefixes for name, shape in shapes.items()}


def network_shapes(
    network: ExternalNetwork,
    space: FiniteSpace | ContinuousSpace,
    goals: Sequence[str] | Points,
    each: int | None = None,
) -> dict[str, tuple[int, ...]]:
    """Tensor: its shape in the file, under our own names; `each` outputs of every goal, one for each action."""
    count = len(goals.labels) if isinstance(goals, Points) else len(goals)
    outputs = (len(space.actions) if each is None else each) * (count if network.goal == "head" else 1)
    sizes = [inputs_of(network, space, goals), *network.widths, outputs]
    shapes: dict[str, tuple[int, ...]] = {}
    for layer, (into, out) in enumerate(zip(sizes[:-1], sizes[1:], strict=True)):
        name = f"layer{layer}" if layer < network.depth else "output"
        shapes[f"{name}.weight"] = (into, out) if network.layout == "in_out" else (out, into)
        shapes[f"{name}.bias"] = (out,)
        if network.norm == "layer" and layer < network.depth:
            shapes |= {f"{name}.scale": (out,), f"{name}.shift": (out,)}
    return shapes


def inputs_of(network: ExternalNetwork, space: FiniteSpace | ContinuousSpace, goals: Sequence[str] | Points) -> int:
    """How many numbers the first layer reads."""
    if isinstance(space, FiniteSpace):
        width = space.size if network.encoding == "one_hot" or space.cells is None else 2
        return width * len(network.blocks)
    assert isinstance(goals, Points)
    named = [space.everything[column] for column in goals.columns]
    sizes = {"state": encoded_width(observed(network, space), network.encoding)}
    sizes |= dict.fromkeys(("goal", "achieved"), encoded_width(named, network.encoding))
    sizes["action"] = len(space.controls)
    return sum(sizes[block] for block in network.blocks)


def observed(network: ExternalNetwork, space: ContinuousSpace) -> tuple[Variable, ...]:
    """The variables that a network reads of a state, in order."""
    if network.observation is None:
        return space.variables
    return tuple(space.everything[space.column(name)] for name in network.observation)
