"""Whether two runs left the same behind: objects and reports byte for byte, but for times."""

from __future__ import annotations

import re
from pathlib import Path

# When a run was, and how long it took, in results.json and on pages; checksums of files that hold such times.
TIMES = re.compile(
    rb'"(?:run|started|seconds)": [^,\n}]+'
    rb"|<dt>Run</dt><dd>[a-z2-7]{7}</dd>"
    rb"|\d+ \w+ \d{4}, \d\d:\d\d UTC"
    rb"|(?:(?:&lt; )?\b\d[\d.]* (?:ms|s|min|h)\b ?)+"
)
OF_TIMES = ("manifest.json",)


def contents(folder: Path) -> dict[str, bytes]:
    """What a folder's cache and reports hold."""
    files = [path for path in folder.glob(".wmlab/objects/*/*/*") if path.name not in OF_TIMES]
    files += [path for path in (folder / "reports").rglob("*") if path.is_file() and path.name not in OF_TIMES]
    return {str(path.relative_to(folder)): without_times(path) for path in files}


def without_times(path: Path) -> bytes:
    content = path.read_bytes()
    return TIMES.sub(b"", content) if path.suffix in (".html", ".json") else content


def changes(expected: dict[str, bytes], now: dict[str, bytes]) -> str:
    """Which files differ, in words."""
    names = sorted(name for name in expected.keys() | now.keys() if expected.get(name) != now.get(name))
    words = [
        f"{name} {'is missing' if name not in now else 'is new' if name not in expected else 'differs'}"
        for name in names
    ]
    return "; ".join(words[:6])
