"""What can be wrong with a gymnax world, told without importing gymnax."""

from __future__ import annotations

from collections.abc import Iterator

from wmlab.errors import one_of, suggest
from wmlab.mdps.dynamics.check import check_declared
from wmlab.mdps.gymnax.catalogue import environment_files, fields
from wmlab.mdps.gymnax.environments import ENVIRONMENTS, DeclaredEnvironment
from wmlab.mdps.gymnax.options import Options
from wmlab.mdps.gymnax.written import StatePath
from wmlab.registry import Finding, Scope


def check(options: Options, scope: Scope) -> Iterator[Finding]:
    wrong = list(_check_environment(options))
    yield from wrong
    if wrong:
        return
    if options.known is not None and options.actions is not None:
        wrong = list(_check_actions(options.actions, options.known))
        yield from wrong
    if options.state is None and options.derived:
        message = f"derived variables need a state that the spec declares; {options.env} has its own"
        yield Finding(("derived",), message)
        return
    yield from _check_paths(options)
    if not wrong:
        written = {"state", "derived", "reset", "actions"} if options.state is not None else set()
        written |= {"reset"} if options.reset is not None else set()
        declared = check_declared(options.as_dynamics(), scope)
        yield from (finding for finding in declared if finding.path[0] in written)


def _check_environment(options: Options) -> Iterator[Finding]:
    """That gymnax has the environment, and that its state and actions are known or declared."""
    names = environment_files() or ENVIRONMENTS
    if options.env not in names and options.env not in ENVIRONMENTS:
        hint = suggest(options.env, names) or "`wmlab reference mdp.gymnax` lists them"
        yield Finding(("env",), f"gymnax has no environment '{options.env}'", hint)
    elif options.known is None and options.state is None:
        held = fields(options.env)
        hint = "say state: {variable: {path: …, range: […], edge: …}}"
        hint += f"; gymnax's state holds {', '.join(held)}" if held else ""
        yield Finding(("env",), f"gymnax environment '{options.env}' has no declared state", hint)
    elif options.known is None and options.actions is None:
        hint = "say component: [values], as in {push: [0, 1, 2]}"
        yield Finding(("env",), f"wmlab does not know the actions of '{options.env}'", f"{hint} under actions")


def _check_paths(options: Options) -> Iterator[Finding]:
    """Every variable stands in gymnax's state, each in a place of its own."""
    held, taken = fields(options.env), dict[StatePath, str]()
    for name, variable in (options.state or {}).items():
        text = variable.path or name
        at = ("state", name, "path") if variable.path else ("state", name)
        path = StatePath.read(text)
        if path is None:
            yield Finding(at, f"'{text}' is no path into gymnax's state", "say a field, or a number of one: angles[0]")
        elif held and path.field not in held:
            hint = suggest(path.field, held) or f"say path: {one_of(held)}"
            yield Finding(at, f"the state of {options.env} has no '{path.field}'", hint, key=not variable.path)
        elif path in taken:
            yield Finding(at, f"{path} is {taken[path]} already")
        else:
            taken[path] = name


def _check_actions(actions: dict[str, tuple[float, ...]], declared: DeclaredEnvironment) -> Iterator[Finding]:
    known = {control.name: control for control in declared.controls}
    for name in actions:
        if name not in known:
            hint = suggest(name, known) or f"say {one_of(known)}"
            yield Finding(("actions", name), f"{declared.name} has no action component '{name}'", hint)
    for name, control in known.items():
        if name not in actions:
            yield Finding(("actions",), f"values of {name} are missing")
            continue
        for position, value in enumerate(actions[name]):
            if not control.allows(value):
                ends = f"from {control.low:g} to {control.high:g}"
                allowed = one_of(f"{each:g}" for each in control.values) if control.only else ends
                yield Finding(("actions", name, position), f"{value:g} is not possible; {name} is {allowed}")
            if value in actions[name][:position]:
                yield Finding(("actions", name, position), f"{value:g} is listed twice")
