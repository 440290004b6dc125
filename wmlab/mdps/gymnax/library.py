"""gymnax's modules, imported without what only its pictures need."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

PICTURES = "seaborn"  # brings all of pandas and SciPy's statistics: most of the time that gymnax takes to import


class Later(ModuleType):
    """Stands in for a module until something in it is asked for.

    The standard library's lazy loader imports as soon as an import statement looks at what it left.
    """

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self.leave()
        return getattr(importlib.import_module(self.__name__), name)

    def leave(self) -> None:
        """Make room for the module itself."""
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]


def module_of_gymnax(name: str) -> ModuleType:
    """A module of gymnax; nothing but gymnax sees the stand-in."""
    later = Later(PICTURES)
    sys.modules.setdefault(PICTURES, later)
    try:
        return importlib.import_module(name)
    finally:
        later.leave()
