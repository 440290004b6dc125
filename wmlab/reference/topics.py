"""The topics of the reference, in order: top-level keys, kinds, what is measured, expressions, metrics."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from wmlab.expressions.functions import CONSTANTS, FUNCTIONS, operator_groups
from wmlab.reference.examples import example_of
from wmlab.reference.rules import Row, rows, type_of
from wmlab.registry import FAMILIES, Family
from wmlab.registry.metrics import Metric, measurements
from wmlab.spec.schema import generate as schema

PLACES = {
    "mdp": "mdp",
    "reward": "goals.reward",
    "agent": "agent",
    "extract": "extract",
    "solver": "evaluate.unseen.solver",
}
TITLES = {
    "mdp": "Worlds",
    "reward": "Rewards",
    "agent": "Agents",
    "extract": "Extractions",
    "solver": "Solvers",
}
SHAPED = ("goals", "evaluate", "compare", "relate", "claims", "report")  # keys with options of their own
WORDS = ("extends", "let", "sweep", "variants", "seeds", "assumptions", "profiles", "default_profile", "suite")
AFTER = {"goals": "reward", "evaluate": "solver"}  # the kinds that are chosen inside a key


@dataclass(frozen=True)
class Topic:
    """One place of the reference that can be linked to, or asked for by name."""

    name: str  # mdp.gridworld, claims, expressions
    title: str
    says: str
    level: int = 3
    example: str | None = None
    rows: tuple[Row, ...] = ()
    table: tuple[tuple[str, ...], ...] = ()  # head and lines, where there is no option to list


@functools.cache
def topics(others: bool = False) -> tuple[Topic, ...]:
    """The whole reference; `others`: with the kinds of other packages that are installed here."""
    return tuple(_topics(others))


def _topics(others: bool) -> Iterator[Topic]:
    body = schema.generate("experiment", others)
    keys: dict[str, Any] = body["properties"]
    table = [("key", "holds"), *((named(key), link(key, part)) for key, part in keys.items())]
    yield Topic("spec", "Top-level keys", body["description"], 2, table=tuple(table))
    for key in ("mdp", "goals", "agent", "extract", "evaluate"):
        if key in FAMILIES:
            yield from of_family(FAMILIES[key], body)
        else:
            yield section(key, keys[key])
            yield from of_family(FAMILIES[AFTER[key]], body)
    for key in (*SHAPED, *WORDS):
        if key not in AFTER:
            yield section(key, keys[key])
    yield expressions()
    yield metrics()


def has_section(key: str) -> bool:
    return key in FAMILIES or key in SHAPED or key in WORDS


def named(key: str) -> str:
    """A key that is told in a line has its anchor there."""
    return f"`{key}`" if has_section(key) else f'<a id="{key}"></a>`{key}`'


def link(key: str, part: dict[str, Any]) -> str:
    return f"{part['description']} [more](#{key})" if has_section(key) else str(part["description"])


def of_family(family: Family[Any, Any], body: dict[str, Any]) -> Iterator[Topic]:
    """A family of kinds, and each of them."""
    place = PLACES[family.name]
    names: list[str] = body["$defs"][family.name]["properties"]["kind"]["enum"]
    kinds = ", ".join(f"[`{kind}`](#{family.name}.{kind})" for kind in names)
    says = f"{family.doc} Under `{place}`, with one of the kinds {kinds}."
    yield Topic(family.name, f"{TITLES[family.name]}: `{place}`", says, 2)
    for name in names:
        kind = family[name]
        suited = "" if kind.traits.worlds == "any" else f" For {kind.traits.worlds} worlds."
        rules = body["$defs"][f"{family.name}.{name}"]
        topic = f"{family.name}.{name}"
        says = f"{kind.doc}{suited}"
        yield Topic(topic, f"`{place}`: `{name}`", says, 3, example_of(topic), tuple(rows(rules)))


def section(key: str, rules: dict[str, Any]) -> Topic:
    """A top-level key that is no kind."""
    found = tuple(rows(rules))
    says = rules["description"] if found else f"{rules['description']} A {type_of(rules)}."
    return Topic(key, f"`{key}`", says, 2, example_of(key), found)


def expressions() -> Topic:
    constants = " ".join(f"`{name}` is {value:.10g}." for name, value in CONSTANTS.items())
    says = (
        "Wherever a number is expected, a text is an expression: of the names under `let`, and in a world written as "
        f"expressions also of its variables. {constants} There is nothing else: no attributes, no other calls, no code."
    )
    operators = [(f"`{signs}`", sense) for signs, sense in operator_groups().items()]
    functions = [(f"`{name}({', '.join(function.parameters)})`", function.doc) for name, function in FUNCTIONS.items()]
    table = [("operator or function", "is"), *operators, *functions]
    return Topic("expressions", "Expressions", says, 2, example_of("expressions"), table=tuple(table))


def metrics() -> Topic:
    says = (
        "What a claim may be about, and what `results.json` holds for each point of a study. A metric exists only "
        "where the spec asks for it. `unseen.mean.*` are means over the unseen goals, and `unseen.mean.ratio` is the "
        "ratio of those means."
    )
    lines = [
        (f"`{metric.name}`", f"{measurement.meaning(metric)}{only(metric)}", f"`{measurement.asked_at}`")
        for measurement in measurements()
        for metric in measurement.metrics
    ]
    return Topic("metrics", "Metrics", says, 2, table=(("metric", "is", "asked for by"), *lines))


def only(metric: Metric) -> str:
    """The sort of world that alone has a metric, where it could be in doubt."""
    return f" ({metric.world} worlds)" if metric.world is not None else ""
