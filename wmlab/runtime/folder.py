"""A result in a folder, with a manifest that a person can read and that tells whether the files are whole."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from wmlab.graph.stage import digest
from wmlab.runtime import codec, layout
from wmlab.runtime.codec import Damaged
from wmlab.runtime.durable import discard, make_folders, share, sync_folder, sync_tree
from wmlab.runtime.result import Result

MANIFEST = "manifest.json"
_SEAL = "sha256"


def write(path: Path, result: Result, manifest: Mapping[str, Any], *, durable: bool = False) -> dict[str, Any]:
    """Write a result and its manifest into a new folder, and return the manifest with the files' checksums.

    Only with `durable` is anything flushed to the disk by force: otherwise the checksums tell, after a power cut, what
    was lost.
    """
    files = codec.encode(result)
    whole = dict(manifest)
    whole["files"] = {
        name: {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()} for name, content in files.items()
    }
    whole[_SEAL] = digest(whole)
    make_folders(path)
    text = json.dumps(whole, indent=1, ensure_ascii=False) + "\n"
    for name, content in {**files, MANIFEST: text.encode()}.items():
        (path / name).write_bytes(content)
        share(path / name)
    if durable:
        sync_tree(path)
    return whole


def give_name(new: Path, path: Path, *, durable: bool = False) -> None:
    """Give a folder that was written aside its name; OSError where something has that name."""
    os.rename(new, path)
    if durable:
        sync_folder(path.parent)


def read_manifest(path: Path) -> dict[str, Any]:
    """The manifest of a folder; Damaged where it is missing or not what was written."""
    try:
        manifest = json.loads(layout.read_file(os.path.join(path, MANIFEST)))
        seal = manifest.pop(_SEAL)
        whole = digest(manifest) == seal
    except FileNotFoundError:
        raise Damaged(f"{MANIFEST} is missing") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise Damaged(f"{MANIFEST} cannot be read") from None
    if not whole:
        raise Damaged(f"{MANIFEST} was changed after it was written")
    if not _is_manifest(manifest):
        raise Damaged(f"{MANIFEST} is none that this version writes")
    return manifest


def glance(path: Path) -> tuple[str, int]:
    """The label of a folder's stage and the bytes of all its files, by its manifest; Damaged where that is none.

    Whether it is what was written is not looked at: of a hundred thousand entries that would take a minute.
    """
    try:
        text = layout.read_file(path / MANIFEST)
        manifest = json.loads(text)
        if not _is_manifest(manifest):
            raise Damaged(f"{MANIFEST} is none that this version writes")
        return str(manifest.get("label", "")), len(text) + sum(int(file["size"]) for file in manifest["files"].values())
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise Damaged(f"{MANIFEST} cannot be read") from None


def _is_manifest(manifest: dict[str, Any]) -> bool:
    """Whether what is sealed is of the shape that all readers count on."""
    files, parts = manifest.get("files"), manifest.get("parts", [])
    return (
        isinstance(files, dict)
        and all(isinstance(name, str) and os.path.basename(name) == name for name in files)
        and all(isinstance(file, dict) and file.keys() == {"size", "sha256"} for file in files.values())
        and isinstance(manifest.get("label", ""), str)
        and isinstance(manifest.get("seconds", 0.0), int | float)
        and isinstance(parts, list)
        and all(isinstance(name, str) and name in manifest for name in parts)
    )


def read_files(path: Path) -> tuple[dict[str, bytes], dict[str, Any]]:
    """The verified files of a folder and its manifest; Damaged where a file is missing or differs."""
    files: dict[str, bytes] = {}
    return files, verify(path, files)


def verify(path: Path, keep: dict[str, bytes] | None = None) -> dict[str, Any]:
    """The manifest of a folder; Damaged where a file is missing or differs.

    The files' content is put into `keep`; without it, large files are read piece by piece.
    """
    manifest = read_manifest(path)
    for name, expected in manifest["files"].items():
        file = os.path.join(path, name)
        try:
            if keep is None:
                size, checksum = _checksum(file)
            else:
                keep[name], size = layout.read_sized(file, expected["size"])
                checksum = hashlib.sha256(keep[name]).hexdigest()
        except FileNotFoundError:
            raise Damaged(f"{name} is missing") from None
        except OSError as error:
            raise Damaged(f"{name} cannot be read: {layout.reason(error)}") from None
        if size != expected["size"]:
            raise Damaged(f"{name} has {size} bytes instead of {expected['size']}")
        if checksum != expected["sha256"]:
            raise Damaged(f"sha256 of {name} differs")
    return manifest


def _checksum(path: str) -> tuple[int, str]:
    """The size and the SHA-256 of a file, which is read piece by piece."""
    with layout.open_file(path) as file:
        return os.fstat(file.fileno()).st_size, hashlib.file_digest(file, "sha256").hexdigest()


class Partial:
    """The partial results of a long stage: a kill loses the time since the last one. The last whole one counts."""

    def __init__(self, root: Path, key: str, label: str = "", notice: Callable[[str], None] | None = None):
        self.path = root / "partial" / key
        self._root, self._key, self._label, self._notice = root, key, label, notice

    def load(self) -> Result | None:
        """The last partial result that is whole and of this key, or None."""
        for path in reversed(self._versions()):
            try:
                files, manifest = read_files(path)
                if manifest.get("key") != self._key:
                    raise Damaged("it belongs to another key")
                return codec.decode(files)
            except Damaged as damage:
                self._say(f"is damaged ({damage}); not used")
                layout.set_aside(self._root, path)
        return None

    def save(self, result: Result) -> None:
        """Keep a partial result in the place of the last one; a stage goes on without where it cannot be written."""
        old = self._versions()
        number = int(old[-1].name) + 1 if old else 1
        new = None
        try:
            new = layout.aside(self._root, f"partial-{self._key[:12]}")
            write(new, result, {"key": self._key, "label": self._label})
            os.rename(new, layout.folder(self._root, "partial", self._key) / f"{number:06d}")
        except OSError as error:
            if new is not None:
                discard(new)
            self._say(f"cannot be written ({layout.reason(error)}); the stage goes on")
            return
        for path in old:
            discard(path)

    def clear(self) -> None:
        """Forget the partial results: the stage is done."""
        discard(self.path)

    def _versions(self) -> list[Path]:
        """The partial results, the latest last; whatever else lies there is none."""
        named = [path for path in layout.children(self.path) if path.name.isascii() and path.name.isdigit()]
        return sorted(named, key=lambda path: int(path.name))

    def _say(self, text: str) -> None:
        if self._notice:
            self._notice(f"a partial result of '{self._label or self._key[:12]}' {text}")
