"""Kinds, the families that they belong to, and what their checks see and say."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from wmlab.registry.options import build


@dataclass(frozen=True)
class Finding:
    """A mistake in meaning that a kind found in its own options."""

    path: tuple[str | int, ...]  # below the kind's own mapping
    message: str
    hint: str | None = None
    key: bool = False  # the mistake is in the last key of the path, not in the value behind it
    offset: int | None = None  # where the mistake is in the value's text, from 0


@dataclass(frozen=True)
class Scope:
    """What a meaning check may look at beside its own options."""

    space: Any = None  # the FiniteSpace or ContinuousSpace of the spec's mdp, or None where that is itself in error
    experiment: Mapping[str, Any] = dataclasses.field(default_factory=dict)  # the whole resolved experiment
    let: tuple[str, ...] = ()  # the names under `let`; their values are written into expressions already
    # File: the shapes of the arrays in it, from its headers; LookupError where there is none, ValueError where it is
    # not to be trusted. None: files cannot be looked into here.
    holds: Callable[[str], Mapping[str, tuple[int, ...]]] | None = None


@dataclass(frozen=True)
class Kind:
    """One word that `kind:` may hold."""

    family: str
    name: str
    options: type
    run: Callable[..., Any]
    check: Callable[[Any, Scope], Iterable[Finding]]
    traits: Mapping[str, Any]  # what else the family asks of its kinds, e.g. world="finite"

    def build(self, data: Mapping[str, Any]) -> Any:
        """The options record for resolved data; a plan's `order` says in which order mappings were written."""
        kept = {key: value for key, value in data.items() if key not in ("kind", "order")}
        for part, names in data.get("order", {}).items():
            kept[part] = {name: kept[part][name] for name in names}
        return build(self.options, kept)

    @property
    def module(self) -> str:
        return self.run.__module__

    @property
    def doc(self) -> str:
        return first_sentence(self.run.__doc__)


def no_findings(options: Any, scope: Scope) -> Iterator[Finding]:
    """The check of a kind whose options are right whenever the schema says so."""
    return iter(())


class Family:
    """The kinds that may stand in one place of a spec. Closed: a kind not in `modules` does not exist."""

    def __init__(self, name: str, noun: str, package: str, modules: Iterable[str], doc: str):
        self.name, self.noun, self.doc = name, noun, doc
        self.modules = {module: f"{package}.{module}" for module in modules}
        self._kinds: dict[str, Kind] = {}

    def register(
        self,
        name: str,
        options: type,
        check: Callable[[Any, Scope], Iterable[Finding]] = no_findings,
        **traits: Any,
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        if name not in self.modules:
            raise LookupError(f"{name} is not in the list of {self.noun} kinds in wmlab/registry/families.py")

        def decorate(run: Callable[..., Any]) -> Callable[..., Any]:
            self._kinds[name] = Kind(self.name, name, options, run, check, traits)
            return run

        return decorate

    def __getitem__(self, name: str) -> Kind:
        if name not in self._kinds:
            importlib.import_module(self.modules[name])
        return self._kinds[name]

    def __contains__(self, name: object) -> bool:
        return name in self.modules

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self.modules))


def first_sentence(text: str | None) -> str:
    return (text or "").strip().split("\n")[0]
