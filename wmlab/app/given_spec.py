"""A spec that Python gives: a file's path, YAML text, or a mapping of the same form."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wmlab.errors import UsageError
from wmlab.limits import SPEC_BYTES
from wmlab.spec.compose.document import Document, read
from wmlab.spec.files import size
from wmlab.spec.yaml.load import load_bytes

TEXT, MAPPING = "<text>", "<mapping>"  # what stands for a file's name, in messages and on pages


def read_given(spec: str | Path | Mapping[str, Any]) -> Document:
    """The spec with its ancestors. Text and mappings count as lying in the current folder."""
    if isinstance(spec, Mapping):
        return _read_text(_text_of(spec), MAPPING)
    if isinstance(spec, str) and _is_text(spec):
        return _read_text(spec, TEXT)
    if not isinstance(spec, (str, Path)):
        raise UsageError(
            f"a spec is the path of a file, YAML text or a mapping, not a value of type {type(spec).__name__}"
        )
    return read(str(spec))


def _is_text(spec: str) -> bool:
    """Whether a string is YAML and no path: it has several lines, or is a mapping in braces."""
    return "\n" in spec or (spec.lstrip().startswith("{") and not os.path.exists(spec))


def _read_text(text: str, name: str) -> Document:
    data = text.encode("utf-8", "surrogatepass")
    if len(data) > SPEC_BYTES:
        raise UsageError(f"{name}: more than {size(SPEC_BYTES)} is no spec; keep tables in files of their own")
    return read(name, load_bytes(data, name))


def _text_of(spec: Mapping[str, Any]) -> str:
    """A mapping as JSON, which is YAML: what is wrong with it can then be shown at its line."""
    try:
        return json.dumps(dict(spec), indent=2, ensure_ascii=False, allow_nan=False, default=_plain)
    except TypeError as error:
        raise UsageError(f"this mapping cannot be a spec: {error}") from None
    except (ValueError, RecursionError):
        raise UsageError("this mapping cannot be a spec: it holds nan, an infinity, or itself") from None


def _plain(value: Any) -> Any:
    """Numbers and arrays of NumPy, paths and mappings as JSON has them."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Path):
        return str(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a value of type {type(value).__name__} has no form in YAML")
