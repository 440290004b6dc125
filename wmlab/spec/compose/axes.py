"""Axes: what a sweep and variants multiply an experiment by."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from wmlab.errors import Source, SpecError, suggest
from wmlab.limits import NAME_CHARACTERS, POINTS, grouped
from wmlab.sections.forms import DOCUMENT_KEYS, EXPERIMENT_KEYS
from wmlab.spec.schema.walk import Rules, spec_rules
from wmlab.spec.yaml.node import Node, show_path
from wmlab.spec.yaml.parser import NotFinite, plain_scalar, unprintable

RESERVED = ("variant", "spec", "step", "seed")
Label = str | int | float | bool
Identity = tuple[bool, Label | None]


@dataclass(frozen=True)
class Axis:
    """One dimension of a study: its labels, and what each label changes."""

    name: str
    paths: tuple[str, ...]  # () for variants
    labels: tuple[Label, ...]
    overlays: tuple[tuple[tuple[str, Node], ...], ...]  # per label: (path, value); for variants one ("", overlay)

    def index(self, label: Any) -> int | None:
        return self._positions.get(identity(label))

    @cached_property
    def _positions(self) -> dict[Identity, int]:
        return {identity(label): position for position, label in enumerate(self.labels)}


def identity(label: Any) -> Identity:
    """What tells a label from others: they are equal as numbers or as text, and true is not 1."""
    return isinstance(label, bool), label if isinstance(label, (str, int, float)) else None


def axes_of(body: Node, errors: list[SpecError], partial: bool = False) -> tuple[Axis, ...]:
    """The axes of a resolved body, variants first; with `partial`, paths may come from a spec that extends it."""
    axes: list[Axis] = []
    variants = body.at(["variants"])
    if variants is not None and isinstance(variants.value, dict) and variants.value:
        labels = tuple(variants.value)
        axes.append(Axis("variant", (), labels, tuple((("", variants.value[name]),) for name in labels)))
        for name, overlay in variants.value.items():
            errors += misplaced(overlay, ("variants", name), EXPERIMENT_KEYS)
    sweep = body.at(["sweep"])
    if sweep is not None and isinstance(sweep.value, dict):
        for name, axis in sweep.value.items():
            if name in RESERVED:
                message = f"'{name}' is kept for wmlab's own axis; use another name"
                errors.append(SpecError(sweep.keys.get(name, axis.source), f"sweep.{name}", message))
            elif isinstance(axis.value, dict):
                axes += sweep_axis(name, axis, body, errors, partial)
        errors += swept_twice(sweep, axes)
    points = math.prod(len(axis.labels) for axis in axes)
    if points > POINTS:
        message = f"{grouped(points)} points; {grouped(POINTS)} are allowed"
        source = sweep.latest if sweep is not None else body.source
        errors.append(SpecError(source, "sweep", message, "narrow an axis, or make several specs"))
        return ()
    return tuple(axes)


def swept_twice(sweep: Node, axes: Sequence[Axis]) -> Iterator[SpecError]:
    """Paths that two axes change: the later one would win at every point, and the earlier one mean nothing."""
    taken: dict[str, str] = {}
    for axis in axes:
        for path in axis.paths:
            for other, owner in taken.items():
                if owner != axis.name and overlap(path, other):
                    source = sweep.near([axis.name]).key(path)
                    yield SpecError(source, f"sweep.{axis.name}", f"the axis {owner} sets {other} already")
            taken[path] = axis.name


def overlap(one: str, other: str) -> bool:
    """Whether one dotted path is the other, or leads through it."""
    return f"{one}.".startswith(f"{other}.") or f"{other}.".startswith(f"{one}.")


def misplaced(overlay: Node, path: tuple[str, ...], allowed: tuple[str, ...]) -> Iterator[SpecError]:
    """Keys that an overlay may not hold."""
    for key in overlay.value if isinstance(overlay.value, dict) else ():
        if key not in allowed:
            source = overlay.keys.get(key, overlay.source)
            if path and key in DOCUMENT_KEYS:
                message = f"a {path[0].removesuffix('s')} cannot change '{key}'"
                yield SpecError(source, show_path(path), message, f"it may change: {', '.join(allowed)}")
            else:
                yield SpecError(source, show_path(path), f"unknown key '{key}'", suggest(key, allowed))


def sweep_axis(name: str, axis: Node, body: Node, errors: list[SpecError], partial: bool) -> list[Axis]:
    """One axis of a sweep; its paths must exist and agree on their labels."""
    assert isinstance(axis.value, dict)
    columns: dict[str, list[tuple[Label, Node]]] = {}
    before = len(errors)
    for path, values in axis.value.items():
        source = axis.keys.get(path, axis.source)
        if not partial:
            errors += [SpecError(source, f"sweep.{name}", message, hint) for message, hint in unknown_path(path, body)]
        columns[path] = list(labelled(name, path, values, errors))
    if len(errors) > before or not columns:
        return []
    # Labels are those that were written out; else the values of the first path are their own.
    first = next((path for path in columns if isinstance(axis.value[path].value, dict)), next(iter(columns)))
    labels = tuple(label for label, _ in columns[first])
    for label, item in columns[first]:
        if isinstance(label, str) and (problem := label_problem(label)):
            source = axis.value[first].keys.get(label, item.source)
            errors.append(SpecError(source, f"sweep.{name}.{first}", problem, "write {label: value, …}"))
    for path, column in columns.items():
        if message := unlike(path, first, [label for label, _ in column], labels, axis):
            hint = "paths inside one axis move together"
            errors.append(SpecError(axis.value[path].source, f"sweep.{name}", message, hint))
            return []
    overlays = tuple(tuple((path, column[i][1]) for path, column in columns.items()) for i in range(len(labels)))
    return [Axis(name, tuple(columns), labels, overlays)]


def unlike(path: str, first: str, labels: Sequence[Label], wanted: Sequence[Label], axis: Node) -> str | None:
    """Why two paths of one axis cannot move together: other counts, or other labels where both have their own."""
    assert isinstance(axis.value, dict)
    if len(labels) != len(wanted):
        return f"{path} has {len(labels)} values and {first} has {len(wanted)}"
    both = all(isinstance(axis.value[one].value, dict) for one in (path, first))
    if both and list(labels) != list(wanted):
        ours, theirs = (", ".join(map(str, those)) for those in (labels, wanted))
        return f"{path} has the labels {ours} and {first} has {theirs}"
    return None


def labelled(name: str, path: str, values: Node, errors: list[SpecError]) -> Iterator[tuple[Label, Node]]:
    """The labels of one path's values: the values themselves, or the keys of a mapping."""
    where = f"sweep.{name}.{path}"
    rows: list[tuple[Any, Node, Source]] = []
    if isinstance(values.value, dict):
        rows = [(number_or_text(key), item, values.keys.get(key, item.source)) for key, item in values.value.items()]
    elif isinstance(values.value, list):
        rows = [(item.value, item, item.source) for item in values.value]
    seen: set[Identity] = set()
    for label, item, source in rows:
        if isinstance(label, (dict, list)) or label is None:
            errors.append(SpecError(source, where, "this value needs a label", "write {label: value, …}"))
        elif isinstance(label, str) and (not label.strip() or any(mark in label for mark in "/,=")):
            message = f"results are named by their labels, so '{label}' may not " + (
                "hold '/', ',' or '='" if label.strip() else "be one"
            )
            errors.append(SpecError(source, where, message, "write {label: value, …}"))
        elif label == "all":
            errors.append(SpecError(source, where, "'all' means every label in a claim; use another label"))
        elif identity(label) in seen:
            errors.append(SpecError(source, where, f"the label {label} stands twice"))
        else:
            seen.add(identity(label))
            yield label, item


