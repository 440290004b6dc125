"""The environments that the installed gymnax has, and what their states hold, read from its sources.

Importing gymnax imports JAX, which `validate` and `reference` do without.
"""

from __future__ import annotations

import ast
import functools
import importlib.util
from pathlib import Path

REGISTRATION = "registration.py"
STATE = "EnvState"
COUNTER = "time"  # steps of the episode, which are no part of the world


@functools.cache
def environment_files() -> dict[str, Path]:
    """Environment: the file that defines it; none where gymnax keeps its list in another form."""
    spec = importlib.util.find_spec("gymnax")
    if spec is None or spec.origin is None or not (Path(spec.origin).parent / REGISTRATION).is_file():
        return {}
    package = Path(spec.origin).parent
    tree = ast.parse((package / REGISTRATION).read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    modules = {
        alias.name: package.joinpath(*str(node.module).split(".")[1:], f"{alias.name}.py")
        for node in imports
        for alias in node.names
    }
    tables = [node for node in ast.walk(tree) if isinstance(node, ast.Dict)]
    pairs = [pair for table in tables for pair in zip(table.keys, table.values, strict=True)]
    named = {
        key.value: modules.get(value.value.id)
        for key, value in pairs
        if isinstance(key, ast.Constant) and isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name)
    }
    return {str(name): file for name, file in sorted(named.items()) if file is not None and file.is_file()}


@functools.cache
def fields(environment: str) -> tuple[str, ...]:
    """What an environment's state holds beside the time; nothing where that cannot be read."""
    file = environment_files().get(environment)
    if file is None:
        return ()
    classes = [node for node in ast.parse(file.read_text(encoding="utf-8")).body if isinstance(node, ast.ClassDef)]
    parts = [part for node in classes if node.name == STATE for part in node.body if isinstance(part, ast.AnnAssign)]
    names = [part.target.id for part in parts if isinstance(part.target, ast.Name)]
    return tuple(name for name in names if name != COUNTER)
