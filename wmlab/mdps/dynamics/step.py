"""What a step does as it is written: helpers, then each variable's next value behind those that it waits for."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wmlab import expressions
from wmlab.expressions.findings import text_of
from wmlab.mdps.dynamics.options import Options

Texts = tuple[tuple[str, str], ...]  # name and expression
Programs = list[tuple[str, Any]]  # name and compiled expression


class Circle(ValueError):
    """Variables that wait for each other."""

    def __init__(self, names: Sequence[str]):
        self.names = tuple(names)  # each waits for the one behind it, and the last for the first
        super().__init__(" -> ".join([*names, names[0]]))


@dataclass(frozen=True)
class WrittenStep:
    """The expressions of a step. Equal steps hash alike, so that programs are compiled once."""

    given: tuple[str, ...]  # variables, components of an action, noise
    let: Texts  # in order
    next: Texts  # each variable behind those that it waits for

    @classmethod
    def of(cls, options: Options) -> WrittenStep:
        return cls(
            (*options.state, *options.components, *options.noise),
            tuple((name, text_of(written)) for name, written in options.let.items()),
            tuple((name, text_of(options.next[name])) for name in steps_in_order(options)),
        )

    def run(self, xp: Any, env: dict[str, Any], settle: Callable[[str, Any], Any]) -> None:
        """Add every helper to `env`, and next(v) of every variable as `settle` leaves it."""
        helpers, steps = _programs(self)
        for name, program in helpers:
            env[name] = program(xp, env)
        for name, program in steps:
            env[expressions.next_name(name)] = settle(name, program(xp, env))


@functools.cache
def _programs(step: WrittenStep) -> tuple[Programs, Programs]:
    """The helpers and the steps as functions of arrays, in the order in which they are worked out."""
    known: dict[str, expressions.Type] = dict.fromkeys(step.given, "number")
    helpers = []
    for name, text in step.let:
        kind = expressions.type_of(expressions.parse(text), known)
        helpers.append((name, expressions.compile(text, known, want=kind)))
        known[name] = kind
    names = [name for name, _ in step.next]
    return helpers, [(name, expressions.compile(text, known, allow_next=names)) for name, text in step.next]


def steps_in_order(options: Options) -> tuple[str, ...]:
    """The variables, each behind those whose next(…) its own step needs; Circle where there is no such order."""
    needs = {
        name: expressions.parse(text_of(options.next[name])).nexts for name in options.state if name in options.next
    }
    done: dict[str, None] = {}
    for name in needs:
        _visit(name, needs, done, [])
    return tuple(done)


def _visit(name: str, needs: Mapping[str, Sequence[str]], done: dict[str, None], waiting: list[str]) -> None:
    if name in done:
        return
    if name in waiting:
        raise Circle(waiting[waiting.index(name) :])
    for other in needs[name]:
        if other in needs:
            _visit(other, needs, done, [*waiting, name])
    done[name] = None