def label_problem(label: str) -> str | None:
    """Why a text cannot be a label, which names results and files."""
    if len(label) > NAME_CHARACTERS:
        return f"a label of {len(label)} characters; {NAME_CHARACTERS} are allowed"
    return unprintable(label, "a label")


def number_or_text(key: str) -> Label:
    """A label that is written as a key: a number where it looks like one, so that a claim may say it as one."""
    try:
        value = plain_scalar(key)
    except NotFinite:
        return key
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else key


def unknown_path(path: str, body: Node, allowed: Sequence[str] = EXPERIMENT_KEYS) -> Iterator[tuple[str, str | None]]:
    """Why a dotted path leads nowhere in this spec."""
    parts = path.split(".")
    if parts[0] not in allowed:
        known = parts[0] in DOCUMENT_KEYS
        message = f"a sweep cannot change '{parts[0]}'" if known else f"there is no {parts[0]} in a spec"
        yield message, suggest(parts[0], allowed) or f"known: {', '.join(allowed)}"
        return
    rules = spec_rules()
    data: Any = body.plain()
    for i, key in enumerate(parts):
        below = rules.child(data, key)
        present = isinstance(data, dict) and key in data
        if below is None or (not present and key not in rules.known_keys(data)):
            if kind_unknown(rules, data):
                return
            keys = sorted({*rules.known_keys(data), *(data if isinstance(data, dict) else ())})
            yield f"there is no {'.'.join(parts[: i + 1])} in this spec", suggest(key, keys)
            return
        rules, data = below, data.get(key) if isinstance(data, dict) else None


def kind_unknown(rules: Rules, data: Any) -> bool:
    """Whether a mapping's own kind is in error, so that nothing can be said of its keys."""
    kind = rules.child(data, "kind") if isinstance(data, dict) else None
    return kind is not None and "enum" in kind.schema and data.get("kind") not in kind.schema["enum"]


def product(axes: tuple[Axis, ...]) -> Iterator[tuple[tuple[Axis, int], ...]]:
    """Every choice of one label per axis."""
    for choice in itertools.product(*(range(len(axis.labels)) for axis in axes)):
        yield tuple(zip(axes, choice, strict=True))
