"""Kinds of continuous worlds, imported whether or not the registry lists them."""

from __future__ import annotations

import importlib
from typing import Any

from wmlab.registry import Family, mdps, solvers


def _module(family: Family, name: str, module: str) -> Any:
    listed = name in family
    family.modules.setdefault(name, module)
    found = importlib.import_module(module)
    if not listed:
        del family.modules[name]
    return found


gymnax = _module(mdps, "gymnax", "wmlab.mdps.gymnax")
solver = _module(solvers, "grid_value_iteration", "wmlab.planning.grid_value_iteration")


def world(env: str, **options: Any) -> Any:
    return gymnax.gymnax(gymnax.Options(env, **options), 0)
