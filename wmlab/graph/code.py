"""The code behind a stage: what its answer depends on beside its parameters, read without importing anything.

A stage depends on its module and on everything that it imports within its package, at any depth in a file: heavy
imports sit inside functions here. The package of another party's kind counts in the same way. Each module counts by its
fingerprint.
"""

from __future__ import annotations

import ast
import functools
import json
import os
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from wmlab.errors import WmlabError
from wmlab.graph import fingerprint as fingerprints
from wmlab.graph.fingerprint import Fingerprint, fingerprint
from wmlab.registry import outside

# These decide what is asked, where it runs and how it is shown, and not what the answer is: the resolved parameters
# carry all that the language and the registry say, and the runtime hands arrays through unchanged.
EXCLUDED = (
    "wmlab.spec",
    "wmlab.graph",
    "wmlab.runtime",
    "wmlab.report",
    "wmlab.app",
    "wmlab.registry",
    "wmlab.sections",
    "wmlab.errors",
    "wmlab.cli",
)
FACADE = "wmlab"  # its __init__ re-exports for users and holds the version; what lies below it counts by itself
RECENT = 2.0  # seconds in which a file may change again without a change of its times

Signature = tuple[int, ...]  # of a file: its times, size and place on the disk


@dataclass(frozen=True)
class Closure:
    """All the code behind a stage: modules of ours by fingerprint, libraries by the name they are imported under."""

    code: dict[str, str]
    libraries: frozenset[str]


