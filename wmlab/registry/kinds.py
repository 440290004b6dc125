"""Kinds, the families that they belong to, and what their checks see and say."""

from __future__ import annotations

import dataclasses
import functools
import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Self, TypeVar

from wmlab.registry.discovery import GROUP, KindError, outside, own_kinds
from wmlab.registry.options import build, field_types
from wmlab.registry.traits import AgentTraits, ExtractionTraits, Traits, WorldTraits, fixed

Path = tuple[str | int, ...]
T = TypeVar("T", bound=Traits)
R = TypeVar("R", bound=Callable[..., Any])  # what a kind of the family is called with, and gives


@dataclass(frozen=True)
class Finding:
    """A mistake in meaning that a kind found in its own options."""

    path: Path  # below the kind's own mapping
    message: str
    hint: str | None = None
    key: bool = False  # the mistake is in the last key of the path, not in the value behind it
    offset: int | None = None  # where the mistake is in the value's text, from 0


@dataclass(frozen=True)
class Scope:
    """What a meaning check may look at beside its own options."""

    space: Any = None  # the FiniteSpace or ContinuousSpace of the spec's mdp, or None where that is itself in error
    # The sections of the experiment, each None where the spec has none or it is itself in error.
    mdp: KindChoice[WorldTraits] | None = None
    goals: Any = None  # a GoalsSection
    agent: KindChoice[AgentTraits] | None = None
    data: Any = None  # a DataSection
    extract: KindChoice[ExtractionTraits] | None = None
    extracts: bool = False  # whether the spec has `extract`, also where it is in error
    let: tuple[str, ...] = ()  # the names under `let`; their values are written into expressions already
    # File: the shapes of the arrays in it, from its headers; LookupError where there is none, ValueError where it is
    # not to be trusted. None: files cannot be looked into here.
    holds: Callable[[str], Mapping[str, tuple[int, ...]]] | None = None
    # File: its arrays, of numbers or of texts; None where it is too large to be read before anything runs. Otherwise
    # as `holds`.
    arrays: Callable[[str], Mapping[str, Any] | None] | None = None


@dataclass(frozen=True)
class Kind(Generic[T]):
    """One word that `kind:` may hold."""

    family: str
    name: str
    options: type
    run: Callable[..., Any]
    check: Callable[[Any, Scope], Iterable[Finding]]
    traits: T

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


@dataclass(frozen=True, eq=False)
class KindChoice(Generic[T]):
    """A kind as a spec chose it: resolved data, and the options record that is built of it once, when first asked."""

    family: ClassVar[Family[Any, Any]]
    data: Mapping[str, Any]  # JSON, `kind` among it: what goes into a stage's parameters

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Self:
        return cls(data)

    @functools.cached_property
    def kind(self) -> Kind[T]:
        kind: Kind[T] = self.family[self.data["kind"]]
        return kind

    @functools.cached_property
    def options(self) -> Any:
        return self.kind.build(self.data)

    @property
    def name(self) -> str:
        return self.kind.name

    @property
    def traits(self) -> T:
        return self.kind.traits

    def get(self, *path: str) -> Any:
        """An option, or a part of one; None where the kind has no such option, or nothing is said."""
        return functools.reduce(lambda part, name: getattr(part, name, None), path, self.options)

    @property
    def draws(self) -> bool:
        """Whether it uses the run's seed: then what a stage makes of it differs between seeds."""
        return self.traits.draws(self.options)


# The check of a kind whose options are right whenever the schema says so.
no_findings: Callable[[Any, Scope], Iterable[Finding]] = fixed(())


class Family(Generic[T, R]):
    """The kinds that may stand in one place of a spec: ours, and those of installed packages.

    A kind exists where a source file registers it in so many words, and its module is imported when it is first used.
    """

    def __init__(self, name: str, noun: str, register: str, package: str, doc: str):
        self.name, self.noun, self.registered_by, self.package, self.doc = name, noun, register, package, doc
        self._kinds: dict[str, Kind[T]] = {}

    @functools.cached_property
    def own(self) -> dict[str, str]:
        """Kind: module, of our own kinds, in order."""
        return dict(sorted(own_kinds(self.registered_by, self.package).items()))

    @functools.cached_property
    def others(self) -> tuple[str, ...]:
        """The kinds of other packages, in order. They may not take a name of ours."""
        names = {kind for register, kind in outside().kinds if register == self.registered_by}
        return tuple(sorted(names - set(self.own)))

    def register(
        self, name: str, options: type, traits: T, check: Callable[[Any, Scope], Iterable[Finding]] = no_findings
    ) -> Callable[[R], R]:
        """A decorator: the function below it is what a kind of this name does."""

        def decorate(run: R) -> R:
            module = run.__module__
            if module not in self._modules(name):
                raise KindError(self._stranger(name, module))
            if name in self._kinds and self._kinds[name].module != module:
                raise KindError(f"{module} and {self._kinds[name].module} both register the {self.noun} '{name}'")
            if name not in self.own:
                check_options(options)
            self._kinds[name] = Kind(self.name, name, options, run, check, traits)
            return run

        return decorate

    def _modules(self, name: str) -> list[str]:
        """The modules whose source registers a kind of this name; only ours, where one is ours."""
        if name in self.own:
            return [self.own[name]]
        return [one.module for one in outside().kinds.get((self.registered_by, name), ())]

    def _stranger(self, name: str, module: str) -> str:
        """Why a module may not register a kind."""
        if name in self.own:
            return f"{module} registers the {self.noun} '{name}', a name that wmlab's own {self.own[name]} has"
        line = f'@{self.registered_by}.register("{name}", …)'
        return (
            f"{module} registers the {self.noun} '{name}', and nobody could find it: the module's own source must say "
            f"{line} at the start of a line, and a package of others must name the module under {GROUP}"
        )

    def __getitem__(self, name: str) -> Kind[T]:
        if name not in self._kinds:
            if name in self.own:
                importlib.import_module(self.own[name])
            elif name in self.others:
                self._import_other(name)
        return self._kinds[name]

    def _import_other(self, name: str) -> None:
        """Import the package that brings a kind; whatever goes wrong there is told in one sentence."""
        declared = outside().kinds[self.registered_by, name]
        if len(declared) > 1:
            packages = " and ".join(f"{one.package} ({one.module})" for one in declared)
            raise KindError(f"the {self.noun} '{name}' is registered by {packages}: uninstall one of them")
        one = declared[0]
        try:
            importlib.import_module(one.module)
        except Exception as error:
            what = str(error) if isinstance(error, KindError) else f"{type(error).__name__}: {error}"
            package = f"{one.module} of the package {one.package}"
            raise KindError(f"the {self.noun} '{name}' cannot be used: {package} fails: {what}") from error
        if name not in self._kinds:
            raise KindError(f"{one.module} of the package {one.package} did not register the {self.noun} '{name}'")

    def __contains__(self, name: object) -> bool:
        return name in self.own or name in self.others

    def __iter__(self) -> Iterator[str]:
        return iter(sorted((*self.own, *self.others)))


def check_options(options: type) -> None:
    """Whether options are what the language can read: a dataclass of documented fields with types that are known."""
    undocumented = [field.name for field in dataclasses.fields(options) if "doc" not in field.metadata]
    if undocumented:
        raise TypeError(f"{options.__name__}.{undocumented[0]} is not made by wmlab.registry.option(…)")
    field_types(options)


def first_sentence(text: str | None) -> str:
    return (text or "").strip().split("\n")[0]
