"""Partial results of a long stage: a kill loses the time since the last one."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from wmlab.runtime import folder
from wmlab.runtime.result import Result


class Partial:
    """The place of a stage's partial results; the last whole one counts."""

    def __init__(self, root: Path, key: str, label: str = "", notice: Callable[[str], None] | None = None):
        self.path = root / "partial" / key
        self._root = root
        self._key = key
        self._label = label
        self._notice = notice

    def load(self) -> Result | None:
        """The last partial result that is whole, or None."""
        for path in reversed(self._versions()):
            try:
                return folder.read(path)
            except folder.Damaged as damage:
                if self._notice:
                    whose = self._label or self._key[:12]
                    self._notice(f"a partial result of '{whose}' is damaged ({damage}); not used")
                folder.discard(path)
        return None

    def save(self, result: Result) -> None:
        """Keep a partial result in the place of the last one."""
        old = self._versions()
        number = int(old[-1].name) + 1 if old else 1
        new = folder.aside(self._root, f"partial-{self._key[:12]}")
        folder.write(new, result, {"key": self._key, "label": self._label})
        self.path.mkdir(parents=True, exist_ok=True)
        os.rename(new, self.path / f"{number:06d}")
        for path in old:
            folder.discard(path)

    def clear(self) -> None:
        """Forget the partial results: the stage is done."""
        if self.path.exists():
            folder.discard(self.path)

    def _versions(self) -> list[Path]:
        return sorted(self.path.iterdir(), key=lambda path: int(path.name)) if self.path.is_dir() else []
