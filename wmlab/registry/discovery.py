"""Which kinds there are: read from registration lines in source files, without importing any of them.

A kind of ours is a line `@mdps.register("ring", …)` at the top level of a module in its family's package. Another
package adds kinds by an entry point of the group `wmlab.kinds` that names a module with such lines:

    [project.entry-points."wmlab.kinds"]
    ring = "wmlab_ring.world"
"""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from wmlab.errors import WmlabError

GROUP = "wmlab.kinds"
ROOT = Path(__file__).resolve().parents[2]
# A line in a docstring that starts like this would count, too: there, indent it.
LINE = re.compile(r'^@(?:[\w.]+\.)?(mdps|rewards|agents|extractions|solvers)\.register\(\s*["\'](\w+)["\']', re.M)


class KindError(WmlabError):
    """A kind that cannot be used, and which package is to blame."""

    exit_code = 2


@dataclass(frozen=True)
class Registration:
    """A registration line that some module's source has."""

    register: str  # the family's name in code: mdps, rewards, …
    kind: str
    module: str
    package: str  # the installed distribution that the module belongs to


@dataclass
class Outside:
    """What other packages declare under the entry point group."""

    kinds: dict[tuple[str, str], list[Registration]] = field(default_factory=dict)  # by register and kind
    problems: list[str] = field(default_factory=list)  # entry points that bring nothing
    folders: list[Path] = field(default_factory=list)  # where the packages' sources lie


def own_kinds(register: str, package: str) -> dict[str, str]:
    """Kind: module, of a family's package in wmlab. A folder counts by its __init__."""
    folder = ROOT / package.replace(".", "/")
    modules: dict[str, str] = {}
    for path in sorted([*folder.glob("*.py"), *folder.glob("*/__init__.py")]):
        name = path.parent.name if path.name == "__init__.py" else path.stem
        module, lines = f"{package}.{name}", LINE.findall(path.read_text(encoding="utf-8"))
        for kind in (kind for family, kind in lines if family == register):
            if kind in modules:
                raise KindError(f"two lines register '{kind}' with {register}: in {modules[kind]} and in {module}")
            modules[kind] = module
    return modules


@functools.cache
def outside() -> Outside:
    """The kinds of other packages: metadata and sources are read once in a process, and no module is imported."""
    outside = Outside()
    for package, module in sorted(entry_points()) if any_entry_point() else ():
        path = source_file(module)
        lines = [] if path is None else LINE.findall(path.read_text(encoding="utf-8", errors="replace"))
        if path is None:
            outside.problems.append(f"the package {package} names {module} under {GROUP}, and there is no such module")
        elif not lines:
            outside.problems.append(f"the package {package} names {module} under {GROUP}, which registers no kind")
        else:
            outside.folders.append(path.parents[len(module.split(".")) - (path.name != "__init__.py")])
        for register, kind in lines:
            known = outside.kinds.setdefault((register, kind), [])
            known.append(Registration(register, kind, module, package))
    return outside


def entry_points() -> Iterator[tuple[str, str]]:
    """The package and the module of each entry point."""
    from importlib import metadata

    for point in metadata.entry_points(group=GROUP):
        yield point.dist.name if point.dist is not None else point.name, point.value.partition(":")[0].strip()


def any_entry_point() -> bool:
    """Whether a package on the path may declare kinds: importing importlib.metadata only to hear no takes 30 ms."""
    for folder in sys.path:
        try:
            names = os.listdir(folder or ".")
        except OSError:
            continue
        for name in names:
            if name.endswith((".dist-info", ".egg-info")):
                points = Path(folder, name, "entry_points.txt")
                if points.is_file() and GROUP in points.read_text(encoding="utf-8", errors="replace"):
                    return True
    return False


def source_file(module: str) -> Path | None:
    """Where a module's source lies. Asking for a submodule's place would import its package, so folders are walked."""
    top, *below = module.split(".")
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return None
    if spec is None:
        return None
    if not below:
        return Path(spec.origin) if spec.origin is not None and spec.origin.endswith(".py") else None
    for folder in spec.submodule_search_locations or ():
        for end in (".py", "/__init__.py"):
            path = Path(folder, *below[:-1], f"{below[-1]}{end}")
            if path.is_file():
                return path
    return None
