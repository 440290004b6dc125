"""Mistakes in what a spec says of an agent from elsewhere, seen from the headers of its files."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any

from wmlab.agents.external.checked import check_values
from wmlab.agents.external.expect import (
    Mismatch,
    Shapes,
    chosen_tensor,
    part_shapes,
    policy_shape,
    shown,
    table_shape,
)
from wmlab.agents.external.options import Actor, ExternalNetwork, Options, PolicyFile, ValuesFile
from wmlab.agents.external.parts import Part, actor_network, parts_of
from wmlab.agents.pqn.options import Limits
from wmlab.core.continuous.points import Points, goal_points
from wmlab.core.continuous.space import ContinuousSpace
from wmlab.core.finite.goals import goal_labels
from wmlab.core.finite.space import FiniteSpace
from wmlab.core.finite.world import lookup_findings
from wmlab.errors import suggest
from wmlab.registry import Finding, Scope
from wmlab.registry.kinds import Path

COLUMNS = ("state", "action", "goal")


def check(options: Options, scope: Scope) -> Iterator[Finding]:
    """Every mistake that shows before a file's numbers are read."""
    yield from _check_form(options.q)
    if options.actions is not None and options.q.file.lower().endswith(".csv"):
        yield Finding(("actions",), "the rows of a .csv name their actions", "leave it out", key=True)
    space = scope.space
    if not isinstance(space, (FiniteSpace, ContinuousSpace)):
        return
    yield from _check_actions(options.actions, scope)
    if isinstance(space, ContinuousSpace) and options.q.network is None and options.q.file.lower().endswith(".csv"):
        yield Finding(("q", "file"), "a table over variables is in .npz or .safetensors, with declared axes")
        return
    wrong = [*check_box(options, space)]
    parts = [*parts_of(options, space)]
    wrong += [finding for part in parts for finding in _check_network(part, scope)]
    yield from wrong
    if wrong:
        return
    if isinstance(space, ContinuousSpace) and isinstance(options.policy, PolicyFile):
        message = "a policy from a file needs a finite world"
        yield Finding(("policy", "kind"), message, "say greedy or uniform")
    try:
        goals = _goals(scope)
    except LookupError:  # told where the goals are checked
        return
    if isinstance(goals, Points):
        wrong = [finding for part in parts for finding in _check_wanted(part, goals, scope.space)]
        yield from wrong
        if wrong:
            return
    if options.q.network is None:
        wrong = list(_check_file(options.q, scope, ("q",), lambda held: _check_table(options.q, held, space, goals)))
    for part in parts:
        wrong += _check_file(part, scope, (part.name,), functools.partial(_check_weights, part, space, goals))
    yield from wrong
    if isinstance(goals, Points) and not wrong:
        yield from check_values(options, scope, goals)
    if isinstance(options.policy, PolicyFile) and isinstance(space, FiniteSpace):
        policy, count = options.policy, _count(goals)
        yield from _check_file(policy, scope, ("policy",), lambda held: _check_policy(policy, held, space, count))


def check_box(options: Options, space: FiniteSpace | ContinuousSpace) -> Iterator[Finding]:
    """Actions from a box need a critic that reads them, and the actor or V that goes with it; a list has none."""
    if not isinstance(space, ContinuousSpace) or not space.in_box:
        for name in ("actor", "v"):
            if getattr(options, name) is not None:
                yield Finding(
                    (name,), "this world has a list of actions", "leave it out; policy says what is done", True
                )
        if options.q.critics is not None:
            yield Finding(("q", "critics"), "this world has a list of actions, and one network of them", "leave it out")
        return
    network = options.q.network
    if network is None:
        yield Finding(("q",), "a table has finitely many actions, and this world's are from a box", "say q.network")
        return
    if options.actor is None and options.v is None:
        message = "whose values are these? Of actions from a box no best one can be looked up"
        yield Finding((), message, "say actor, a network of what is done, or v, a network of V")
    if options.policy != "greedy":
        yield Finding(("policy",), "of actions from a box the actor is the policy", "leave it out", key=True)
    for name, other in (("actor", options.actor), ("v", options.v)):
        if other is not None and other.network is not None and other.network.encoding != network.encoding:
            message = f"the critic's is {network.encoding}; networks of one agent read states and goals alike"
            yield Finding((name, "network", "encoding"), message)
    if options.actor is not None:
        yield from check_chance(options.actor)
    if options.actor is not None and actor_network(options).output != "linear":
        yield Finding(("actor", "network", "output"), "the actor's own `squash` bounds its outputs", "leave it out")


