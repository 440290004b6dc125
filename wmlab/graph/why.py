"""Why a stage will run: what differs between its key and the key of its last run, in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from wmlab.graph.key import Key
from wmlab.graph.stage import Stages, canonical, digest

_LONGEST_VALUE = 40
_MOST_REASONS = 3
_ABSENT = object()


@dataclass(frozen=True)
class Reason:
    """Whether a stage's answer is known, and if not, why it has to be found."""

    cached: bool
    why: tuple[str, ...] = ()  # empty when cached

    @property
    def state(self) -> str:
        return "cached" if self.cached else "will run"

    @property
    def text(self) -> str:
        """The first few reasons, on one line."""
        more = len(self.why) - _MOST_REASONS
        return "; ".join(self.why[:_MOST_REASONS]) + (f"; and {more} more" if more > 0 else "")


def reasons(
    stages: Stages,
    keys: Mapping[str, Key],
    has: Callable[[str], bool],
    last_parts: Callable[[str], Mapping[str, Any] | None],
) -> dict[str, Reason]:
    """For each stage: cached, or will run and why.

    `has(hash)` says whether the store holds an answer; `last_parts(label)` gives the parts of the key under which
    the stage of that label last ran, None if it never did.
    """
    known: dict[str, Reason] = {}
    for identity, stage in stages.items():
        if has(keys[identity].hash):
            known[identity] = Reason(cached=True)
            continue
        last = last_parts(stage.label)
        running = {name for name, other in stage.inputs.items() if not known[other].cached}
        why = ("never run",) if last is None else tuple(_changes(last, keys[identity], running))
        known[identity] = Reason(cached=False, why=why)
    return known


def _changes(last: Mapping[str, Any], key: Key, running: set[str]) -> Iterator[str]:
    if digest(last) == key.hash:
        yield "cached entry was removed"
        return
    words = [
        *_params(last, key.parts),
        *_inputs(last.get("inputs", {}), key.parts["inputs"], running),
        *_code(last.get("code", {}), key.parts["code"]),
        *_versions(last, key.parts),
    ]
    # A record written by a release that took keys from other parts differs without any part that we can name.
    yield from words or ["the last run's key was taken in another way"]


def _params(last: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    if last.get("kind") != now["kind"]:
        yield f"kind changed: {last.get('kind')} → {now['kind']}"
    for path, before, after in differences(last.get("params", {}), now["params"]):
        if before is _ABSENT:
            yield f"{path} added: {shorten(after)}"
        elif after is _ABSENT:
            yield f"{path} removed: was {shorten(before)}"
        else:
            yield f"{path} changed: {shorten(before)} → {shorten(after)}"


def _inputs(last: Mapping[str, str], now: Mapping[str, str], running: set[str]) -> Iterator[str]:
    for name, value in now.items():
        if name not in last:
            yield f"input '{name}' is new"
        elif last[name] != value:
            yield f"input '{name}' will run" if name in running else f"input '{name}' changed"
    yield from (f"input '{name}' is gone" for name in last if name not in now)


def _code(last: Mapping[str, str], now: Mapping[str, str]) -> Iterator[str]:
    # What changed comes first: a changed import is the cause, the modules that it brings along are the effect.
    yield from _modules([module for module in now if module in last and last[module] != now[module]], "changed")
    yield from _modules([module for module in now if module not in last], "is new")
    yield from _modules([module for module in last if module not in now], "is no longer used")


def _modules(modules: list[str], what: str) -> Iterator[str]:
    """One line for what happened to the code of one or of many modules."""
    if modules:
        more = f" and {len(modules) - 1} more" if len(modules) > 1 else ""
        yield f"code of {modules[0]}{more} {what}"


def _versions(last: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    before, after = last.get("versions", {}), now["versions"]
    for name in sorted({*before, *after}):
        if before.get(name) != after.get(name):
            yield f"{name} {before.get(name) or 'none'} → {after.get(name) or 'none'}"
    for part in ("device", "cores"):
        if last.get(part) != now[part]:
            yield f"{part} {last.get(part)} → {now[part]}"


def differences(*values: Any, path: str = "") -> Iterator[tuple[Any, ...]]:
    """The places where pieces of JSON data are not all as in the first: a dotted path, and what each has there."""
    if all(isinstance(value, Mapping) for value in values):
        for key in dict.fromkeys(key for value in reversed(values) for key in value):
            inner = f"{path}.{key}" if path else str(key)
            yield from differences(*(value.get(key, _ABSENT) for value in values), path=inner)
    elif all(map(_is_list, values)) and len({len(value) for value in values}) == 1:
        for position, each in enumerate(zip(*values, strict=True)):
            yield from differences(*each, path=f"{path}[{position}]")
    elif len(set(map(_as_written, values))) > 1:
        yield path, *values


def _as_written(value: Any) -> str | None:
    """What tells a value from others: 1 and 1.0 are equal in Python and make other keys."""
    return None if value is _ABSENT else canonical(value)


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple))


def shorten(value: Any) -> str:
    """A value as a person would write it, cut where it is long."""
    text = value if isinstance(value, str) else canonical(value)
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"
