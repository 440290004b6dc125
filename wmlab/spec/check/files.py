"""Files that a spec names as data: where they are, and whether they can be read at all."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from wmlab.errors import Source, SpecError, one_of
from wmlab.spec.compose.document import near, relative
from wmlab.spec.schema import walk
from wmlab.spec.schema.generate import Schema
from wmlab.spec.yaml.node import Node, show_path

MARK = "file"  # of an option whose text is a path, under `x-wmlab`
ENDINGS = (".npz", ".csv")  # unless the option has its own, under `x-endings`


def from_here(source: Source, written: str) -> str:
    """A path relative to the file that wrote it, as seen from the current folder; a flag is written there itself."""
    if os.path.isabs(written):
        return written  # an error, told where the spec is validated
    return os.path.relpath(relative(source.file, written) if source.line is not None else written)


def file_errors(node: Node, schema: Schema | None, path: tuple[str | int, ...]) -> Iterator[SpecError]:
    """What is wrong with the files that a settled section names."""
    if schema is None or MARK not in node.words:
        return
    for key, item in node.entries.items():
        rules = walk.child(schema, node.plain(), key)
        if rules is None:
            continue
        if isinstance(item.value, str) and walk.mark(rules, item.value, "x-wmlab") == MARK:
            endings = walk.mark(rules, item.value, "x-endings") or ENDINGS
            yield from _wrong_file(item.value, item.source, (*path, key), endings)
        else:
            yield from file_errors(item, rules, (*path, key))


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
