"""JSON in files that other machines read at any moment: whole, or line by line."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from wmlab.runtime import layout
from wmlab.runtime.durable import share, write_file

LATE = 60.0  # seconds in which what was written on another machine has to be seen here
POLL = 0.5  # seconds between two looks for it
T = TypeVar("T")


def write_json(path: Path, data: Any) -> None:
    write_file(path, (json.dumps(data, ensure_ascii=False) + "\n").encode("utf-8", "surrogatepass"))


def append_json(path: Path, data: Mapping[str, Any]) -> None:
    """Add a line, in one call, so that it is there as a whole or not at all."""
    line = (json.dumps(data, ensure_ascii=False) + "\n").encode("utf-8", "surrogatepass")
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    try:
        with suppress(OSError):
            share(path)
        os.write(descriptor, line)
    finally:
        os.close(descriptor)


def see(look: Callable[[], T | None], seconds: float) -> T | None:
    """What a look at files finds; it is repeated for so long, as another machine's writing may not be seen at once."""
    deadline = time.monotonic() + seconds
    while (found := look()) is None and time.monotonic() < deadline:
        time.sleep(min(POLL, seconds))
    return found


def read_json(path: Path) -> dict[str, Any] | None:
    try:
        data = json.loads(layout.read_file(path))
    except (OSError, ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def read_lines(path: Path) -> list[dict[str, Any]]:
    try:
        return parse_lines(layout.read_file(path))
    except OSError:
        return []


def parse_lines(data: bytes) -> list[dict[str, Any]]:
    """The records of JSON lines; a line that was cut short is none."""
    records = []
    for line in data.split(b"\n"):
        with suppress(ValueError, RecursionError):
            record = json.loads(line)
            if isinstance(record, dict):
                records.append(record)
    return records
