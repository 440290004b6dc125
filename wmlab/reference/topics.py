"""The topics of the reference, in order: top-level keys, kinds, what is measured, expressions, metrics."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wmlab.expressions.functions import CONSTANTS, FUNCTIONS, operator_groups
from wmlab.reference.rules import Row, rows, type_of
from wmlab.registry import FAMILIES, Family
from wmlab.registry.metrics import Metric, measurements
from wmlab.spec.schema import generate as schema

EXAMPLES = Path(__file__).resolve().parent / "examples"  # a whole, valid spec for each kind and key: a part is shown
PLACES = {
    "mdp": "mdp",
    "reward": "goals.reward",
    "agent": "agent",
    "extract": "extract",
    "solver": "evaluate.unseen.solver",
}
SHAPED = ("goals", "data", "evaluate", "compare", "relate", "claims", "report")  # keys with options of their own
WORDS = ("extends", "let", "sweep", "variants", "seeds", "assumptions", "profiles", "default_profile", "suite")
BESIDE = {  # keys that one understands only beside another
    "extends": ["extends", "goals"],
    "let": ["let", "agent"],
    "expressions": ["let", "agent"],
    "default_profile": ["default_profile", "profiles"],
}
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
    yield Topic(family.name, f"{family.noun.capitalize()}s: `{place}`", says, 2)
    for name in names:
        kind = family[name]
        suited = "" if kind.traits.worlds == "any" else f" For {kind.traits.worlds} worlds."
        rules = body["$defs"][f"{family.name}.{name}"]
        topic = f"{family.name}.{name}"
        says = f"{kind.doc}{suited}"
        title, options = f"`{place}`: `{name}`", tuple(rows(rules))
        yield Topic(topic, title, says, 3, example_of(topic), options, kind.traits.table())


def section(key: str, rules: dict[str, Any]) -> Topic:
    """A top-level key that is no kind."""
    options = tuple(rows(rules))
    says = rules["description"] if options else f"{rules['description']} A {type_of(rules)}."
    return Topic(key, f"`{key}`", says, 2, example_of(key), options)


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
        "ratio of those means. A claim's `by` speaks of a part of a metric that is broken down; a dimension is a "
        "variable of a continuous world, derived ones included."
    )
    lines = [
        (
            f"`{metric.name}`",
            f"{measurement.meaning(metric)}{only(metric)}",
            f"`{measurement.asked_at}`",
            ", ".join(metric.by),
        )
        for measurement in measurements()
        for metric in measurement.metrics
    ]
    return Topic("metrics", "Metrics", says, 2, table=(("metric", "is", "asked for by", "broken down by"), *lines))


def only(metric: Metric) -> str:
    """The sort of world that alone has a metric, where it could be in doubt."""
    return f" ({metric.world} worlds)" if metric.world is not None else ""


def example_of(topic: str) -> str | None:
    """The part of an example that is about this kind (mdp.gridworld) or key (claims); None where there is none."""
    path = EXAMPLES / f"{topic}.yaml"
    if not path.is_file():
        return None
    family = topic.partition(".")[0]
    parts = sections(path.read_text(encoding="utf-8"))
    return "\n".join(parts[key] for key in BESIDE.get(topic, [PLACES.get(family, family).partition(".")[0]]))


def sections(text: str) -> dict[str, str]:
    """The text of each top-level key, comments inside it included."""
    parts: dict[str, list[str]] = {}
    key = None
    for line in text.splitlines():
        start = re.match(r"([a-z_]+):", line)
        if start:
            key = start[1]
        elif line.startswith("#"):
            key = None
        if key is not None:
            parts.setdefault(key, []).append(line)
    return {key: "\n".join(lines).rstrip() for key, lines in parts.items()}
