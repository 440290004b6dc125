"""Figures before and after they are painted: what is to be drawn, as a record and as text, and the finished picture.

The text of a drawing is all that its picture depends on, beside the code and the libraries that paint it: it goes to
the processes that paint, and its digest tells whether a picture that is there already shows the same.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, cached_property
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from wmlab.registry import build
from wmlab.report import asked, certain, data, differences, relations, series, suite
from wmlab.sections import figure_style
from wmlab.sections.figure_style import FigureStyle

KEPT_LETTERS = 2_000_000  # of the text of one drawing that a report keeps
INK = "#1b1f24"  # becomes the page's text colour where a figure stands inline
PAINTED_BY = ("matplotlib", "fonttools", "numpy")  # libraries whose other versions may paint other bytes


@dataclass(frozen=True)
class Picture:
    """One finished figure."""

    svg: str
    pdf: bytes

    @classmethod
    def of(cls, files: Mapping[str, bytes]) -> Picture:
        """The picture of such `files`."""
        return cls(files["svg"].decode(), files["pdf"])

    @property
    def files(self) -> dict[str, bytes]:
        return {"svg": self.svg.encode(), "pdf": self.pdf}

    def inline(self, prefix: str) -> str:
        """The SVG for a page: ids that cannot clash, text in the page's colour, as wide as its place."""
        body = self.svg[self.svg.index("<svg") :]
        body = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}-\1"', body)
        body = re.sub(r'href="#([^"]+)"', rf'href="#{prefix}-\1"', body)
        body = re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}-\1)", body)
        body = re.sub(r"<metadata>.*?</metadata>\s*", "", body, flags=re.DOTALL)
        head, rest = body.split(">", 1)
        head = re.sub(r'\s(width|height)="[^"]*"', "", head)
        return f'{head} aria-hidden="true" focusable="false">{rest}'.replace(INK, "currentColor")


@dataclass(frozen=True, eq=False)
class Drawing:
    """A figure that is to be painted."""

    sort: str  # which painter
    chart: Any  # a record of RECORDS: what it shows
    style: FigureStyle = FigureStyle()

    @cached_property
    def text(self) -> str:
        """All that it shows, as JSON."""
        return json.dumps([self.sort, as_json(self.chart), as_json(self.style)], separators=(",", ":"))

    @cached_property
    def key(self) -> str:
        """The digest of what it shows, and of what paints it."""
        return hashlib.sha256(json.dumps([drawing_code(), painted_by(), self.text]).encode()).hexdigest()


Draw = Callable[[Sequence[Drawing]], Sequence[Picture]]  # paints figures, and returns them in the same order


def read_drawing(text: str) -> Drawing:
    """A drawing from its text."""
    return drawing_of(*json.loads(text))


def drawing_of(sort: str, chart: Any, style: Any) -> Drawing:
    """A drawing from what JSON has of it."""
    return Drawing(sort, from_json(chart), from_json(style))


def drawings_file(named: Mapping[str, Drawing]) -> bytes:
    """Drawings by the names of their figures, a line each; one that is too large is left out."""
    texts = {name: drawing.text for name, drawing in named.items()}
    lines = [f"{json.dumps(name)}: {text}" for name, text in texts.items() if len(text) <= KEPT_LETTERS]
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def style_of(results: data.Results) -> FigureStyle:
    """How the figures of a page look, as the spec says."""
    return build(FigureStyle, (results.get("report") or {}).get("style") or {})


@cache
def painted_by() -> tuple[str, ...]:
    """The versions of the libraries that paint."""
    return tuple(f"{library} {version(library)}" for library in PAINTED_BY)


@cache
def drawing_code() -> str:
    """A digest of the code, templates and scripts that draw pages."""
    code = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*")):
        if path.suffix in (".py", ".j2", ".js"):
            code.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return code.hexdigest()


# --- records as JSON ---------------------------------------------------------------------------------------------


def _records(*modules: ModuleType) -> dict[str, Any]:
    """Every record that these modules declare, by its name."""
    declared = [one for module in modules for one in vars(module).values() if is_dataclass(one)]
    return {one.__name__: one for one in declared if isinstance(one, type)}


RECORDS = _records(asked, certain, data, differences, figure_style, relations, series, suite)


def as_json(value: Any) -> Any:
    """Records, arrays, tuples and mappings as what JSON has; numbers keep every bit."""
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, np.ndarray):
        content = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
        return {"array": value.dtype.str, "shape": value.shape, "bytes": content}
    if isinstance(value, (dict, list)) and is_plain(value):
        return {"plain": value}
    if isinstance(value, (tuple, list)):
        return {"tuple" if isinstance(value, tuple) else "list": [as_json(item) for item in value]}
    if isinstance(value, Mapping):
        return {"pairs": [[as_json(key), as_json(item)] for key, item in value.items()]}
    record = RECORDS.get(type(value).__name__)
    if record is type(value):
        parts = {one.name: as_json(getattr(value, one.name)) for one in fields(record)}
        return {"record": record.__name__, "of": parts}
    raise TypeError(f"a figure cannot hold a {type(value).__name__}")


def is_plain(value: Any) -> bool:
    """Whether JSON has it as it is."""
    if type(value) is dict:
        return all(type(key) is str for key in value) and all(map(is_plain, value.values()))
    if type(value) is list:
        return all(map(is_plain, value))
    return value is None or type(value) in (str, bool, int, float)


def from_json(value: Any) -> Any:
    """What `as_json` made its text of."""
    if not isinstance(value, dict):
        return value
    if "plain" in value:
        return value["plain"]
    if "array" in value:
        content = np.frombuffer(base64.b64decode(value["bytes"]), np.dtype(value["array"]))
        return content.reshape(value["shape"])
    if "record" in value:
        return RECORDS[value["record"]](**{name: from_json(item) for name, item in value["of"].items()})
    if "pairs" in value:
        return {from_json(key): from_json(item) for key, item in value["pairs"]}
    if "tuple" in value:
        return tuple(from_json(item) for item in value["tuple"])
    return [from_json(item) for item in value["list"]]
