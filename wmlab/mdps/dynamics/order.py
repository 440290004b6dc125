"""In which order variables step, where some wait for next(…) of others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


class Circle(ValueError):
    """Variables that wait for each other."""

    def __init__(self, names: Sequence[str]):
        self.names = tuple(names)  # each waits for the one behind it, and the last for the first
        super().__init__(" -> ".join([*names, names[0]]))


def ordered(needs: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """The variables, each behind those that it needs; Circle where there is no such order."""
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
