"""Kinds and their options: what a spec may say, declared once.

A kind is one module: a frozen dataclass of options, its meaning checks, and a function that does the work.
The module imports no JAX at its top (heavy imports sit inside the function), so that the language can read
options and checks in milliseconds. JSON Schemas, the reference page, error suggestions and the contract tests
all follow from what is registered here.

    @dataclass(frozen=True)
    class Options:
        norm: Literal["l1", "l2"] = option("l1", doc="Distance between a column of M and Q(s, a).")

    @extractions.register("column_matching", Options, world="finite")
    def column_matching(view, options, key): ...
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

REQUIRED: Any = dataclasses.MISSING


def option(
    default: Any = REQUIRED,
    *,
    doc: str,
    at_least: float | None = None,
    above: float | None = None,
    at_most: float | None = None,
    below: float | None = None,
    schema: Mapping[str, Any] | None = None,
    whole: bool = False,
    example: Any = None,
    static: bool = True,
) -> Any:
    """A field of an options dataclass.

    `schema` replaces what would be derived from the type, for free-form values; `whole` marks a value that an
    overlay replaces whole instead of merging into it. A default that is a dict or list is copied per use. What is
    not `static` is no part of a program: options that differ in it alone are equal, and share one.
    """
    metadata = {
        "doc": doc,
        "bounds": {
            key: bound
            for key, bound in (
                ("minimum", at_least),
                ("exclusiveMinimum", above),
                ("maximum", at_most),
                ("exclusiveMaximum", below),
            )
            if bound is not None
        },
        "schema": schema,
        "whole": whole,
        "example": example,
    }
    if default is REQUIRED:
        return dataclasses.field(metadata=metadata, compare=static)
    if isinstance(default, (dict, list)) or (dataclasses.is_dataclass(default) and not isinstance(default, type)):
        return dataclasses.field(default_factory=lambda: default, metadata=metadata, compare=static)
    return dataclasses.field(default=default, metadata=metadata, compare=static)


def by_type(**members: Mapping[str, Any]) -> dict[str, Any]:
    """A schema for a value of several JSON types, each with its own rules: real messages, where `anyOf` has none."""
    return {
        "type": list(members),
        "allOf": [{"if": {"type": name}, "then": dict(rules)} for name, rules in members.items() if rules],
    }


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
            raise LookupError(f"{name} is not in the list of {self.noun} kinds in wmlab/registry.py")

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


mdps = Family(
    "mdp",
    "world",
    "wmlab.mdps",
    ["dynamics", "gridworld", "gymnax", "random", "tabular", "unknown"],
    "The world: states, actions and what they do.",
)
rewards = Family(
    "reward",
    "reward",
    "wmlab.goals.rewards",
    ["expression", "gaussian", "generic", "indicator", "table"],
    "What each goal pays for arriving in a state.",
)
agents = Family(
    "agent", "agent", "wmlab.agents", ["exact", "external", "pqn", "q_learning"], "Whose values are inverted."
)
extractions = Family(
    "extract",
    "extraction",
    "wmlab.extraction",
    [
        "column_matching",
        "evolution",
        "lp",
        "matching",
        "p_learning",
        "pseudo_inverse",
        "score_function",
        "sparse_lp",
        "tabular_p_learning",
    ],  # fmt: skip
    "How a world model is read out of values.",
)
solvers = Family(
    "solver",
    "solver",
    "wmlab.planning",
    ["grid_value_iteration", "value_iteration"],
    "How plans for unseen goals are made.",
)
FAMILIES = {family.name: family for family in (mdps, rewards, agents, extractions, solvers)}


def world_of(mdp: Mapping[str, Any]) -> str:
    """finite or continuous: what a world's kind is, or what its options make of it (its trait is then a function)."""
    sort = mdps[mdp["kind"]].traits["world"]
    return str(sort(mdp) if callable(sort) else sort)


def truth_is_known(mdp: Mapping[str, Any]) -> bool:
    """Whether a spec says what actions do, and not only which states and actions there are."""
    return bool(mdps[mdp["kind"]].traits.get("truth", True))


def in_order(mdp: Mapping[str, Any]) -> dict[str, Any]:
    """A world's options and, where it counts, the order in which they were written, which a stage's parameters lose."""
    parts = mdps[mdp["kind"]].traits.get("ordered", ())
    order = {part: list(mdp[part]) for part in parts if isinstance(mdp.get(part), Mapping)}
    return {**mdp, "order": order} if order else dict(mdp)


# Sections that are no kinds but have a meaning to check: a function of (data, scope), found lazily.
CHECKS = {"goals": "wmlab.goals.check:check_goals", "evaluate": "wmlab.evaluate.check:check_evaluate"}


def section_check(section: str) -> Callable[[Mapping[str, Any], Scope], Iterable[Finding]]:
    module, function = CHECKS[section].split(":")
    found: Callable[[Mapping[str, Any], Scope], Iterable[Finding]] = getattr(importlib.import_module(module), function)
    return found


# --- options from data -----------------------------------------------------------------------------------------


def build(record: type, data: Mapping[str, Any]) -> Any:
    """A frozen options record from validated data, nested records included; lists become tuples."""
    fields = _converters(record)
    return record(**{fields[key][0]: fields[key][1](value) for key, value in data.items()})


@functools.cache
def field_types(record: type) -> dict[str, tuple[str, Any]]:
    """Key in a spec: field name and type. A field `from_` is written `from`, for Python keeps that word to itself."""
    hints = typing.get_type_hints(record)
    return {field.name.rstrip("_"): (field.name, hints[field.name]) for field in dataclasses.fields(record)}


@functools.cache
def _converters(record: type) -> dict[str, tuple[str, Callable[[Any], Any]]]:
    return {key: (name, _converter(hint)) for key, (name, hint) in field_types(record).items()}


@functools.cache
def _converter(hint: Any) -> Callable[[Any], Any]:
    """What makes a value of this type from JSON data; worked out once, for options are built often."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        members = [(_fitter(member), _converter(member)) for member in arguments]
        return lambda value: next((convert(value) for fits, convert in members if fits(value)), value)
    if dataclasses.is_dataclass(hint):
        return lambda value: build(typing.cast(type, hint), value) if isinstance(value, Mapping) else value
    if origin is tuple:
        item = _converter(arguments[0])
        return lambda value: tuple(item(one) for one in value) if isinstance(value, (list, tuple)) else value
    if origin is dict:
        item = _converter(arguments[1])
        return lambda value: {key: item(one) for key, one in value.items()} if isinstance(value, Mapping) else value
    if hint is float:
        return lambda value: float(value) if type(value) is int else value
    return lambda value: value


@functools.cache
def _fitter(hint: Any) -> Callable[[Any], bool]:
    """Whether a member of a union is the one that a value is meant for; members differ in JSON type."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return lambda value: True
    if origin is Literal:
        return lambda value: value in arguments
    if dataclasses.is_dataclass(hint) or origin is dict:
        return lambda value: isinstance(value, Mapping)
    if origin is tuple:
        return lambda value: isinstance(value, (list, tuple))
    if hint is float:
        return lambda value: isinstance(value, (int, float)) and not isinstance(value, bool)
    if hint is int:
        return lambda value: isinstance(value, int) and not isinstance(value, bool)
    return lambda value: isinstance(value, hint)


def first_sentence(text: str | None) -> str:
    return (text or "").strip().split("\n")[0]
