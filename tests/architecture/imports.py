"""Who imports whom within wmlab, read from the sources: lazy imports and those for types count."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from pathlib import Path

import networkx as nx

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "wmlab"
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}


@functools.cache
def imports(module: str, whole: bool = True) -> frozenset[str]:
    """The modules that a module imports: all of them, or only those at its top, outside functions and type checks."""
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    names: set[str] = set()
    for node in ast.walk(tree) if whole else outermost(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{module}: relative imports hide where they lead"
            names |= {
                f"{node.module}.{alias.name}" if f"{node.module}.{alias.name}" in MODULES else node.module
                for alias in node.names
            }
    return frozenset(names)


def outermost(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes that run when a module is imported."""
    for node in ast.iter_child_nodes(tree):
        for_types = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        if for_types or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        yield node
        yield from outermost(node)


def reached(module: str, whole: bool) -> set[str]:
    """Everything of wmlab's own that an import of this module brings along, and it itself."""
    names, open_names = {module}, [module]
    while open_names:
        for name in imports(open_names.pop(), whole):
            if name in MODULES and name not in names:
                names.add(name)
                open_names.append(name)
    return names


def module_graph() -> nx.DiGraph:
    """An edge from each module to each module of wmlab that it imports."""
    graph = nx.DiGraph()
    graph.add_nodes_from(MODULES)
    graph.add_edges_from((name, other) for name in MODULES for other in imports(name) if other in MODULES)
    graph.remove_edges_from(nx.selfloop_edges(graph))
    return graph


def room_of(module: str) -> str:
    """The room that a module is in: the package, or the module itself, right below wmlab."""
    return module.split(".")[1] if "." in module else module


def room_graph() -> nx.DiGraph:
    """An edge from each room to each room that one of its modules imports."""
    graph = nx.DiGraph()
    for name, other in module_graph().edges:
        if "wmlab" not in (name, other) and room_of(name) != room_of(other):
            graph.add_edge(room_of(name), room_of(other))
    return graph
