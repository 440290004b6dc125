"""What a spec names: other specs (suites, comparisons), files of data, and its own paths (assumptions)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from wmlab.errors import Source, SpecError, SpecErrors, one_of
from wmlab.limits import ARRAY_FILE_BYTES
from wmlab.registry import WorldChoice
from wmlab.sections.forms import EXPERIMENT_KEYS, PROFILE_KEYS
from wmlab.spec.check.schema_errors import schema_errors
from wmlab.spec.compose.axes import unknown_path
from wmlab.spec.compose.document import Document, read
from wmlab.spec.compose.flags import about_seeds
from wmlab.spec.compose.lineage import near, no_spec
from wmlab.spec.compose.points import Point
from wmlab.spec.compose.resolve import Resolved, resolve
from wmlab.spec.compose.values import FILE
from wmlab.spec.files import open_regular
from wmlab.spec.schema.walk import Rules
from wmlab.spec.yaml.load import is_spec
from wmlab.spec.yaml.node import Node, show_path

ENDINGS = (".npz", ".csv")  # of files of data, unless the option has its own under `x-endings`
# World: the words that a comparison of models may use.
COMPARED = {
    "finite": {"distance": ("mse", "tv")},
    "continuous": {"distance": ("nmse", "mse"), "states": ("uniform", "reset")},
}


def same_file(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def suite_errors(resolved: Resolved, broken: set[str]) -> Iterator[SpecError]:
    """A suite has no experiment of its own, and its members are specs that can be run."""
    for key in (*EXPERIMENT_KEYS, "sweep", "variants", "compare", "relate"):
        node = resolved.body.at([key])
        if node is not None:
            message = "a suite lists specs; it has no experiment of its own"
            yield SpecError(resolved.body.keys.get(key, node.source), key, message)
    if "suite" in broken:
        return
    names: dict[str, str] = {}
    for i, member in enumerate(resolved.sections["suite"].items):
        wrong = list(reference_errors(resolved.document, member, f"suite[{i}]"))
        yield from wrong
        if wrong:
            continue
        target = resolved.document.sibling(str(member.value))
        name = read(target).name or ""
        if names.setdefault(name, target) != target:
            message = f"{names[name]} has the name '{name}' too: results are told apart by it"
            yield SpecError(member.source, f"suite[{i}]", message)


def compare_errors(resolved: Resolved) -> Iterator[SpecError]:
    for name, item in resolved.sections["compare"].entries.items():
        target = item.at(["with"])
        wrong = [] if target is None else list(reference_errors(resolved.document, target, f"compare.{name}.with"))
        yield from wrong
        if all("extract" not in point.sections for point in resolved.points):
            message = "models are compared, and there is no `extract`"
            yield SpecError(item.source, f"compare.{name}", message)
        elif not wrong:
            yield from distance_errors(resolved, name, item)
            yield from pairing_errors(resolved, name, item.near(["with"]))


def distance_errors(resolved: Resolved, name: str, item: Node) -> Iterator[SpecError]:
    """Distances and states that a kind of world does not have."""
    worlds = {_sort(point) for point in resolved.points}
    for world, key, words in ((w, k, v) for w in worlds if w is not None for k, v in COMPARED[w].items()):
        word = item.near([key])
        if word.value not in words:
            source = item.source if word.source.is_default else word.source
            message = f"{word.value} has no meaning in a {world} world"
            yield SpecError(source, f"compare.{name}.{key}", message, f"say {one_of(words)}")


def pairing_errors(resolved: Resolved, name: str, target: Node) -> Iterator[SpecError]:
    """Points, seeds and variables that have no counterpart in the other spec."""
    document = read(resolved.document.sibling(str(target.value)))
    other = resolve(document, resolved.profile_for(document), about_seeds(resolved.sets))
    unsound = other.errors or resolved.errors or [*schema_errors(other.sections["seeds"], "seeds")]
    if unsound or other.is_suite or not other.points:
        return  # mistakes of the other spec are told where it is checked itself
    path, title = f"compare.{name}.with", other.name
    for axis in other.axes:
        own = next((mine for mine in resolved.axes if mine.name == axis.name), None)
        labels = ", ".join(map(str, axis.labels))
        if own is None:
            message = f"{title} has an axis '{axis.name}' ({labels}) and this spec has none: its runs do not pair"
            yield SpecError(target.source, path, message, f"name a spec without it, or add the axis '{axis.name}' here")
            continue
        lost = [str(label) for label in own.labels if axis.index(label) is None]
        if lost:
            message = f"{title} has no {axis.name} = {', '.join(lost)} to pair with (it has {labels})"
            yield SpecError(target.source, path, message)
    seeds = [str(seed) for seed in resolved.seeds if seed not in other.seeds]
    if seeds:
        several = "seeds" if len(seeds) > 1 else "seed"
        message = f"{title} has no {several} {', '.join(seeds)} to pair with in profile {other.profile}"
        yield SpecError(target.source, path, message, "give both specs the same seeds")
    yield from _space_errors(resolved.points[0], other.points[0], target, path, str(title))


def _space_errors(mine: Point, theirs: Point, target: Node, path: str, title: str) -> Iterator[SpecError]:
    """Models are compared state by state and action by action."""
    if "extract" not in theirs.sections:
        yield SpecError(target.source, path, f"{title} extracts no model to compare with")
    sorts = [_sort(point) for point in (mine, theirs)]
    if None in sorts:
        return
    if sorts[0] != sorts[1]:
        yield SpecError(target.source, path, f"{title} has a {sorts[1]} world, and this spec a {sorts[0]} one")
        return
    spaces = [_space(point) for point in (mine, theirs)]
    if None in spaces:
        return
    noun = "variables" if sorts[0] == "continuous" else "states"
    for what, kind in (("names", noun), ("actions", "actions")):
        ours, other = (getattr(space, what) for space in spaces)
        if ours != other:
            message = f"{title} has other {kind} than this spec: their models cannot be compared"
            shown = ", ".join(str(one) for one in other[:6]) + (", …" if len(other) > 6 else "")
            yield SpecError(target.source, path, message, f"it has {shown}")


def _sort(point: Point) -> str | None:
    """The sort of world of a point, where it can be told."""
    try:
        return WorldChoice(point.data["mdp"]).sort
    except (LookupError, TypeError, ValueError):
        return None  # told where that world is checked


def _space(point: Point) -> object | None:
    """The state space of a point, where its world is sound."""
    try:
        space: object = WorldChoice(point.data["mdp"]).space
        return space
    except (LookupError, TypeError, ValueError):
        return None  # told where that world is checked


def reference_errors(document: Document, node: Node, path: str) -> Iterator[SpecError]:
    """Why a spec that another names cannot be used."""
    if not isinstance(node.value, str):
        return
    target = document.sibling(node.value)
    if not os.path.isfile(target):
        yield SpecError(node.source, path, f"there is no spec {target}", near(target))
        return
    if not is_spec(target):
        yield SpecError(node.source, path, no_spec(target))
        return
    try:
        other = read(target)
    except SpecErrors:
        yield SpecError(node.source, path, f"{target} cannot be read; see its own errors")
        return
    if same_file(target, document.path):
        yield SpecError(node.source, path, "a spec cannot name itself")
    elif other.name is None:
        yield SpecError(node.source, path, f"{target} is a fragment: it has no name, so it cannot be run")
    elif other.leaf.at(["suite"]) is not None:
        yield SpecError(node.source, path, f"{target} is a suite; name its specs")


def assumption_errors(resolved: Resolved) -> Iterator[SpecError]:
    """Assumptions about paths that this spec does not have."""
    assumptions = resolved.sections["assumptions"]
    for path in assumptions.entries:
        parts = path.split(".")
        sections = [point.sections[parts[0]] for point in resolved.points if parts[0] in point.sections]
        if resolved.body.at(parts) is not None or any(node.at(parts[1:]) is not None for node in sections):
            continue
        for message, hint in unknown_path(path, resolved.body, PROFILE_KEYS):
            yield SpecError(assumptions.key(path), "assumptions", message, hint)


def file_errors(node: Node, rules: Rules | None, path: tuple[str | int, ...]) -> Iterator[SpecError]:
    """What is wrong with the files of data that a section names."""
    if rules is None or FILE not in node.words:
        return
    for key, item in node.entries.items():
        option = rules.child(node.plain(), key)
        if option is not None and isinstance(item.value, str) and option.mark(item.value, "x-wmlab") == FILE:
            endings = option.mark(item.value, "x-endings") or ENDINGS
            yield from _wrong_file(item.value, item.source, (*path, key), endings)
        else:
            yield from file_errors(item, option, (*path, key))


def _wrong_file(name: str, source: Source, path: tuple[str | int, ...], endings: Sequence[str]) -> Iterator[SpecError]:
    shown = show_path(path)
    if os.path.isabs(name):
        message = "an absolute path means another file on another machine; write it relative to this file"
        yield SpecError(source, shown, message)
    elif os.path.splitext(name)[1].lower() not in endings:
        yield SpecError(source, shown, f"{name} should end in {one_of(endings)}")
    elif os.path.isdir(name):
        yield SpecError(source, shown, f"{name} is a folder, not a file")
    elif not os.path.exists(name):
        yield SpecError(source, shown, f"there is no file {name}", near(name))
    else:
        try:
            open_regular(name, ARRAY_FILE_BYTES).close()
        except OSError as error:
            yield SpecError(source, shown, f"{name} cannot be read: {error.strerror or error}")
