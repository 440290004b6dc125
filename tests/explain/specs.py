"""Small experiments as `explain` gets them: resolved, with every default in place."""

from __future__ import annotations

from typing import Any

from wmlab.sections.experiment import ExperimentSpec
from wmlab.spec.compose.document import PAPER, read
from wmlab.spec.compose.resolve import resolve

RANDOM = {"kind": "random", "states": 6, "actions": 2}
GRID = {"kind": "gridworld", "map": "....\n....\n....\n"}
GENERIC = {"reward": {"kind": "generic", "count": 6}, "terminate": "never"}
INDICATOR = {"reward": {"kind": "indicator"}, "at": "all", "terminate": "never"}
EXACT = {"kind": "exact", "discount": 0.9}
DYNAMICS = {
    "kind": "dynamics",
    "state": {"x": {"range": [-1, 1], "edge": "clip"}, "v": {"range": [-1, 1], "edge": "clip"}},
    "actions": {"push": [-1, 1]},
    "next": {"v": "v + 0.1 * push", "x": "x + 0.1 * next(v)"},
}


def resolved(tmp_path: Any, **sections: Any) -> ExperimentSpec:
    """One experiment through the language: JSON is YAML."""
    import json

    path = tmp_path / "spec.yaml"
    path.write_text(json.dumps({"wmlab": 1, "name": "small", **sections}), encoding="utf-8")
    [point] = resolve(read(str(path)), PAPER).points
    return point.experiment
