"""Small specs written to a folder and resolved: what the tests of composition share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from wmlab.spec.compose.document import PAPER, Document, read
from wmlab.spec.compose.resolve import Resolved, resolve

BASE: dict[str, Any] = {
    "wmlab": 1,
    "mdp": {"kind": "random", "states": 8, "actions": 2},
    "goals": {"reward": {"kind": "indicator"}, "at": {"first": 1, "shuffle": 0}},
    "agent": {"kind": "exact", "discount": 0.5},
    "extract": {"kind": "lp", "tie_break": "least_norm"},
    "evaluate": {"model_error": {}},
}


def write(folder: Path, **files: dict[str, Any]) -> Document:
    """Write files, each extending the one before it, and read the last."""
    above = None
    for name, data in files.items():
        head = {} if above is None else {"extends": f"{above}.yaml"}
        (folder / f"{name}.yaml").write_text(json.dumps({"wmlab": 1, **head, **data}, indent=1), encoding="utf-8")
        above = name
    return read(str(folder / f"{above}.yaml"))


def resolved(folder: Path, *layers: dict[str, Any], profile: str = PAPER, sets: tuple[str, ...] = ()) -> Resolved:
    """The base and the layers laid over it, as a chain of files; the last one has a name."""
    chain = {"base": BASE, **{f"layer{i}": dict(layer) for i, layer in enumerate(layers)}}
    last = list(chain)[-1]
    chain[last] = {"name": "last", **chain[last]}
    return resolve(write(folder, **chain), profile, sets)


def lay(base: Any, over: Any) -> Any:
    """Composition without kinds and whole values, in a few lines: what the property tests compare with."""
    if not isinstance(base, dict) or not isinstance(over, dict):
        return strip(over)
    found = dict(base)
    for key, value in over.items():
        if value is None:
            found.pop(key, None)
        else:
            found[key] = lay(found.get(key), value)
    return found


def strip(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: strip(value) for key, value in data.items() if value is not None}
    return data
