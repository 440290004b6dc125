"""Environments of gymnax with a named state: those that wmlab knows, and any other whose state a spec declares.

Rewards and ends come from the goals of a spec, never from the environment.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import TYPE_CHECKING

from wmlab.core.continuous.space import ContinuousSpace, Variable, product_of_actions
from wmlab.core.finite.space import FiniteSpace
from wmlab.mdps.dynamics.space import continuous_space, finite_space, start_of, variable_of
from wmlab.mdps.gymnax.catalogue import environment_files, fields
from wmlab.mdps.gymnax.check import check
from wmlab.mdps.gymnax.environments import ENVIRONMENTS, DeclaredEnvironment
from wmlab.mdps.gymnax.options import EnvVariable, Options
from wmlab.mdps.gymnax.written import StatePath, WrittenEnvironment
from wmlab.registry import WorldTraits, always, fixed, mdps

if TYPE_CHECKING:
    from wmlab.core.continuous.dynamics import ContinuousWorld
    from wmlab.core.finite.world import FiniteWorld


def space(options: Options) -> ContinuousSpace | FiniteSpace:
    """The named state of an environment, and its actions."""
    if options.finite:
        return finite_space(options.as_dynamics())
    if options.state is not None:
        return continuous_space(options.as_dynamics())
    declared = options.known
    assert declared is not None
    names, values = product_of_actions(options.controls)
    own = ContinuousSpace(
        *(declared.variables, names, tuple(options.controls), values),
        *(declared.starts, declared.derived, declared.derive),
    )
    if options.reset is None:
        return own
    chosen = options.as_dynamics()
    return dataclasses.replace(own, starts=tuple(start_of(chosen, name) for name in own.names))


def written(options: Options) -> WrittenEnvironment:
    """The environment with the state that the spec declares."""
    state = options.state or {}
    paths = [StatePath.read(variable.path or name) for name, variable in state.items()]
    variables = tuple(_whole(name, each) or variable_of(name, each) for name, each in state.items())
    act = None if options.known is None else options.known.act
    return WrittenEnvironment(options.env, variables, tuple(path for path in paths if path is not None), act)


def _whole(name: str, variable: EnvVariable) -> Variable | None:
    """A variable of whole numbers; on a circle the first follows the last."""
    if variable.integers is None:
        return None
    low, high = variable.integers
    return Variable(name, low, high + (variable.edge == "wrap"), variable.edge or "open")


def table() -> tuple[tuple[str, ...], ...]:
    """For the reference: every environment, with its variables or with what gymnax's state holds."""
    names = sorted({*environment_files(), *ENVIRONMENTS})
    return ("environment", "variables"), *((f"`{name}`", _variables(name)) for name in names)


def _variables(name: str) -> str:
    if name not in ENVIRONMENTS:
        return f"to be declared under `state`; gymnax's state holds {_listed(fields(name)) or 'nothing else'}"
    declared: DeclaredEnvironment = ENVIRONMENTS[name]
    controls = [f"`{each.name}` ({', '.join(f'{value:g}' for value in each.values)})" for each in declared.controls]
    derived = f"; derived {_listed(each.name for each in declared.derived)}" if declared.derived else ""
    return f"{_listed(each.name for each in declared.variables)}{derived}; actions {', '.join(controls)}"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


@mdps.register(
    "gymnax",
    Options,
    WorldTraits(
        space=space,
        sort=lambda options: "finite" if options.finite else "continuous",
        ordered=("state", "actions", "derived"),
        max_successors=fixed(1),
        is_deterministic=always,
        table=table,
    ),
    check=check,
)
def gymnax(options: Options, seed: int) -> ContinuousWorld | FiniteWorld:
    """A gymnax environment with a named state, without its own reward and end."""
    from wmlab.mdps.gymnax.worlds import continuous_world, finite_world

    where = space(options)
    if isinstance(where, FiniteSpace):
        return finite_world(written(options), options.as_dynamics(), where, options.horizon)
    declared = options.known if options.state is None else written(options)
    assert declared is not None
    return continuous_world(declared, where, options.horizon)
