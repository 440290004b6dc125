"""The store of results: one folder per key, whole or not there at all."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from wmlab.errors import WmlabError
from wmlab.graph.key import Key, find_root
from wmlab.runtime import codec, folder, layout
from wmlab.runtime.durable import discard, write_file
from wmlab.runtime.hold import hold
from wmlab.runtime.layout import CacheError
from wmlab.runtime.lock import KeyLock
from wmlab.runtime.result import Result

FSYNC = "WMLAB_FSYNC"  # set to 1: an entry counts as stored when the disk has it
_HASH = re.compile("[0-9a-f]{64}")


class MissingEntry(WmlabError, LookupError):
    """The store has no entry for a key."""

    label = ""  # of the stage: nobody knows

    def __init__(self, key: str):
        self.key = key
        self.reason = "is missing"
        super().__init__(f"the cache has no entry {key[:12]}; run the experiment to compute it")


class CorruptEntry(WmlabError):
    """An entry is not what was written; it was moved to `quarantine/` and is computed anew by the next run."""

    def __init__(self, key: str, reason: str, label: str = "", set_aside: bool = True):
        self.key = key
        self.label = label  # of the stage, where the manifest still tells it
        self.reason = f"is damaged ({reason})"
        then = "was set aside: run again to recompute it" if set_aside else "lies in a cache that cannot be written"
        super().__init__(f"cache entry {key[:12]} {self.reason}; it {then}")


class Store:
    """Results by key, under a folder (by default the cache folder from here). A key is given as itself or its hash.

    What can be read is read without a right to write; CacheError where the folder cannot be a cache.
    """

    def __init__(self, root: Path | str | None = None):
        self.root = find_root() if root is None else Path(root).absolute()
        self._objects = self.root / "objects"
        self.durable = os.environ.get(FSYNC, "0") not in ("", "0")
        self._prepared = False
        self._seconds: dict[str, float | None] = {}  # of entries whose manifests were read
        layout.check(self.root)

    def beside(self, name: str, spec: Path) -> Path:
        """A folder for what is written of a spec: beside the cache `.wmlab` of a project, or here if that is elsewhere.

        The root of the file system is nobody's project: there, it lies beside the spec.
        """
        project = self.root.parent if self.root.name == ".wmlab" else Path.cwd()
        return (spec.absolute().parent if project == Path(project.anchor) else project) / name

    def path(self, key: Key | str) -> Path:
        """The folder of an entry, whether it exists or not."""
        name = _hash(key)
        return self._objects / name[:2] / name

    def has(self, key: Key | str) -> bool:
        """Whether there is an entry; its content is verified when it is loaded."""
        name = _hash(key)  # a path as text: a report asks for thousands
        return os.path.exists(f"{self._objects}/{name[:2]}/{name}/{folder.MANIFEST}")

    def manifest(self, key: Key | str) -> dict[str, Any]:
        """What is written about an entry: its stage, code, versions, times and files."""
        with self.verified(key):
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
        files = self.load_files(key)
        with self.verified(key):
            return codec.decode(files)

    def load_data(self, key: Key | str) -> dict[str, Any]:
        """The record of a key's result, verified with all its files; its arrays are not decoded."""
        files = self.load_files(key)
        with self.verified(key):
            return codec.decode_data(codec.file_of(files, codec.DATA))

    def load_files(self, key: Key | str) -> dict[str, bytes]:
        """The files of an entry as bytes, verified."""
        name = _hash(key)
        with self.verified(name):
            files, manifest = folder.read_files(self.path(name))
            if manifest.get("key") != name:
                raise folder.Damaged("it belongs to another key")
        self._seconds[name] = manifest.get("seconds")
        self.touch(name)
        return files

    def seconds(self, key: Key | str) -> float | None:
        """How long the stage of an entry took; manifests are long, and one that was read is not read again."""
        name = _hash(key)
        if name not in self._seconds:
            self._seconds[name] = self.manifest(name).get("seconds")
        return self._seconds[name]

    def verify(self, key: Key | str) -> None:
        """MissingEntry or CorruptEntry where there is no entry to be trusted; nothing is decoded or kept in memory."""
        name = _hash(key)
        with self.verified(name):
            if folder.verify(self.path(name)).get("key") != name:
                raise folder.Damaged("it belongs to another key")

    @contextlib.contextmanager
    def verified(self, key: Key | str) -> Iterator[None]:
        """Set an entry aside that the block finds Damaged, and raise CorruptEntry, or MissingEntry where it is gone."""
        try:
            yield
        except folder.Damaged as damage:
            name = _hash(key)
            if not os.path.lexists(self.path(name)):
                raise MissingEntry(name) from None
            label = ""
            with contextlib.suppress(folder.Damaged):
                label = str(folder.read_manifest(self.path(name)).get("label", ""))
            is_gone = layout.set_aside(self.root, self.path(name))
            raise CorruptEntry(name, str(damage), label, is_gone) from None

    def problem(self) -> CacheError | None:
        """Why the cache cannot be written to, if it cannot; nothing is left there by asking."""
        return layout.problem(self.root)

    def prepare(self) -> None:
        """Make the cache ready to be written to; CacheError, with what to do, where it cannot be."""
        layout.prepare(self.root)
        self._prepared = True

    def save(self, key: Key | str, result: Result, manifest: Mapping[str, Any]) -> dict[str, Any]:
        """Write an entry aside and give it its name; returns its whole manifest."""
        name = _hash(key)
        new = None
        try:
            if not self._prepared:
                self.prepare()
            new = layout.aside(self.root, name[:12])
            whole = folder.write(new, result, {"key": name, **manifest}, durable=self.durable)
            self._give_name(new, self.path(name))
        except BaseException as error:
            if new is not None:
                discard(new)
            if isinstance(error, OSError):
                raise self._not_stored(error) from None
            raise
        return whole

    def _not_stored(self, error: OSError) -> CacheError:
        if error.errno in layout.FULL:
            why = f"{layout.reason(error)} at {self.root}"
            return CacheError(f"the result cannot be stored: {why}; make room (`wmlab cache gc` may) and run again")
        return layout.unusable(self.root, error, "written")

    def holding(
        self, keys: Iterable[Key | str], notice: Callable[[str], None] | None = None
    ) -> contextlib.AbstractContextManager[None]:
        """Keep entries from being cleaned up, until the block ends: from the first look at them to the last use.

        Where the cache cannot be told, the work goes on; `notice` gets a sentence about it if it matters.
        """
        return hold(self.root, map(_hash, keys), notice)

    def touch(self, key: Key | str) -> None:
        """Note that an entry was used now: clean-ups take the least recently used first."""
        with contextlib.suppress(OSError):
            os.utime(os.path.join(self.path(key), folder.MANIFEST))

    def remove(self, key: Key | str) -> None:
        """Remove an entry. It is renamed first, so that nobody sees a part of it."""
        gone = layout.aside(self.root, f"removed-{_hash(key)[:12]}")
        with contextlib.suppress(FileNotFoundError):
            os.rename(self.path(key), gone)
        discard(gone)

    def partial(self, key: Key | str, label: str = "", notice: Callable[[str], None] | None = None) -> folder.Partial:
        """The place of a long stage's partial results."""
        return folder.Partial(self.root, _hash(key), label, notice)

    def lock(self, key: Key | str, label: str = "") -> KeyLock:
        """The lock of a key, not yet taken."""
        return KeyLock(self.root / "locks" / f"{_hash(key)}.lock", label)

    def entries(self) -> Iterator[str]:
        """The hashes of all entries; whatever else lies among them is none."""
        for group in layout.children(self.root / "objects"):
            for path in layout.children(group):
                if _HASH.fullmatch(path.name) and path.name.startswith(group.name):
                    yield path.name

    def last(self, name: str, profile: str) -> dict[str, str]:
        """The key hash of each stage, by label, at the last run of an experiment; empty before the first."""
        try:
            index = json.loads(layout.read_file(self._last_path(name, profile)))
        except (OSError, ValueError, RecursionError):
            return {}  # the index only serves to explain: without it a plan says less, and is no less right
        return {str(label): str(key) for label, key in index.items()} if isinstance(index, dict) else {}

    def remember(self, name: str, profile: str, keys: Mapping[str, str]) -> None:
        """Write down the key hash of each stage of an experiment, by label, where that can be written."""
        path = self._last_path(name, profile)
        text = json.dumps(dict(keys), indent=1, sort_keys=True, ensure_ascii=False) + "\n"
        with contextlib.suppress(OSError):
            layout.folder(self.root, "last", path.parent.name)
            if path.is_dir():
                layout.set_aside(self.root, path)
            write_file(path, text.encode())

    def _last_path(self, name: str, profile: str) -> Path:
        return self.root / "last" / quote(name, safe="") / f"{quote(profile, safe='')}.json"

    def _give_name(self, new: Path, path: Path) -> None:
        layout.folder(self.root, "objects", path.parent.name)
        try:
            folder.give_name(new, path, durable=self.durable)
        except OSError:
            if not os.path.lexists(path):
                raise
            if self.has(path.name):  # someone was quicker with the same answer
                discard(new)
                return
            layout.set_aside(self.root, path)
            folder.give_name(new, path, durable=self.durable)


def _hash(key: Key | str) -> str:
    return key if isinstance(key, str) else key.hash
