"""A result in a folder, with a manifest that a person can read and that tells whether the files are whole."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from wmlab.graph.stage import digest
from wmlab.runtime import codec
from wmlab.runtime.result import Result

MANIFEST = "manifest.json"
_SEAL = "sha256"
_counter = itertools.count()


class Damaged(Exception):
    """A folder is not what was written; the message says in what way."""


def aside(root: Path, name: str) -> Path:
    """A new name in `tmp/`, for what is written aside and then renamed."""
    folder = root / "tmp"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{name}-{os.getpid()}-{next(_counter)}"


def write(path: Path, result: Result, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Write a result and its manifest into a new folder, and return the manifest with the files' checksums.

    Nothing is flushed to the disk by force: after a power cut the checksums tell what was lost.
    """
    files = codec.encode(result)
    whole = dict(manifest)
    whole["files"] = {
        name: {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()} for name, content in files.items()
    }
    whole[_SEAL] = digest(whole)
    path.mkdir(parents=True)
    for name, content in files.items():
        (path / name).write_bytes(content)
    (path / MANIFEST).write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return whole


def read_manifest(path: Path) -> dict[str, Any]:
    """The manifest of a folder; Damaged where it is missing or not what was written."""
    try:
        manifest = json.loads((path / MANIFEST).read_bytes())
        seal = manifest.pop(_SEAL)
        whole = isinstance(manifest["files"], dict) and digest(manifest) == seal
    except FileNotFoundError:
        raise Damaged(f"{MANIFEST} is missing") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise Damaged(f"{MANIFEST} cannot be read") from None
    if not whole:
        raise Damaged(f"{MANIFEST} was changed after it was written")
    return manifest


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
        try:
            size = os.path.getsize(path / name)
            if size != expected["size"]:
                raise Damaged(f"{name} has {size} bytes instead of {expected['size']}")
            with open(path / name, "rb") as file:
                if keep is None:
                    checksum = hashlib.file_digest(file, "sha256")
                else:
                    keep[name] = file.read()
                    checksum = hashlib.sha256(keep[name])
        except FileNotFoundError:
            raise Damaged(f"{name} is missing") from None
        except OSError as error:
            raise Damaged(f"{name} cannot be read: {error.strerror}") from None
        if checksum.hexdigest() != expected["sha256"]:
            raise Damaged(f"sha256 of {name} differs")
    return manifest


def discard(path: Path) -> None:
    """Remove a file or a folder, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


class Partial:
    """The partial results of a long stage: a kill loses the time since the last one. The last whole one counts."""

    def __init__(self, root: Path, key: str, label: str = "", notice: Callable[[str], None] | None = None):
        self.path = root / "partial" / key
        self._root, self._key, self._label, self._notice = root, key, label, notice

    def load(self) -> Result | None:
        """The last partial result that is whole, or None."""
        for path in reversed(self._versions()):
            try:
                return codec.decode(read_files(path)[0])
            except Damaged as damage:
                if self._notice:
                    whose = self._label or self._key[:12]
                    self._notice(f"a partial result of '{whose}' is damaged ({damage}); not used")
                discard(path)
        return None

    def save(self, result: Result) -> None:
        """Keep a partial result in the place of the last one."""
        old = self._versions()
        number = int(old[-1].name) + 1 if old else 1
        new = aside(self._root, f"partial-{self._key[:12]}")
        write(new, result, {"key": self._key, "label": self._label})
        self.path.mkdir(parents=True, exist_ok=True)
        os.rename(new, self.path / f"{number:06d}")
        for path in old:
            discard(path)

    def clear(self) -> None:
        """Forget the partial results: the stage is done."""
        discard(self.path)

    def _versions(self) -> list[Path]:
        return sorted(self.path.iterdir(), key=lambda path: int(path.name)) if self.path.is_dir() else []