def check_chance(actor: Actor) -> Iterator[Finding]:
    """Noise is of TD3, and deviation and entropy of SAC."""
    if actor.deviation and actor.noise:
        yield Finding(("actor", "noise"), "actions are drawn by their own deviation", "say one of noise and deviation")
    if actor.deviation and actor.squash != "tanh":
        yield Finding(("actor", "squash"), "what is drawn is taken through a tanh", "say tanh")
    for name, needs in (("noise_clip", "noise"), ("entropy", "deviation")):
        if getattr(actor, name) and not getattr(actor, needs):
            yield Finding(("actor", name), f"means nothing without {needs}", "leave it out", key=True)


def _goals(scope: Scope) -> tuple[str, ...] | Points:
    goals, space = scope.goals, scope.space
    if goals is None:
        raise LookupError("the goals are in error")
    return goal_points(goals, space) if isinstance(space, ContinuousSpace) else goal_labels(goals, space)


def _check_actions(actions: tuple[str, ...] | None, scope: Scope) -> Iterator[Finding]:
    in_box = isinstance(scope.space, ContinuousSpace) and scope.space.in_box
    known = scope.space.controls if in_box else scope.space.actions
    what = "component of actions" if in_box else "action"
    if actions is None:
        return
    for place, name in enumerate(actions):
        if name not in known:
            yield Finding(("actions", place), f"no {what} '{name}'", suggest(name, known))
        elif name in actions[:place]:
            yield Finding(("actions", place), f"'{name}' is listed twice")
    missing = [name for name in known if name not in actions]
    if missing:
        yield Finding(("actions",), f"nothing said about {what} '{missing[0]}'")


def _check_form(q: ValuesFile) -> Iterator[Finding]:
    text = q.file.lower().endswith(".csv")
    if q.network is not None:
        for name in ("tensor", "axes", "grid"):
            if getattr(q, name):
                yield Finding(("q", name), "this is of a table, and q.network says that the file holds weights")
        if text:
            yield Finding(("q", "file"), "weights are in .safetensors or .npz, not in .csv")
    elif text:
        for name in ("tensor", "axes"):
            if getattr(q, name):
                yield Finding(("q", name), "the columns of a .csv say what they are", "leave it out")
    elif q.axes is None:
        yield Finding(("q", "axes"), "which axis is which?", "as in axes: [state, action, goal]")


def _check_network(part: Part, scope: Scope) -> Iterator[Finding]:
    path, space, network = (part.name, "network"), scope.space, part.network
    if len(network.widths) != network.depth:
        yield Finding((*path, "width"), f"{len(network.widths)} given, of {network.depth} hidden layers")
    if isinstance(network.output, Limits) and network.output.low >= network.output.high:
        low, high = network.output.low, network.output.high
        yield Finding((*path, "output"), f"low ({low:g}) is not below high ({high:g})")
    if network.goal == "input":
        for word in ("state", "goal"):
            if network.inputs.count(word) != 1:
                yield Finding((*path, "inputs"), f"goal: input reads {word} once; inputs say {list(network.inputs)}")
    yield from _check_action_input(part, space, path)
    yield from _check_encoding(network, space, path)
    known = part.tensor_names()
    for name in network.tensors or ():
        if name not in known:
            hint = suggest(name, known) or f"there are {', '.join(known[:6])}, …"
            yield Finding((*path, "tensors", name), f"this network has no tensor '{name}'", hint, key=True)


def _check_action_input(part: Part, space: Any, path: Path) -> Iterator[Finding]:
    """A critic of actions from a box reads one, and no other network does."""
    network = part.network
    reads = part.name == "q" and isinstance(space, ContinuousSpace) and space.in_box
    goal = ["goal"] if network.goal == "input" else []
    strange = [
        word for word in ("goal", "achieved") if not goal and "action" in network.inputs and word in network.inputs
    ]
    if network.blocks.count("action") == int(reads) and not strange:
        return
    message = "a critic of actions from a box reads an action" if reads else "this network reads no action"
    message = f"with goal: head no {strange[0]} is read" if strange else message
    fitting = ", ".join(["state", *goal, *(["action"] if reads else [])])
    yield Finding((*path, "inputs"), f"{message}; inputs say {list(network.inputs)}", f"as in inputs: [{fitting}]")


def _check_encoding(network: ExternalNetwork, space: Any, path: Path) -> Iterator[Finding]:
    if isinstance(space, ContinuousSpace):
        if network.encoding == "one_hot":
            message = "one_hot needs finitely many states"
            yield Finding((*path, "encoding"), message, "say raw, normalised or sincos")
        if network.observation is None:
            message = "which variables does it read, and in which order?"
            yield Finding((*path, "observation"), message, f"as in observation: [{', '.join(space.names)}]")
        for key in ("observation", "wanted"):
            for place, name in enumerate(getattr(network, key) or ()):
                yield from lookup_findings(space.column, name, (*path, key, place))
        return
    if network.encoding == "sincos":
        message = "sincos needs variables that go round in a circle"
        yield Finding((*path, "encoding"), message, "say one_hot, raw or normalised")
    for key in ("observation", "wanted"):
        if getattr(network, key) is not None:
            yield Finding((*path, key), "a finite world has no variables to read", "leave it out", key=True)
    if network.goal == "input" and ("achieved" in network.inputs or network.encoding != "one_hot"):
        message = "in a finite world a network that reads goals reads state and goal as one_hot"
        yield Finding((*path, "goal"), message, "say encoding: one_hot, or goal: head")


