"""Fingerprints of code: what a stage's answer depends on beside its parameters, read without importing anything.

A module's fingerprint is the hash of its syntax tree without positions, docstrings, option docs and blocks for type
checkers, so that comments, prose and formatting change nothing. A stage depends on its module and on everything
that it imports within its package, at any depth in a file: heavy imports sit inside functions here. The package of
another party's kind counts whole in the same way.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wmlab.errors import WmlabError
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
    "wmlab.errors",
    "wmlab.cli",
    "wmlab.app.api",
)
FACADE = "wmlab"  # its __init__ re-exports for users and holds the version; what lies below it counts by itself

_PROSE = {"doc", "example"}  # arguments of wmlab.registry.option that only people read
_SKIPPED_FIELDS = {"ctx", "kind", "type_comment"}  # follow from the rest, or are mere spelling
_DEFINITIONS = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Parsed:
    """One source file, as far as fingerprints go."""

    hash: str
    imports: frozenset[str]  # dotted names; the last part may be a module or a name inside one


@dataclass(frozen=True)
class Closure:
    """All the code behind a stage: modules of ours by fingerprint, libraries by the name they are imported under."""

    code: dict[str, str]
    libraries: frozenset[str]


class Code:
    """The source below some folders, each file read at most once."""

    def __init__(self, *folders: Path, excluded: Iterable[str] = EXCLUDED):
        self.folders = folders
        self.excluded = tuple(excluded)
        self._files: dict[str, Path | None] = {}
        self._parsed: dict[str, Parsed] = {}
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
        waiting = list(roots)
        while waiting:
            name = waiting.pop()
            package = name.partition(".")[0]
            if package not in packages:
                libraries.add(package)
                continue
            for module in self._executed(name):
                if module not in code:
                    parsed = self.parse(module)
                    code[module] = parsed.hash
                    waiting.extend(parsed.imports)
        return Closure(dict(sorted(code.items())), frozenset(libraries - sys.stdlib_module_names))

    def _executed(self, name: str) -> Iterator[str]:
        """The modules that run when a dotted name is imported: its packages' __init__ files and itself."""
        parts = name.split(".")
        for end in range(1, len(parts) + 1):
            module = ".".join(parts[:end])
            if self._is_excluded(module):
                return
            if module != FACADE and self.file(module) is not None:
                yield module

    def _is_excluded(self, module: str) -> bool:
        return any(module == root or module.startswith(root + ".") for root in self.excluded)

    def file(self, module: str) -> Path | None:
        """Where a module's source lies, if it is a module."""
        if module not in self._files:
            stem = module.replace(".", "/")
            candidates = (folder / f"{stem}{end}" for folder in self.folders for end in ("/__init__.py", ".py"))
            self._files[module] = next((path for path in candidates if path.is_file()), None)
        return self._files[module]

    def parse(self, module: str) -> Parsed:
        """The fingerprint and the imports of one module."""
        if module not in self._parsed:
            path = self.file(module)
            if path is None:
                raise WmlabError(f"no source file for module {module}")
            package = module if path.name == "__init__.py" else module.rpartition(".")[0]
            try:
                tree = ast.parse(path.read_bytes())
            except (SyntaxError, ValueError) as error:
                raise WmlabError(f"{path}: cannot be read as Python: {error}") from error
            self._parsed[module] = fingerprint(tree, package)
        return self._parsed[module]


def fingerprint(tree: ast.Module, package: str) -> Parsed:
    """The hash of what a syntax tree means, and what it imports; `package` is what relative imports start from."""
    words: list[str] = []
    imports: set[str] = set()
    _spell(tree, words, imports, package)
    return Parsed(hashlib.sha256("".join(words).encode("utf-8", "surrogatepass")).hexdigest(), frozenset(imports))


def _spell(node: ast.AST, words: list[str], imports: set[str], package: str) -> None:
    """Write a tree down unambiguously. By hand, for a transformer and ast.dump take more than twice as long."""
    kind = node.__class__
    if kind is ast.Name:  # the two commonest nodes, for speed
        words.append(f"(Name {node.id})")  # type: ignore[attr-defined]
        return
    if kind is ast.Constant:
        words.append(f"(Constant {node.value!r})")  # type: ignore[attr-defined]
        return
    if kind is ast.Import or kind is ast.ImportFrom:
        imports.update(_imported(node, package))  # type: ignore[arg-type]
    words.append(f"({kind.__name__}")
    fields = _without_prose(node, imports) if isinstance(node, ast.Call) else _fields(node)
    for field, value in fields:
        if isinstance(value, ast.AST):
            _spell(value, words, imports, package)
        elif isinstance(value, list):
            words.append("[")
            for item in _meaningful(node, value) if field in ("body", "orelse") else value:
                if isinstance(item, ast.AST):
                    _spell(item, words, imports, package)
                else:
                    words.append(f" {item!r}")
            words.append("]")
        else:
            words.append(f" {value!r}")
    words.append(")")


def _fields(node: ast.AST) -> Iterator[tuple[str, Any]]:
    return ((field, getattr(node, field, None)) for field in node._fields if field not in _SKIPPED_FIELDS)


def _without_prose(node: ast.Call, imports: set[str]) -> Iterator[tuple[str, Any]]:
    """The parts of a call, without the docs of an option."""
    imports.update(_imported_by_call(node))
    keywords = node.keywords
    if _last_name(node.func) == "option":
        keywords = [keyword for keyword in keywords if keyword.arg not in _PROSE]
    return iter((("func", node.func), ("args", node.args), ("keywords", keywords)))


def _meaningful(parent: ast.AST, body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a block, without its docstring and without what only type checkers read."""
    for position, statement in enumerate(body):
        if position == 0 and isinstance(parent, _DEFINITIONS) and _is_text(statement):
            continue
        if isinstance(statement, ast.If) and _last_name(statement.test) == "TYPE_CHECKING":
            yield from _meaningful(statement, statement.orelse)
        else:
            yield statement


def _is_text(statement: ast.stmt) -> bool:
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _last_name(node: ast.AST) -> str | None:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else None


def _imported(node: ast.Import | ast.ImportFrom, package: str) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
        return
    parents = package.split(".")
    base = parents[: len(parents) - node.level + 1] if node.level else []
    origin = ".".join([*base, *([node.module] if node.module else [])])
    yield from (origin if alias.name == "*" else f"{origin}.{alias.name}" for alias in node.names)


def _imported_by_call(node: ast.Call) -> Iterator[str]:
    """`import_module("wmlab.x")` with its name written out is as good as an import statement."""
    if _last_name(node.func) == "import_module" and node.args:
        name = node.args[0]
        if isinstance(name, ast.Constant) and isinstance(name.value, str):
            yield name.value


@functools.cache
def source() -> Code:
    """The code of this installation. Other packages are found on the import path, or where their kinds were found."""
    return Code(Path(__file__).parents[2], *(Path(entry) for entry in sys.path if entry), *outside().folders)
