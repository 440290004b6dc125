"""Where JAX keeps compiled programs: in a folder of the user's own, for a compiled program can do anything.

A cache of results may be shared, because what it holds is data. Compiled programs are not shared with anybody.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from wmlab.runtime import layout


def compiled_root() -> Path:
    """The folder of compiled programs: `wmlab/jax` in XDG_CACHE_HOME, or in ~/.cache."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):  # the standard has such a value ignored
        base = os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "wmlab" / "jax"


def compiled_folder(name: str) -> tuple[Path | None, str]:
    """A folder for compiled programs, made if it is missing; None where there can be none, and why, in a sentence."""
    root = compiled_root()
    if not root.is_absolute():
        return None, "compiled programs are not kept: this user has no home folder; name one with XDG_CACHE_HOME"
    try:
        os.makedirs(root.parent.parent, exist_ok=True)
        for path in (root.parent, root, root / name):
            path.mkdir(mode=0o700, exist_ok=True)
            state = os.stat(path)
            if state.st_uid != os.geteuid() or state.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                return None, f"compiled programs are not kept: others can write to {path}; chown it, or chmod go-w"
    except OSError as error:
        return None, f"compiled programs are not kept: {root} cannot be made ({layout.reason(error)})"
    return root / name, ""
