"""The content of files that a spec names is part of the question: an edited file is another world, or agent."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wmlab.errors import WmlabError


class Contents:
    """Hashes of files, each read once for one plan."""

    def __init__(self) -> None:
        self._hashes: dict[str, str] = {}

    def pinned(self, world: Mapping[str, Any]) -> dict[str, Any]:
        """Options and, where they name a file, the hash of what that file holds."""
        file = world.get("file")
        return dict(world) if file is None else {**world, "sha256": self.sha256(file)}

    def within(self, agent: Mapping[str, Any]) -> dict[str, Any]:
        """An agent's options, each part of them that names a file with the hash of what that file holds."""
        return {
            name: self.pinned(part) if isinstance(part, Mapping) and isinstance(part.get("file"), str) else part
            for name, part in agent.items()
        }

    def sha256(self, file: str) -> str:
        if file not in self._hashes:
            try:
                self._hashes[file] = hashlib.sha256(Path(file).read_bytes()).hexdigest()
            except OSError as error:
                raise WmlabError(f"cannot read {file}: {error.strerror or error}") from None
        return self._hashes[file]
