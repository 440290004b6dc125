"""A spec's file as a tree of nodes with positions: YAML 1.2 scalars, no duplicate keys, no tags."""

from __future__ import annotations

import errno
import functools
import re
from dataclasses import dataclass
from pathlib import Path

from wmlab.errors import Source, SpecError, SpecErrors, suggest
from wmlab.limits import SPEC_BYTES
from wmlab.spec.files import read_regular, size
from wmlab.spec.yaml.node import Node
from wmlab.spec.yaml.parser import parse

_VERSION = re.compile(rb"""(?:^|\r)[\s{\xef\xbb\xbf]*["']?wmlab["']?\s*:""", re.MULTILINE)
_ENDINGS = (".yaml", ".yml")
_LINE_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")  # as the parser counts lines
# Control characters, halves of surrogate pairs, and marks of byte order: a short list compiles ten times as fast as
# that of all printable characters.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufeff\ufffe\uffff]")


@dataclass(frozen=True)
class FileSort:
    """What a file is meant to be, for messages."""

    noun: str
    begins: str  # a hint: how such a file begins


SPEC = FileSort("a spec", "a spec starts with `wmlab: 1`")


def load(path: str | Path, sort: FileSort = SPEC) -> Node:
    """The tree of a spec's file, or SpecErrors with every mistake in it."""
    return _load_cached(_read(Path(path)), str(path), sort)


def is_spec(path: str | Path) -> bool:
    """Whether a file means to be a spec: it says which version of the language it is in, whatever else is wrong.

    A file that cannot be read is said to be one, so that it is told why.
    """
    try:
        return _VERSION.search(_read(Path(path))) is not None
    except SpecErrors:
        return True


@functools.lru_cache(maxsize=256)
def _load_cached(data: bytes, file: str, sort: FileSort) -> Node:
    """Trees are read-only, and a base is parsed once for all specs that extend it."""
    return load_bytes(data, file, sort)


def load_bytes(data: bytes, file: str, sort: FileSort = SPEC) -> Node:
    """The tree of a spec's text, as if it had been read from `file`."""
    text = _decode(data, file)
    lines = _LINE_BREAK.split(text)

    def place(line: int, column: int) -> Source:
        if line >= len(lines) or (line == len(lines) - 1 and line and not lines[line]):
            line = max(number for number, content in enumerate(lines) if content or not number)
            column = len(lines[line])  # the end of the text is shown behind its last line
        return Source(file, line + 1, column + 1, lines[line])

    if bad := _UNPRINTABLE.search(text):
        before = _LINE_BREAK.split(text[: bad.start()])
        message = f"the character U+{ord(bad.group()):04X} may not stand in a spec"
        raise SpecErrors([SpecError(place(len(before) - 1, len(before[-1])), "", message)])
    root = parse(text, lines, place)
    if root is None or root.value is None:
        raise SpecErrors([SpecError(Source(file), "", "the file is empty", sort.begins)])
    if not isinstance(root.value, dict):
        noun = "a list" if isinstance(root.value, list) else "a single value"
        message = f"{sort.noun} is a mapping of keys to values, not {noun}"
        raise SpecErrors([SpecError(root.source, "", message, sort.begins)])
    return root


def load_value(text: str, source: Source) -> Node:
    """A value given outside a file, as in `--set a.b=c`, read as YAML; all of it comes from one source."""
    if bad := _UNPRINTABLE.search(text):
        raise SpecErrors([SpecError(source, "", f"the character U+{ord(bad.group()):04X} may not stand in a value")])
    root = parse(text, _LINE_BREAK.split(text), lambda line, column: source)
    return Node(None, source) if root is None else root


def _read(path: Path) -> bytes:
    try:
        if path.is_dir():
            raise _file_error(path, "this is a folder, not a file", _inside(path))
        if not path.exists():
            raise _file_error(path, "no such file", _near(path))
        return read_regular(path, SPEC_BYTES)
    except PermissionError:
        raise _file_error(path, "no permission to read this file") from None
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno == errno.EFBIG:
            message = f"a file of more than {size(SPEC_BYTES)} is no spec"
            raise _file_error(path, message, "keep tables in files of their own") from None
        reason = getattr(error, "strerror", None) or str(error)
        raise _file_error(path, f"this file cannot be read: {reason}") from None


def _decode(data: bytes, file: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # its own copy of the bytes, without the mark that may stand in front of them
        good, bad = error.object[: error.start], error.object[error.start]
        before = _LINE_BREAK.split(good.decode("utf-8"))
        rest = error.object[error.start :].decode("utf-8", errors="replace")
        source = Source(file, len(before), len(before[-1]) + 1, before[-1] + _LINE_BREAK.split(rest)[0])
        mistake = SpecError(source, "", f"the byte 0x{bad:02X} is not UTF-8", "save the file as UTF-8")
        raise SpecErrors([mistake]) from None


def _file_error(path: Path, message: str, hint: str | None = None) -> SpecErrors:
    return SpecErrors([SpecError(Source(str(path)), "", message, hint)])


def _specs(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir() if entry.suffix in _ENDINGS)


def _near(path: Path) -> str | None:
    """A spec of the same folder with almost the same name."""
    if not path.parent.is_dir():
        return f"there is no folder {path.parent}"
    names = _specs(path.parent)
    same = [name for name in names if name in [path.stem + ending for ending in _ENDINGS]]
    same += [name for name in names if name in [path.name + ending for ending in _ENDINGS]]
    return f"did you mean '{same[0]}'?" if same else suggest(path.name, names)


def _inside(folder: Path) -> str | None:
    names = _specs(folder)
    return f"name a file in it, such as {folder / names[0]}" if names else None