def _check_wanted(part: Part, goals: Points, space: ContinuousSpace) -> Iterator[Finding]:
    """A network that reads goals reads each of their variables, in a known order."""
    path, network = (part.name, "network", "wanted"), part.network
    named = [space.everything[column].name for column in goals.columns]
    if network.goal == "head":
        if network.wanted is not None:
            yield Finding(path, "this network reads no goal", "say goal: input, or leave it out", key=True)
    elif not goals.alike:
        yield Finding((part.name, "network", "goal"), "goals name different variables, which one input cannot hold")
    elif network.wanted is None and len(named) > 1:
        message = "in which order are the goal's variables read?"
        yield Finding(path, message, f"as in wanted: [{', '.join(named)}]")
    elif network.wanted is not None and sorted(network.wanted) != sorted(named):
        yield Finding(path, f"goals name {', '.join(named)}, each of which is read once")


# --- what files hold -------------------------------------------------------------------------------------------


def _check_file(source: ValuesFile | PolicyFile | Part, scope: Scope, path: Path, look: Any) -> Iterator[Finding]:
    """Findings about a file's headers, where they can be read here."""
    if scope.holds is None:
        return
    try:
        held = scope.holds(source.file)
    except LookupError:
        return  # it is not there, or is no such file: told where files are checked
    except ValueError as error:
        yield Finding((*path, "file"), f"{source.file}: {error}")
        return
    if source.file.lower().endswith(".csv"):
        yield from _check_columns(source, held, path)
        return
    try:
        yield from look(held)
    except Mismatch as wrong:
        yield Finding((*path, *wrong.path), f"{source.file}: {wrong}" if wrong.in_file else str(wrong), wrong.hint)


def _check_columns(source: ValuesFile | PolicyFile | Part, held: Shapes, path: Path) -> Iterator[Finding]:
    last = "value" if isinstance(source, ValuesFile) else "probability"
    if {*held} not in ({*COLUMNS, last}, {*COLUMNS, last} - {"goal"}):
        columns = ", ".join(held) or "nothing"
        message = f"{source.file}: expected the columns {', '.join(COLUMNS)}, {last}, not {columns}"
        yield Finding((*path, "file"), message)


def _check_table(q: ValuesFile, held: Shapes, space: Any, goals: Sequence[str] | Points) -> Iterator[Finding]:
    if q.axes is not None:
        table_shape(q, held[chosen_tensor(q.tensor, held)], space, _count(goals))
    yield from ()


def _check_weights(part: Part, space: Any, goals: Sequence[str] | Points, held: Shapes) -> Iterator[Finding]:
    """Every tensor is there, and of the shape that the spec implies."""
    for name, shape in part_shapes(part, space, goals).items():
        theirs = part.network.name_of(name)
        said = name in (part.network.tensors or ())
        if theirs not in held:
            hint = suggest(theirs, held)
            there = "" if hint else f"; it holds {shown(held)}"
            place = (part.name, "network", "tensors", name) if said else (part.name, "file")
            yield Finding(place, f"{part.file}: no tensor '{theirs}'{there}", hint)
        elif tuple(held[theirs]) != shape:
            yield Finding((part.name, "file"), *_wrong_shape(part, name, theirs, held[theirs], shape))


def _wrong_shape(
    part: Part, name: str, theirs: str, shape: tuple[int, ...], expected: tuple[int, ...]
) -> tuple[str, str | None]:
    hint = None
    if tuple(shape) == expected[::-1]:
        other = "in_out" if part.network.layout == "out_in" else "out_in"
        hint = f"its axes are the other way round: say layout: {other}"
    return f"{part.file}: '{theirs}' has shape {list(shape)}; expected {list(expected)} for {name}", hint


def _check_policy(policy: PolicyFile, held: Shapes, space: FiniteSpace, goals: int) -> Iterator[Finding]:
    if policy.axes is None:
        yield Finding(("policy", "axes"), "which axis is which?", "as in axes: [state, action, goal]")
        return
    policy_shape(policy, held[chosen_tensor(policy.tensor, held)], space, goals)


def _count(goals: Sequence[str] | Points) -> int:
    return len(goals.labels) if isinstance(goals, Points) else len(goals)
