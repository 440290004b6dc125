"""What the gallery holds: `reports/gallery/contents.yaml`, and the results beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from wmlab.report.data import RESULTS, SETTINGS

ROOT = Path(__file__).parent.parent.parent
FOLDER = ROOT / "reports" / "gallery"
CONTENTS, PICTURE, FIGURE = "contents.yaml", "page.png", "figure.svg"


class GalleryError(Exception):
    """What is wrong with a run, a page or a marker, in words."""


class NotYet(Exception):
    """A run that the gallery is to show, and that has not been made with this version."""


@dataclass(frozen=True)
class Entry:
    """A run that the gallery shows."""

    spec: str  # where it lies, below the repository
    profile: str  # the one that `wmlab run` takes by default
    figure: str = ""  # of its report, the one that pages show
    shows: str = ""  # what there is to see in it
    chosen: str = ""  # which seeds had a part in choosing settings or bounds


@dataclass(frozen=True, eq=False)  # one is not another: what was read is kept with it
class Gallery:
    """The runs that are there, by the names of their specs, and numbers that are quoted and not measured."""

    folder: Path
    entries: Mapping[str, Entry]
    quoted: Mapping[str, str]
    pending: tuple[str, ...] = ()
    _read: dict[str, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def at(cls, folder: Path = FOLDER) -> Gallery:
        declared = yaml.safe_load((folder / CONTENTS).read_text(encoding="utf-8"))
        entries = {name: Entry(**entry) for name, entry in declared["runs"].items()}
        quoted = {name: str(one["text"]) for name, one in declared["quoted"].items()}
        return cls(folder, entries, quoted, tuple(declared["pending"] or ()))

    @cached_property
    def folders(self) -> dict[str, Path]:
        """The folder of each result by the name of its spec; members of a suite without a page lie in the suite's."""
        found = sorted(self.folder.glob(f"*/{RESULTS}")) + sorted(self.folder.glob(f"*/*/{RESULTS}"))
        return {path.parent.name: path.parent for path in found}

    def results(self, name: str) -> Mapping[str, Any]:
        """The results of a spec; NotYet where they are still to come."""
        return self._json(name, RESULTS)

    def settings(self, name: str) -> dict[str, Any]:
        """What the spec said, by paths."""
        return {row["path"]: row["value"] for row in self._json(name, SETTINGS)}

    def _json(self, name: str, file: str) -> Any:
        if name in self.pending:
            raise NotYet(name)
        if name not in self.folders:
            raise GalleryError(f"the gallery has no run of '{name}'")
        path = self.folders[name] / file
        if str(path) not in self._read:
            self._read[str(path)] = json.loads(path.read_text(encoding="utf-8"))
        return self._read[str(path)]

    def parts(self, name: str) -> list[Mapping[str, Any]]:
        """The results of a spec, and those of its members where it is a suite."""
        results = self.results(name)
        return [results, *(self.results(member) for member in results.get("suite", ()))]
