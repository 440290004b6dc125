"""What can be wrong with a world written in a spec."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from wmlab import expressions
from wmlab.errors import suggest
from wmlab.expressions.findings import expression_findings, text_of
from wmlab.limits import ACTIONS, grouped
from wmlab.mdps.dynamics.options import NoiseTerm, Options, StateVariable, has_range
from wmlab.mdps.dynamics.step import Circle, steps_in_order
from wmlab.registry import Finding, Scope
from wmlab.registry.kinds import Path

Types = dict[str, expressions.Type]
TOLERANCE = 1e-9
NOISES = {"normal": ("mean", "sd"), "uniform": ("low", "high"), "categorical": ("values", "probabilities")}


def check(options: Options, scope: Scope) -> Iterator[Finding]:
    """Every mistake that the options hold."""
    wrong = list(check_declared(options, scope))
    yield from wrong or _check_use(options)


def check_declared(options: Options, scope: Scope) -> Iterator[Finding]:
    """The same, where steps only stand in for those that nobody knows: they need not use what is declared."""
    yield from _check_names(options, scope)
    yield from _check_state(options)
    yield from _check_actions(options)
    yield from _check_noise(options)
    yield from _check_expressions(options, scope.let)
    yield from _check_reset(options)


# --- names -----------------------------------------------------------------------------------------------------


def _check_names(options: Options, scope: Scope) -> Iterator[Finding]:
    """Every name means one thing: variables, components of actions, noise, helpers, and the spec's own numbers."""
    places: dict[str, str] = dict.fromkeys(scope.let, "let")
    components = options.components
    declared = {
        "state": tuple(options.state),
        "actions": components,
        "noise": tuple(options.noise),
        "let": tuple(options.let),
        "derived": tuple(options.derived),
    }
    for part, names in declared.items():
        for name in names:
            plain = part != "actions" or options.is_product or options.in_box
            path: Path = (part, name) if plain else (part, *_holder(options, name))
            problem = expressions.name_problem(name)
            if problem is not None:
                yield Finding(path, problem, key=True)
            elif name in places:
                where = places[name] if places[name] == "let" else f"mdp.{places[name]}"
                yield Finding(path, f"'{name}' is a name under {where} already", "rename one of them", key=True)
            else:
                places[name] = part if part != "let" else "let of the world"


def _holder(options: Options, component: str) -> tuple[str, str]:
    """The first named action that says a component."""
    return next((action, component) for action, values in options.actions.items() if component in values)


# --- variables, actions, noise ---------------------------------------------------------------------------------


def _check_state(options: Options) -> Iterator[Finding]:
    if not options.state:
        yield Finding(("state",), "no variable at all")
    counted = [name for name, variable in options.state.items() if variable.integers is not None]
    for name, variable in options.state.items():
        yield from _check_variable(variable, ("state", name))
        if counted and variable.integers is None:
            message = f"{name} is continuous and {counted[0]} is of whole numbers; a world has one sort of variables"
            yield Finding(("state", name), message, "give all of them integers, or all of them a range")


def _check_variable(variable: StateVariable, path: Path) -> Iterator[Finding]:
    kinds = [key for key in ("range", "integers", "usual") if getattr(variable, key) is not None]
    if len(kinds) != 1:
        hint = "as in {range: [-1, 1], edge: clip}, {integers: [0, 9]}, or {usual: [-1, 1]} where it has no end"
        yield Finding(
            path, f"say one of range, integers and usual{'' if not kinds else ', not ' + ' and '.join(kinds)}", hint
        )
        return
    (kind,) = kinds
    low, high = getattr(variable, kind)
    if not low < high:
        yield Finding((*path, kind), f"{low:g} is not below {high:g}", "say the lowest value first")
    if kind == "range" and variable.edge is None:
        message = "what happens at the ends of the range?"
        yield Finding((*path, "edge"), message, "say edge: clip (it is held there) or wrap (it goes round in a circle)")
    if kind == "usual" and variable.edge is not None:
        yield Finding((*path, "edge"), "a variable without a range has no ends", "say range in place of usual")


def _check_actions(options: Options) -> Iterator[Finding]:
    if options.in_box:
        yield from _check_box(options)
        return
    named = [name for name, values in options.actions.items() if isinstance(values, Mapping)]
    count = len(named) or math.prod(len(values) for values in options.actions.values())
    if count > ACTIONS:
        yield Finding(("actions",), f"{grouped(count)} actions; {grouped(ACTIONS)} are allowed")
        return
    for name, values in options.actions.items():
        if named and not isinstance(values, Mapping):
            message = f"{named[0]} is an action and {name} is a component of actions"
            yield Finding(("actions", name), message, "say component: [values] for all, or action: {component: value}")
        elif not named:
            for position, value in enumerate(values):
                if value in values[:position]:
                    yield Finding(("actions", name, position), f"{value:g} is listed twice")


def _check_box(options: Options) -> Iterator[Finding]:
    """Actions from a box: a range for each component, in a continuous world."""
    for name, said in options.actions.items():
        if not has_range(said):
            message = "says no range, and another component has one: actions are from a box, or from a list"
            yield Finding(("actions", name), message, f"as in {name}: {{range: [-1, 1]}}")
        elif tuple(said) != ("range",):
            other = next(key for key in said if key != "range")
            yield Finding(("actions", name, other), "a component has a range, and nothing else", "say {range: [-1, 1]}")
        elif not said["range"][0] < said["range"][1]:
            low, high = said["range"]
            yield Finding(("actions", name, "range"), f"{low:g} is not below {high:g}", "say the lowest value first")
    if options.finite and options.state:
        message = "a world of whole numbers has finitely many actions"
        yield Finding(("actions",), message, "list values: component: [values]", key=True)


