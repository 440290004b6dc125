"""Whether two runs left the same behind: objects and reports byte for byte, but for times."""

from __future__ import annotations

import re
from pathlib import Path

# When a run was, how long it took and by which code, in results.json and on pages; checksums of files that hold these.
TIMES = re.compile(
    rb'"(?:run|started|seconds|stage_seconds)": [^,\n}]+'
    rb'|"code": (?:null|"[^"]*")|<dt>Commit of wmlab</dt><dd>[^<]*</dd>'  # of a tree that is edited meanwhile
    rb"|<dt>Run</dt><dd>[a-z2-7]{7}</dd>"
    rb"|\brun [a-z2-7]{7}, "  # as which others are named that a page can be compared with
    rb"|\d+ \w+ \d{4}, \d\d:\d\d UTC"
    rb"|(?:(?:&lt; )?\b\d[\d.]* (?:ms|s|min|h)\b ?)+(?:</td><td>[^<]*)?"  # with the stage that took longest
)
OF_TIMES = ("manifest.json", "report.sha256")


def contents(folder: Path) -> dict[str, bytes]:
    """What a folder's cache and reports hold."""
    files = [path for path in folder.glob(".wmlab/objects/*/*/*") if path.name not in OF_TIMES]
    files += [path for path in (folder / "reports").rglob("*") if path.is_file() and path.name not in OF_TIMES]
    files = [path for path in files if path != folder / "reports" / "index.html"]  # all runs, with those that failed
    files = [path for path in files if path.suffix != ".lock"]  # one that a dead process held does no harm
    return {str(path.relative_to(folder)): without_times(path) for path in files}


def without_times(path: Path) -> bytes:
    content = path.read_bytes()
    return TIMES.sub(b"", content) if path.suffix in (".html", ".json") else content


def changes(expected: dict[str, bytes], now: dict[str, bytes]) -> str:
    """Which files differ, in words, and where."""
    names = sorted(name for name in expected.keys() | now.keys() if expected.get(name) != now.get(name))
    return "; ".join(f"{name} {change(expected.get(name), now.get(name))}" for name in names[:6])


def change(before: bytes | None, after: bytes | None) -> str:
    if before is None or after is None:
        return "is new" if before is None else "is missing"
    place = next((i for i, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1]), len(before))
    start = max(place - 30, 0)
    return f"differs: {before[start : place + 50]!r}, now {after[start : place + 50]!r}"
