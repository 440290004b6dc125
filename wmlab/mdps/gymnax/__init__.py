"""Environments of gymnax whose state is declared, with names.

Rewards and ends come from the goals of a spec, never from the environment.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wmlab.core.continuous.space import ContinuousSpace, product_of_actions
from wmlab.errors import one_of, suggest
from wmlab.mdps.gymnax.environments import ENVIRONMENTS, DeclaredEnvironment
from wmlab.registry import Finding, Scope, WorldTraits, always, mdps, option
from wmlab.registry.options import NUMBERS

if TYPE_CHECKING:
    from wmlab.core.continuous.dynamics import ContinuousWorld


@dataclass(frozen=True)
class Options:
    env: str = option(doc="Name of a gymnax environment whose state is declared: " + one_of(ENVIRONMENTS) + ".")
    actions: dict[str, tuple[float, ...]] | None = option(
        None,
        doc="Component of an action: its values; the actions are their product. Null: the environment's own.",
        schema={"type": ["object", "null"], "additionalProperties": NUMBERS, "minProperties": 1},
        whole=True,
        example={"torque1": [-1, 0, 1], "torque2": [-1, 0, 1]},
    )
    horizon: int | None = option(None, doc="Steps until an episode is cut; null: gymnax's own number.", at_least=1)


def check(options: Options, scope: Scope) -> Iterator[Finding]:
    declared = ENVIRONMENTS.get(options.env)
    if declared is None:
        hint = suggest(options.env, ENVIRONMENTS) or f"declared are {', '.join(ENVIRONMENTS)}"
        yield Finding(("env",), f"gymnax environment '{options.env}' has no declared state", hint)
    elif options.actions is not None:
        yield from _check_actions(options.actions, declared)


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


def space(options: Options) -> ContinuousSpace:
    """The named state of an environment, and its actions."""
    declared = ENVIRONMENTS[options.env]
    given = options.actions or {control.name: control.values for control in declared.controls}
    ordered = {control.name: given[control.name] for control in declared.controls}
    names, values = product_of_actions(ordered)
    return ContinuousSpace(
        declared.variables, names, tuple(ordered), values, declared.starts, declared.derived, declared.derive
    )


@mdps.register(
    "gymnax",
    Options,
    WorldTraits(space=space, sort="continuous", is_deterministic=always),
    check=check,
)
def gymnax(options: Options, seed: int) -> ContinuousWorld:
    """A gymnax environment with a named state, without its own reward and end."""
    from wmlab.mdps.gymnax.step import world_of

    declared = ENVIRONMENTS[options.env]
    return world_of(declared, space(options), options.horizon or declared.horizon)