def _check_noise(options: Options) -> Iterator[Finding]:
    for name, noise in options.noise.items():
        path = ("noise", name)
        wanted = NOISES[noise.kind]
        for key in (key for keys in NOISES.values() for key in keys):
            given = getattr(noise, key) is not None
            if given and key not in wanted:
                yield Finding(
                    (*path, key), f"{noise.kind} noise has no {key}", f"it has {' and '.join(wanted)}", key=True
                )
            elif not given and key in wanted and key != "mean":
                yield Finding(path, f"{noise.kind} noise needs {key}")
        yield from _check_distribution(noise, path)


def _check_distribution(noise: NoiseTerm, path: Path) -> Iterator[Finding]:
    if noise.kind == "normal" and noise.sd is not None and noise.sd < 0:
        yield Finding((*path, "sd"), f"{noise.sd:g} is no standard deviation; it is at least 0")
    if noise.low is not None and noise.high is not None and noise.low > noise.high:
        yield Finding((*path, "low"), f"{noise.low:g} is above {noise.high:g}")
    if noise.values is None or noise.probabilities is None:
        return
    if len(noise.values) != len(noise.probabilities):
        message = f"{len(noise.probabilities)} probabilities of {len(noise.values)} values"
        yield Finding((*path, "probabilities"), message)
        return
    for position, chance in enumerate(noise.probabilities):
        if chance < 0:
            yield Finding((*path, "probabilities", position), f"{chance:.12g} is no probability")
    total = math.fsum(noise.probabilities)
    if abs(total - 1) > TOLERANCE:
        yield Finding((*path, "probabilities"), f"sums to {total:.12g}, not 1")


# --- expressions -----------------------------------------------------------------------------------------------


def _check_expressions(options: Options, let: Collection[str]) -> Iterator[Finding]:
    # The values of the spec's numbers are written in already; their names are here for suggestions.
    numbers: Types = dict.fromkeys([*let, *options.state], "number")
    known: Types = numbers | dict.fromkeys([*options.components, *options.noise], "number")
    for name, written in options.let.items():
        wrong = list(expression_findings(written, known, ("let", name), want=None))
        yield from wrong
        known[name] = "number" if wrong else expressions.type_of(expressions.parse(text_of(written)), known)
    for name in options.next:
        if name not in options.state:
            yield Finding(("next", name), "not a state variable", suggest(name, options.state), key=True)
    for name in options.state:
        if name not in options.next:
            yield Finding(("next",), f"nothing said about '{name}'", f"where it stays as it is, say {name}: {name}")
    wrong = [
        finding
        for name, written in options.next.items()
        for finding in expression_findings(written, known, ("next", name), allow_next=options.state)
    ]
    yield from wrong
    if not wrong:
        yield from _check_order(options)
    for name, written in options.derived.items():
        yield from expression_findings(written, numbers, ("derived", name))
        numbers[name] = "number"


def _check_use(options: Options) -> Iterator[Finding]:
    """Named actions say nothing that no step asks for: it would be a misspelt component, silently without effect."""
    if options.is_product or options.in_box:  # a component that does nothing is then declared on purpose
        return
    steps = (*options.let.values(), *options.next.values())
    used = {name for written in steps for name in expressions.parse(text_of(written)).names}
    for component in options.components:
        if component not in used:
            hint = suggest(component, used.intersection(options.components)) or "{} is an action that does nothing"
            path = ("actions", *_holder(options, component))
            yield Finding(path, f"no step uses '{component}'", hint, key=True)


def _check_order(options: Options) -> Iterator[Finding]:
    """Variables whose steps wait for each other."""
    try:
        steps_in_order(options)
    except Circle as circle:
        first = circle.names[0]
        if len(circle.names) == 1:
            yield Finding(("next", first), f"next({first}) is made of itself", f"{first} is its old value")
        else:
            waiting = ", ".join(
                f"{one} waits for next({other})"
                for one, other in zip(circle.names, [*circle.names[1:], first], strict=True)
            )
            yield Finding(("next", first), f"a circle: {waiting}", "use the old value of one of them")


# --- starts ----------------------------------------------------------------------------------------------------


def _check_reset(options: Options) -> Iterator[Finding]:
    if options.reset == "uniform":
        for name, variable in options.state.items():
            if variable.usual is not None:
                message = f"uniform over {name}, which has no range"
                yield Finding(("reset",), message, f"say {name}: a value, or {{uniform: [low, high]}}")
        return
    for name in options.reset:
        if name not in options.state:
            yield Finding(("reset", name), "not a state variable", suggest(name, options.state), key=True)
    for name, variable in options.state.items():
        if name not in options.reset:
            yield Finding(("reset",), f"nothing said about '{name}'")
        else:
            yield from _check_start(options.reset[name], variable, ("reset", name))


def _check_start(start: Any, variable: StateVariable, path: Path) -> Iterator[Finding]:
    values = start["uniform"] if isinstance(start, Mapping) else (start, start)
    if values[0] > values[1]:
        yield Finding((*path, "uniform"), f"{values[0]:g} is above {values[1]:g}")
    ends = variable.integers or variable.range
    if ends is None or not ends[0] < ends[1]:
        return
    slack = 1e-6 * (ends[1] - ends[0])
    for value in dict.fromkeys(values):
        if not ends[0] - slack <= value <= ends[1] + slack:
            yield Finding(path, f"{value:g} is outside [{ends[0]:g}, {ends[1]:g}]")
        elif variable.integers is not None and value != round(value):
            yield Finding(path, f"{value:g} is not a whole number")
