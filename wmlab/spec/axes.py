"""Axes: what a sweep and variants multiply an experiment by."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from wmlab.errors import SpecError, suggest
from wmlab.spec import walk
from wmlab.spec.node import Node, show_path
from wmlab.spec.schema import Schema, load
from wmlab.spec.sections import EXPERIMENT

RESERVED = ("variant", "spec", "step", "seed")
Label = str | int | float | bool


@dataclass(frozen=True)
class Axis:
    """One dimension of a study: its labels, and what each label changes."""

    name: str
    paths: tuple[str, ...]  # () for variants
    labels: tuple[Label, ...]
    overlays: tuple[tuple[tuple[str, Node], ...], ...]  # per label: (path, value); for variants one ("", overlay)

    def index(self, label: Any) -> int | None:
        return next((i for i, known in enumerate(self.labels) if same(known, label)), None)


def same(one: Any, other: Any) -> bool:
    """Labels are equal as numbers or as text; true is not 1."""
    return (
        type(one) is type(other) and one == other if isinstance(one, bool) or isinstance(other, bool) else one == other
    )


def axes_of(body: Node, errors: list[SpecError]) -> tuple[Axis, ...]:
    """The axes of a resolved body, variants first."""
    found = []
    variants = body.at(["variants"])
    if variants is not None and isinstance(variants.value, dict) and variants.value:
        labels = tuple(variants.value)
        found.append(Axis("variant", (), labels, tuple((("", variants.value[name]),) for name in labels)))
        for name, overlay in variants.value.items():
            errors += misplaced(overlay, ("variants", name), EXPERIMENT)
    sweep = body.at(["sweep"])
    if sweep is not None and isinstance(sweep.value, dict):
        for name, axis in sweep.value.items():
            if name in RESERVED:
                message = f"'{name}' is kept for wmlab's own axis; use another name"
                errors.append(SpecError(sweep.keys.get(name, axis.source), f"sweep.{name}", message))
            elif isinstance(axis.value, dict):
                found += sweep_axis(name, axis, body, errors)
    return tuple(found)


def misplaced(overlay: Node, path: tuple[str, ...], allowed: tuple[str, ...]) -> Iterator[SpecError]:
    """Keys that an overlay may not hold."""
    for key in overlay.value if isinstance(overlay.value, dict) else ():
        if key not in allowed:
            hint = suggest(key, allowed) or f"it may change: {', '.join(allowed)}"
            yield SpecError(
                overlay.keys.get(key, overlay.source), show_path([*path, key]), f"'{key}' cannot stand here", hint
            )


def sweep_axis(name: str, axis: Node, body: Node, errors: list[SpecError]) -> list[Axis]:
    """One axis of a sweep; its paths must exist and agree on their labels."""
    assert isinstance(axis.value, dict)
    columns: dict[str, list[tuple[Label, Node]]] = {}
    before = len(errors)
    for path, values in axis.value.items():
        source = axis.keys.get(path, axis.source)
        errors += [SpecError(source, f"sweep.{name}", message, hint) for message, hint in unknown_path(path, body)]
        columns[path] = list(labelled(name, path, values, errors))
    if len(errors) > before or not columns:
        return []
    first = next(iter(columns))
    labels = tuple(label for label, _ in columns[first])
    for path, column in columns.items():
        if len(column) != len(labels) or (
            isinstance(axis.value[path].value, dict) and [c[0] for c in column] != list(labels)
        ):
            message = (
                f"{path} has {len(column)} values and {first} has {len(labels)}: paths inside one axis move together"
            )
            errors.append(SpecError(axis.value[path].source, f"sweep.{name}", message))
            return []
    overlays = tuple(tuple((path, column[i][1]) for path, column in columns.items()) for i in range(len(labels)))
    return [Axis(name, tuple(columns), labels, overlays)]


def labelled(name: str, path: str, values: Node, errors: list[SpecError]) -> Iterator[tuple[Label, Node]]:
    """The labels of one path's values: the values themselves, or the keys of a mapping."""
    where = f"sweep.{name}.{path}"
    if isinstance(values.value, dict):
        rows = [(label, item, values.keys.get(label, item.source)) for label, item in values.value.items()]
    elif isinstance(values.value, list):
        rows = [(item.value, item, item.source) for item in values.value]
    else:
        return
    seen: list[Any] = []
    for label, item, source in rows:
        if isinstance(label, (dict, list)) or label is None:
            errors.append(SpecError(source, where, "this value needs a label: write {label: value, …}"))
        elif isinstance(label, str) and any(mark in label for mark in "/,="):
            errors.append(
                SpecError(source, where, f"the label '{label}' may not hold '/', ',' or '=': results are named by it")
            )
        elif label == "all":
            errors.append(SpecError(source, where, "'all' means every label in a claim; use another label"))
        elif any(same(label, other) for other in seen):
            errors.append(SpecError(source, where, f"the label {label} stands twice"))
        else:
            seen.append(label)
            yield label, item


def unknown_path(path: str, body: Node) -> Iterator[tuple[str, str | None]]:
    """Why a dotted path leads nowhere in this spec."""
    parts = path.split(".")
    if parts[0] not in EXPERIMENT:
        yield (
            f"a sweep cannot change '{parts[0]}'",
            suggest(parts[0], EXPERIMENT) or f"it may change: {', '.join(EXPERIMENT)}",
        )
        return
    schema: Schema = load("experiment")
    data: Any = body.plain()
    for i, key in enumerate(parts):
        below = walk.child(schema, data, key)
        present = isinstance(data, dict) and key in data
        if below is None or (not present and key not in walk.known_keys(schema, data)):
            if kind_unknown(schema, data):
                return
            known = sorted({*walk.known_keys(schema, data), *(data if isinstance(data, dict) else ())})
            yield f"there is no {'.'.join(parts[: i + 1])} in this spec", suggest(key, known)
            return
        schema, data = below, data.get(key) if isinstance(data, dict) else None


def kind_unknown(schema: Schema, data: Any) -> bool:
    """Whether a mapping's own kind is in error, so that nothing can be said of its keys."""
    rule = walk.child(schema, data, "kind") if isinstance(data, dict) else None
    return rule is not None and "enum" in rule and data.get("kind") not in rule["enum"]


def product(axes: tuple[Axis, ...]) -> Iterator[tuple[tuple[Axis, int], ...]]:
    """Every choice of one label per axis."""
    for choice in itertools.product(*(range(len(axis.labels)) for axis in axes)):
        yield tuple(zip(axes, choice, strict=True))
