"""The settings of a resolved spec, each beside the place where it was written."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace

from wmlab.errors import Source
from wmlab.report.data import ResolvedRow
from wmlab.spec.compose.resolve import Resolved, resolve
from wmlab.spec.yaml.node import Node, show_path

SHOWN = ("mdp", "goals", "agent", "data", "extract", "evaluate", "seeds")


def resolved_rows(resolved: Resolved, place: Callable[[Source], str] = str) -> Iterator[ResolvedRow]:
    """Every setting with its source, told by `place`, and what the body as it stands has in its place."""
    document = resolved.document
    body = resolved if resolved.is_body and not resolved.sets else resolve(document, document.body_profile)
    theirs = {path: node.value for path, node in leaves(body)}
    ours = dict(leaves(resolved))
    for path, node in ours.items():
        changed = path not in theirs or theirs[path] != node.value
        yield ResolvedRow(path, node.value, place(node.source), changed, theirs.get(path))
    for path in [path for path in theirs if path not in ours]:
        yield ResolvedRow(path, None, f"profile {resolved.profile}", True, theirs[path])


def place_from_spec(resolved: Resolved) -> Callable[[Source], str]:
    """How a page tells places: files as seen from the spec's folder, however the spec's path was typed."""
    files = {file.source.file for file in resolved.document.files}
    folder = os.path.dirname(os.path.abspath(resolved.document.path))

    def told(source: Source) -> str:
        if source.file not in files:
            return str(source)  # a flag or a default
        return str(replace(source, file=os.path.relpath(source.file, folder)))

    return told


def leaves(resolved: Resolved) -> Iterator[tuple[str, Node]]:
    sections = resolved.base.sections | resolved.sections
    for name in SHOWN:
        if name in sections:
            yield from walk_leaves(sections[name], (name,))
    sweep = resolved.sections.get("sweep")
    if sweep is not None and isinstance(sweep.value, dict):
        for axis, node in sweep.value.items():
            yield f"sweep.{axis}", Node(str(node.plain()), node.source)


def walk_leaves(node: Node, path: tuple[str | int, ...]) -> Iterator[tuple[str, Node]]:
    """The values of a section; lists of plain values stand on one line."""
    if isinstance(node.value, dict) and node.value:
        for key, item in node.value.items():
            yield from walk_leaves(item, (*path, key))
    elif isinstance(node.value, list) and any(isinstance(item.value, dict) for item in node.value):
        for i, item in enumerate(node.value):
            yield from walk_leaves(item, (*path, i))
    else:
        yield show_path(path), Node(node.plain(), node.source)
