"""Keys: what the store is addressed by, taken before anything runs.

A stage's id is its question. Its key is the question together with all else that decides the answer's bits: the keys
of its inputs, the code behind it, the versions of the libraries which that code imports, and the type of device.
"""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import pwd
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from wmlab.errors import UsageError, WmlabError
from wmlab.graph.code import Closure, Code, source
from wmlab.graph.stage import Stage, Stages, canonical

# Import name: the distributions whose versions decide what it computes. Any other library counts by its own name.
LIBRARIES = {
    "jax": ("jax", "jaxlib"),
    "jaxlib": ("jaxlib",),
    "flax": ("flax", "jax", "jaxlib"),
    "optax": ("optax", "jax", "jaxlib"),
    "gymnax": ("gymnax", "jax", "jaxlib"),
    "scipy": ("scipy", "numpy"),
}
# JAX runs on an accelerator where one of these is installed and a device node of its maker exists.
PLUGINS = {
    "jax-cuda12-plugin": ("/dev/nvidia0", "/dev/nvidiactl", "/dev/dxg"),
    "jax-cuda13-plugin": ("/dev/nvidia0", "/dev/nvidiactl", "/dev/dxg"),
    "jax-rocm60-plugin": ("/dev/kfd",),
    "jax-rocm7-plugin": ("/dev/kfd",),
}


FINGERPRINTS = "fingerprints.json"  # in the cache folder: those of code that has not changed


@dataclass(frozen=True)
class Key:
    """The address of a stage's answer, and the readable parts that it is the hash of."""

    hash: str
    parts: Mapping[str, Any]


def find_root(start: Path | str | None = None, *, trust: bool = False) -> Path:
    """The cache folder: WMLAB_HOME, or `.wmlab` in the nearest folder that has one, or a new one here.

    One that is only found has to be ours, unless `trust`: whoever owns it says what the results are.
    """
    if home := os.environ.get("WMLAB_HOME"):
        try:
            return _absolute(Path(home).expanduser())
        except RuntimeError:
            raise UsageError(f"WMLAB_HOME is {home}, and there is no such user; write the whole path") from None
    here = _absolute(Path(start or "."))
    for place in (here, *here.parents):
        root = place / ".wmlab"
        if root.is_dir():
            if not trust and not _is_ours(root):
                raise _not_ours(root)
            return root
    return here / ".wmlab"


def _absolute(path: Path) -> Path:
    try:
        return path.absolute()
    except FileNotFoundError:
        raise WmlabError("the folder that you are in is gone; go to one that exists, and try again") from None


def _is_ours(root: Path) -> bool:
    # The folder itself, or a link that we made: to make a link is to name what it leads to.
    return not hasattr(os, "geteuid") or os.lstat(root).st_uid == os.geteuid()


def _not_ours(root: Path) -> UsageError:
    number = os.lstat(root).st_uid
    try:
        owner = pwd.getpwuid(number).pw_name
    except KeyError:
        owner = f"number {number}"
    return UsageError(
        f"the cache {root} belongs to the user {owner}, who could put wrong results there; use it with --trust or "
        f"WMLAB_HOME={root} if you trust them, or begin one of your own with `mkdir .wmlab`"
    )


def keys(
    stages: Stages,
    *,
    versions: Mapping[str, str] | None = None,
    device: str | Callable[[Stage], str] | None = None,
    code: Code | None = None,
) -> dict[str, Key]:
    """The key of every stage of a plan, inputs first.

    `versions` ({distribution: version}), `device`, which may depend on the stage, and `code` replace those of this
    machine.
    """
    code = code or source(find_root() / FINGERPRINTS)
    device = device or this_device()
    taken: dict[str, Key] = {}
    surroundings: dict[int, Surroundings] = {}  # by the id of a closure, which `code` keeps
    for identity, stage in stages.items():
        missing = [name for name, other in stage.inputs.items() if other not in taken]
        if missing:
            raise WmlabError(f"stage '{stage.label}': the plan has nothing before it for its input '{missing[0]}'")
        closure = code.closure((stage.module, *stage.modules))
        if id(closure) not in surroundings:
            surroundings[id(closure)] = Surroundings.of(closure, versions)
        around = surroundings[id(closure)]
        parts = {
            "kind": stage.module,
            "params": stage.params,
            "inputs": {name: taken[other].hash for name, other in stage.inputs.items()},
            "code": around.code,
            "versions": around.versions,
            "device": device if isinstance(device, str) else device(stage),
            "cores": stage.cores,
        }
        taken[identity] = Key(around.digest(parts), parts)
    if code.known is not None:
        code.known.keep()
    return taken


@dataclass(frozen=True)
class Surroundings:
    """The parts of a key that stages of the same code share, with their text: long, and the same for thousands."""

    code: Mapping[str, str]
    versions: Mapping[str, str | None]
    code_text: str
    versions_text: str

    @classmethod
    def of(cls, closure: Closure, versions: Mapping[str, str] | None) -> Surroundings:
        numbers = library_versions(closure.libraries, versions)
        return cls(closure.code, numbers, canonical(closure.code), canonical(numbers))

    def digest(self, parts: Mapping[str, Any]) -> str:
        """`digest(parts)`, where code and versions are these: canonical JSON has its keys in order."""
        others = canonical({name: part for name, part in parts.items() if name not in ("code", "versions")})
        assert max(parts) == "versions" and min(parts) == "code"
        text = f'{{"code":{self.code_text},{others[1:-1]},"versions":{self.versions_text}}}'
        return hashlib.sha256(text.encode()).hexdigest()


def library_versions(libraries: Iterable[str], versions: Mapping[str, str] | None = None) -> dict[str, str | None]:
    """The versions that count for code which imports these libraries; None for one that is not installed."""
    names = {name for library in libraries for name in LIBRARIES.get(library, (library,))}
    numbers = {name: versions.get(name) if versions is not None else installed(name) for name in sorted(names)}
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    return {"python": versions.get("python", python) if versions is not None else python, **numbers}


@functools.cache
def installed(distribution: str) -> str | None:
    """The version of an installed distribution, read from its metadata: importing it would take seconds."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def this_device() -> str:
    """The type of device that JAX would take here and the machine's architecture, such as 'cpu x86_64'."""
    return f"{_accelerator()} {platform.machine()}"


def _accelerator() -> str:
    asked = os.environ.get("JAX_PLATFORMS", "").partition(",")[0].strip().lower()
    if asked:
        return "gpu" if asked in ("cuda", "rocm") else asked
    present = any(installed(plugin) and any(Path(node).exists() for node in nodes) for plugin, nodes in PLUGINS.items())
    return "gpu" if present else "cpu"
