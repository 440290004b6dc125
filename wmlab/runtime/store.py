"""The store of results: one folder per key, whole or not there at all."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from wmlab.errors import WmlabError
from wmlab.graph.key import Key, find_root
from wmlab.runtime import codec, folder
from wmlab.runtime.lock import KeyLock
from wmlab.runtime.result import Result


class MissingEntry(WmlabError, LookupError):
    """The store has no entry for a key."""

    def __init__(self, key: str):
        self.key = key
        self.reason = "is missing"
        super().__init__(f"the cache has no entry {key[:12]}; run the experiment to compute it")


class CorruptEntry(WmlabError):
    """An entry is not what was written; it was moved to `quarantine/` and is computed anew by the next run."""

    def __init__(self, key: str, reason: str, label: str = ""):
        self.key = key
        self.label = label  # of the stage, where the manifest still tells it
        self.reason = f"is damaged ({reason})"
        super().__init__(f"cache entry {key[:12]} {self.reason}; it was set aside: run again to recompute it")


class Store:
    """Results by key, under a folder (by default the cache folder from here). A key is given as itself or its hash."""

    def __init__(self, root: Path | str | None = None):
        self.root = find_root() if root is None else Path(root).absolute()

    def beside(self, name: str) -> Path:
        """A folder for what is written down: beside the cache folder of a project, or here when that is elsewhere."""
        return (self.root.parent if self.root.name == ".wmlab" else Path.cwd()) / name

    def path(self, key: Key | str) -> Path:
        """The folder of an entry, whether it exists or not."""
        name = _hash(key)
        return self.root / "objects" / name[:2] / name

    def has(self, key: Key | str) -> bool:
        """Whether there is an entry; its content is verified when it is loaded."""
        return os.path.exists(self.path(key) / folder.MANIFEST)

    def manifest(self, key: Key | str) -> dict[str, Any]:
        """What is written about an entry: its stage, code, versions, times and files."""
        with self._verified(_hash(key)):
            return folder.read_manifest(self.path(key))

    def parts(self, key: Key | str) -> dict[str, Any] | None:
        """The parts that an entry's key was the hash of; None where there is no entry to be trusted."""
        try:
            manifest = self.manifest(key)
        except (MissingEntry, CorruptEntry):
            return None
        return {name: manifest[name] for name in manifest.get("parts", ())}

    def load(self, key: Key | str) -> Result:
        """The result of a key, verified; MissingEntry or CorruptEntry where there is none to be trusted."""
        return codec.decode(self.load_files(key))

    def load_files(self, key: Key | str) -> dict[str, bytes]:
        """The files of an entry as bytes, verified."""
        name = _hash(key)
        with self._verified(name):
            files, manifest = folder.read_files(self.path(name))
            if manifest.get("key") != name:
                raise folder.Damaged("it belongs to another key")
        self.touch(name)
        return files

    def verify(self, key: Key | str) -> None:
        """MissingEntry or CorruptEntry where there is no entry to be trusted; nothing is decoded or kept in memory."""
        name = _hash(key)
        with self._verified(name):
            if folder.verify(self.path(name)).get("key") != name:
                raise folder.Damaged("it belongs to another key")

    def save(self, key: Key | str, result: Result, manifest: Mapping[str, Any]) -> dict[str, Any]:
        """Write an entry aside and give it its name; returns its whole manifest."""
        name = _hash(key)
        self._prepare()
        new = folder.aside(self.root, name[:12])
        try:
            whole = folder.write(new, result, {"key": name, **manifest})
            self._give_name(new, self.path(name))
        except BaseException:
            folder.discard(new)
            raise
        return whole

    def touch(self, key: Key | str) -> None:
        """Note that an entry was used now: clean-ups take the least recently used first."""
        with contextlib.suppress(OSError):
            os.utime(self.path(key) / folder.MANIFEST)

    def remove(self, key: Key | str) -> None:
        """Remove an entry. It is renamed first, so that nobody sees a part of it."""
        gone = folder.aside(self.root, f"removed-{_hash(key)[:12]}")
        with contextlib.suppress(FileNotFoundError):
            os.rename(self.path(key), gone)
        folder.discard(gone)

    def partial(self, key: Key | str, label: str = "", notice: Callable[[str], None] | None = None) -> folder.Partial:
        """The place of a long stage's partial results."""
        return folder.Partial(self.root, _hash(key), label, notice)

    def lock(self, key: Key | str, label: str = "") -> KeyLock:
        """The lock of a key, not yet taken."""
        return KeyLock(self.root / "locks" / f"{_hash(key)}.lock", label)

    def entries(self) -> Iterator[str]:
        """The hashes of all entries."""
        for path in sorted((self.root / "objects").glob("??/*")):
            yield path.name

    def last(self, name: str, profile: str) -> dict[str, str]:
        """The key hash of each stage, by label, at the last run of an experiment; empty before the first."""
        try:
            index = json.loads(self._last_path(name, profile).read_bytes())
        except (OSError, ValueError):
            return {}  # the index only serves to explain: without it a plan says less, and is no less right
        return {str(label): str(key) for label, key in index.items()} if isinstance(index, dict) else {}

    def remember(self, name: str, profile: str, keys: Mapping[str, str]) -> None:
        """Write down the key hash of each stage of an experiment, by label."""
        self._prepare()
        path = self._last_path(name, profile)
        path.parent.mkdir(parents=True, exist_ok=True)
        new = folder.aside(self.root, path.name)  # a reader sees the old index or the new one, never a part
        new.write_text(json.dumps(dict(keys), indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")
        os.replace(new, path)

    def _last_path(self, name: str, profile: str) -> Path:
        return self.root / "last" / quote(name, safe="") / f"{quote(profile, safe='')}.json"

    def _prepare(self) -> None:
        ignore = self.root / ".gitignore"
        if not ignore.exists():
            self.root.mkdir(parents=True, exist_ok=True)
            ignore.write_text("*\n", encoding="utf-8")

    @contextlib.contextmanager
    def _verified(self, key: str) -> Iterator[None]:
        try:
            yield
        except folder.Damaged as damage:
            if not os.path.lexists(self.path(key)):
                raise MissingEntry(key) from None
            label = ""
            with contextlib.suppress(folder.Damaged):
                label = str(folder.read_manifest(self.path(key)).get("label", ""))
            self._quarantine(key)
            raise CorruptEntry(key, str(damage), label) from None

    def _quarantine(self, key: str) -> None:
        place = self.root / "quarantine" / f"{time.strftime('%Y%m%d-%H%M%S')}-{folder.aside(self.root, key).name}"
        place.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):  # another process did it first
            os.rename(self.path(key), place)

    def _give_name(self, new: Path, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.rename(new, path)
        except OSError:
            if not path.exists():
                raise
            if self.has(path.name):  # someone was quicker with the same answer
                folder.discard(new)
                return
            self._quarantine(path.name)
            os.rename(new, path)


def _hash(key: Key | str) -> str:
    return key if isinstance(key, str) else key.hash