class KnownFingerprints:
    """Fingerprints of files that have not changed since they were last read, kept in a file of the cache folder.

    A file counts as unchanged when its size, its place on the disk and the times of its last change are the same; the
    system sets the latter of these times, and no tool sets it back. A file that was changed a moment ago is never kept.
    """

    def __init__(self, path: Path):
        self._path = path
        # What reads fingerprints has one, too: another reader would have given others.
        reader = [signature(Path(file)) for file in (__file__, fingerprints.__file__)]
        self._reader = None if None in reader else str([sys.version, reader])
        self._known: dict[str, tuple[Signature, Fingerprint]] = {}
        self._changed = False
        with suppress(OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            stored = json.loads(path.read_bytes()) if path.is_file() else {}  # a pipe would be waited for for ever
            if stored["reader"] == self._reader is not None:
                for file, (when, digest, imports) in stored["files"].items():
                    self._known[file] = (tuple(when), Fingerprint(digest, frozenset(imports)))

    def of(self, path: Path, package: str) -> Fingerprint:
        """The fingerprint of a file, read only if it is not known."""
        now, name = signature(path), f"{package} {path}"
        known = self._known.get(name)
        if known is not None and known[0] == now:
            return known[1]
        read = read_fingerprint(path, package) if now is None else read_unchanged(path, package, now)
        if now is not None and now == signature(path):
            self._known[name] = (now, read)
            self._changed = True
        return read

    def keep(self) -> None:
        """Write down what was read, where there is a cache folder; otherwise it is read again next time."""
        if not self._changed or self._reader is None or not self._path.parent.is_dir():
            return
        self._changed = False
        files = {file: [when, each.hash, sorted(each.imports)] for file, (when, each) in self._known.items()}
        aside = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        with suppress(OSError):
            aside.write_text(json.dumps({"reader": self._reader, "files": files}), encoding="utf-8")
            os.replace(aside, self._path)


def signature(path: Path) -> Signature | None:
    """What differs when a file has changed; None where that cannot be told, for it changed a moment ago."""
    state = os.stat(path)
    if time.time() - max(state.st_mtime, state.st_ctime) < RECENT:
        return None
    return state.st_mtime_ns, state.st_ctime_ns, state.st_size, state.st_ino, state.st_dev


def read_fingerprint(path: Path, package: str) -> Fingerprint:
    try:
        return fingerprint(ast.parse(path.read_bytes()), package)
    except (SyntaxError, ValueError) as error:
        raise WmlabError(f"{path}: cannot be read as Python: {error}") from error


@functools.cache
def read_unchanged(path: Path, package: str, when: Signature) -> Fingerprint:
    """The same, once in a process as long as the file's signature stays, whatever cache folders are used in it."""
    return read_fingerprint(path, package)


class Code:
    """The source below some folders, each file read at most once."""

    def __init__(self, *folders: Path, excluded: Iterable[str] = EXCLUDED, known: KnownFingerprints | None = None):
        self.folders = [str(folder) for folder in folders]
        self.excluded = tuple(excluded)
        self.known = known
        self._files: dict[str, Path | None] = {}
        self._fingerprints: dict[str, Fingerprint] = {}
        self._executed: dict[str, tuple[str, ...]] = {}
        self._closures: dict[tuple[str, ...], Closure] = {}

    def closure(self, modules: Sequence[str]) -> Closure:
        """Fingerprints of modules and of all that they import, directly or not, from their own packages."""
        roots = tuple(sorted(set(modules)))
        if roots not in self._closures:
            self._closures[roots] = self._walk(roots)
        return self._closures[roots]

    def _walk(self, roots: tuple[str, ...]) -> Closure:
        for module in roots:
            if self.file(module) is None:
                raise WmlabError(f"no source file for module {module}")
        packages = {FACADE, *(module.partition(".")[0] for module in roots)}
        code: dict[str, str] = {}
        libraries: set[str] = set()
        waiting, seen = list(roots), set(roots)
        while waiting:
            name = waiting.pop()
            package = name.partition(".")[0]
            if package not in packages:
                libraries.add(package)
                continue
            for module in self.executed(name):
                if module not in code:
                    read = self.fingerprint(module)
                    code[module] = read.hash
                    waiting.extend(read.imports - seen)
                    seen |= read.imports
        return Closure(dict(sorted(code.items())), frozenset(libraries - sys.stdlib_module_names))

    def executed(self, name: str) -> tuple[str, ...]:
        """The modules that run when a dotted name is imported: its packages' __init__ files and itself."""
        if name not in self._executed:
            outer, _, _ = name.rpartition(".")
            before = self.executed(outer) if outer else ()
            counts = name != FACADE and not self._is_excluded(name) and self.file(name) is not None
            self._executed[name] = (*before, name) if counts else before
        return self._executed[name]

    def _is_excluded(self, module: str) -> bool:
        return any(module == root or module.startswith(root + ".") for root in self.excluded)

    def file(self, module: str) -> Path | None:
        """Where a module's source lies, if it is a module."""
        if module not in self._files:
            stem = module.replace(".", "/")
            candidates = (f"{folder}/{stem}{end}" for folder in self.folders for end in ("/__init__.py", ".py"))
            outer = self._files.get(module.rpartition(".")[0])
            inside = outer is not None and outer.name != "__init__.py"  # a name in a module is no module itself
            file = None if inside else next((path for path in candidates if os.path.isfile(path)), None)
            self._files[module] = None if file is None else Path(file)
        return self._files[module]

    def fingerprint(self, module: str) -> Fingerprint:
        """The fingerprint and the imports of one module."""
        if module not in self._fingerprints:
            path = self.file(module)
            if path is None:
                raise WmlabError(f"no source file for module {module}")
            package = module if path.name == "__init__.py" else module.rpartition(".")[0]
            read = self.known.of if self.known is not None else read_fingerprint
            self._fingerprints[module] = read(path, package)
        return self._fingerprints[module]


@functools.cache
def source(known: Path | None = None) -> Code:
    """The code of this installation. Other packages are found on the import path, or where their kinds were found.

    `known` is the file that fingerprints are kept in.
    """
    folders = (Path(__file__).parents[2], *(Path(entry) for entry in sys.path if entry), *outside().folders)
    return Code(*folders, known=None if known is None else KnownFingerprints(known))
