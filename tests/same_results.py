"""Whether two folders of reports hold the same results: `python -m tests.same_results OLD NEW`.

Metrics, claims, checkpoints, findings, axes and seeds of every `results.json` in OLD are compared with those in NEW,
number by number and to the last bit.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PARTS = ("metrics", "claims", "steps", "findings", "axes", "seeds")


def leaves(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every value in a tree, with its path."""
    rows = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else None
    if rows is None:
        yield path, data
        return
    for key, item in rows:
        yield from leaves(item, (*path, key))


def differences(old: Path, new: Path) -> Iterator[str]:
    """What differs between two results, in words."""
    before, after = (json.loads(path.read_text(encoding="utf-8")) for path in (old, new))
    for part in PARTS:
        left, right = dict(leaves(before.get(part))), dict(leaves(after.get(part)))
        for path in [path for path in left.keys() | right.keys() if left.get(path, "none") != right.get(path, "none")]:
            place = " ".join(map(str, (part, *path)))
            yield f"{old.parent.name} {place}: {left.get(path)!r}, now {right.get(path)!r}"


def main(old: str, new: str) -> int:
    pairs = [(path, Path(new) / path.relative_to(old)) for path in sorted(Path(old).rglob("results.json"))]
    absent = [path for path, other in pairs if not other.exists()]
    lines = [line for path, other in pairs if other.exists() for line in differences(path, other)]
    print("\n".join([*(f"not in {new}: {path}" for path in absent), *lines]))
    print(f"{len(pairs) - len(absent)} results compared, {len(lines)} differences")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
