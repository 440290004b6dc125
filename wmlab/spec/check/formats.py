"""Mistakes as people and tools read them."""

from __future__ import annotations

import json
from collections.abc import Sequence

from wmlab.errors import SpecError, visible


def as_text(errors: Sequence[SpecError], checked: Sequence[str] = ()) -> str:
    """Place and message, then the source line with a caret; or that all is well."""
    if not errors:
        return f"{len(checked)} {'spec' if len(checked) == 1 else 'specs'}: no mistakes"
    lines = [part for error in errors for part in (str(error), error.excerpt()) if part]
    return "\n".join([*lines, f"{len(errors)} {'mistake' if len(errors) == 1 else 'mistakes'}"])


def as_json(errors: Sequence[SpecError], checked: Sequence[str] = ()) -> str:
    """A list of records, for tools."""
    rows = [
        {
            "file": error.source.file,
            "line": error.source.line,
            "column": error.source.column,
            "path": error.path,
            "message": error.message,
            "hint": error.hint,
        }
        for error in errors
    ]
    return json.dumps(rows, indent=1)


def as_github(errors: Sequence[SpecError], checked: Sequence[str] = ()) -> str:
    """Workflow commands: each mistake becomes an annotation at its line."""
    lines = []
    for error in errors:
        place = {"file": error.source.file, "line": error.source.line, "col": error.source.column}
        where = ",".join(f"{key}={escape_property(str(value))}" for key, value in place.items() if value is not None)
        text = f"{error.path}: {error.message}" + (f" ({error.hint})" if error.hint else "")
        lines.append(f"::error {where},title=wmlab validate::{escape(visible(text))}")
    return "\n".join(lines)


def escape(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escape_property(text: str) -> str:
    return escape(text).replace(":", "%3A").replace(",", "%2C")


FORMATS = {"text": as_text, "json": as_json, "github": as_github}
