"""What can be wrong with a world of whole numbers, beyond what is wrong with any world written in a spec."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from wmlab.core.memory import gib, physical_memory
from wmlab.expressions.findings import NO_VALUE
from wmlab.mdps.dynamics.finite import Astray, kernel, outcomes_of
from wmlab.mdps.dynamics.options import Options
from wmlab.mdps.dynamics.space import actions_of, coordinates_of, ends_of, finite_space
from wmlab.registry import Finding

TRIED = 2_000_000  # a world with no more outcomes than this is worked out when a spec is validated, too
PER_OUTCOME, PER_PAIR, PER_STATE = 72, 64, 200  # bytes, while the table is made: measured, rounded up


def check_finite(options: Options) -> Iterator[Finding]:
    """Mistakes of a world of whole numbers whose expressions are sound: endless chance, no room, steps astray."""
    wrong = [*_check_chance(options), *_check_derived(options)]
    yield from wrong
    if wrong:
        return
    states = math.prod(high - low + 1 for low, high in ends_of(options))
    actions, branches = (
        len(actions_of(options)[0]),
        math.prod(len(outcomes_of(one)[0]) for one in options.noise.values()),
    )
    held = PER_PAIR + 8 * (len(options.state) + len(options.let))  # for each state and action, at each outcome anew
    needed = states * (PER_STATE + actions * (held + branches * PER_OUTCOME))
    there = physical_memory()
    if needed > there:
        shape = " x ".join(f"{count:,}".replace(",", " ") for count in (states, actions, branches))
        message = f"{shape} states, actions and outcomes of chance need {gib(needed)} GiB, and there are {gib(there)}"
        yield Finding(("state",), message, "give variables fewer values, or noise fewer outcomes")
    elif states * actions * branches <= TRIED:
        try:
            kernel(options, finite_space(options))
        except Astray as astray:
            yield Finding(("next", astray.variable), astray.message, _remedy(options, astray))


def _check_chance(options: Options) -> Iterator[Finding]:
    for name, noise in options.noise.items():
        if noise.kind == "normal":
            message = "normal noise has a continuum of values, and a world of whole numbers needs finitely many"
            yield Finding(("noise", name, "kind"), message, "use categorical, or uniform over whole numbers")
        for key in ("low", "high") if noise.kind == "uniform" else ():
            value = getattr(noise, key)
            if value != round(value):
                message = f"{value:g} is not a whole number; in a world of whole numbers uniform noise is one"
                yield Finding(("noise", name, key), message)


def _check_derived(options: Options) -> Iterator[Finding]:
    """A derived number has a value everywhere; looked at only where it is cheap."""
    if math.prod(high - low + 1 for low, high in ends_of(options)) > TRIED:
        return
    coordinates = coordinates_of(options)
    for column, name in list(enumerate(coordinates.names))[coordinates.own :]:
        missing = np.flatnonzero(~np.isfinite(coordinates.values[:, column]))
        if len(missing):
            place = coordinates.label(coordinates.values[missing[0], : coordinates.own])
            yield Finding(("derived", name), f"has no value at {place}", NO_VALUE)


def _remedy(options: Options, astray: Astray) -> str | None:
    if not math.isfinite(astray.value):
        return NO_VALUE
    if options.state[astray.variable].edge is None:
        return f"say mdp.state.{astray.variable}.edge: clip or wrap, or keep it inside"
    return "floor(…) makes a whole number"
