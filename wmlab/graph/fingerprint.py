"""The fingerprint of a source file: the hash of what its syntax tree means, and what it imports.

Positions, docstrings, option docs and blocks for type checkers are left out, so that comments, prose and formatting
change nothing.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

# Arguments that only people read, of what declares options, metrics and functions of expressions.
_PROSE = {"option": {"doc", "example"}, "Metric": {"doc", "label"}, "Function": {"doc"}, "Operation": {"doc"}}
_SKIPPED_FIELDS = {"ctx", "kind", "type_comment"}  # follow from the rest, or are mere spelling
_DEFINITIONS = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Fingerprint:
    """One source file, as far as keys go."""

    hash: str
    imports: frozenset[str]  # dotted names; the last part may be a module or a name inside one


def fingerprint(tree: ast.Module, package: str) -> Fingerprint:
    """The hash of what a syntax tree means, and what it imports; `package` is what relative imports start from."""
    words: list[str] = []
    imports: set[str] = set()
    _spell(tree, words, imports, package)
    return Fingerprint(hashlib.sha256("".join(words).encode("utf-8", "surrogatepass")).hexdigest(), frozenset(imports))


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
    """The parts of a call, without the docs of an option or a metric."""
    imports.update(_imported_by_call(node))
    prose = _PROSE.get(_last_name(node.func) or "", ())
    keywords = [keyword for keyword in node.keywords if keyword.arg not in prose]
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
