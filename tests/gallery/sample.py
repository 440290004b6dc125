"""A gallery of one small run, made by hand, and the report that it would come from."""

from __future__ import annotations

import copy
import json
from importlib import metadata
from pathlib import Path
from typing import Any

import yaml

from tests.gallery.contents import CONTENTS, Gallery
from wmlab.app.report_folder import write_report
from wmlab.report.data import PAGE, RESULTS, SETTINGS
from wmlab.results.statistics import mean, over_seeds

CLAIM = {"where": {}, "statistic": "mean", "source": "§1", "cases": []}


def entry(metric: str, values: list[float], **where: Any) -> dict[str, Any]:
    return {"metric": metric, "where": where, "values": values, **over_seeds(values)}


MAZE: dict[str, Any] = {
    "spec": "maze",
    "title": "A maze",
    "profile": "laptop",
    "sets": [],
    "seeds": [11, 12, 13],
    "axes": {"goals": {"paths": ["goals.at.first"], "values": [1, 4]}},
    "steps": [],
    "metrics": {
        "goals=1/wm.nmse": entry("wm.nmse", [4e-3, 5e-3, 6e-3], goals=1),
        "goals=4/wm.nmse": {
            **entry("wm.nmse", [1e-4, 1.2e-4, 1.7e-4], goals=4),
            "by": {"dimension": {"the door": entry("wm.nmse", [2e-4, 2e-4, 5e-4])}},
        },
        "goals=4/unseen.exit.ratio": entry("unseen.exit.ratio", [0.98, 0.99, 1.0], goals=4),
    },
    "claims": [
        {
            **CLAIM,
            "id": "exit",
            "metric": "unseen.exit.ratio",
            "where": {"goals": 4},
            "paper": 0.994,
            "test": {"at_least": 0.95},
            "measured": mean([0.98, 0.99, 1.0]),
            "bound": 0.95,
            "holds": True,
        },
        {
            **CLAIM,
            "id": "error",
            "metric": "wm.nmse",
            "where": {"goals": 4},
            "test": {"at_most": 1e-4},
            "measured": mean([1e-4, 1.2e-4, 1.7e-4]),
            "bound": 1e-4,
            "holds": False,
        },
    ],
    "report": {"tables": []},
    "findings": [
        {"id": "limited", "severity": "doubtful", "sentence": "R* is limited by its grid."},
        {"id": "aside", "severity": "note", "sentence": "This stands on its page alone."},
    ],
    "failures": [],
    "provenance": {
        "wmlab": metadata.version("wmlab"),
        "device": "cpu x86_64",
        "seconds": 12.5,
        "stage_seconds": 754.2,
        "run": "abcdefg",
    },
}
SAID = [{"path": "agent.discount", "value": 0.95, "source": "maze.yaml:3:1"}]
DECLARED = {
    "runs": {
        "maze": {
            "spec": "specs/maze.yaml",
            "profile": "laptop",
            "figure": "map-exit",
            "shows": "A way out",
            "chosen": "settings were chosen on seed 0",
        },
        "later": {"spec": "specs/later.yaml", "profile": "laptop"},
    },
    "quoted": {"paper.table": {"text": "1", "of": "the paper"}},
}


def gallery_in(folder: Path, pending: str = "pending: [later]") -> Gallery:
    """The hand-made gallery, in a folder."""
    (folder / "maze").mkdir(parents=True)
    (folder / CONTENTS).write_text(f"{yaml.safe_dump(DECLARED)}{pending}\n", encoding="utf-8")
    (folder / "maze" / RESULTS).write_text(json.dumps(MAZE), encoding="utf-8")
    (folder / "maze" / SETTINGS).write_text(json.dumps(SAID), encoding="utf-8")
    return Gallery.at(folder)


def report_in(reports: Path, change: dict[str, Any] | None = None) -> Path:
    """The report of the maze as a run writes it, with something of its results changed."""
    results = {**copy.deepcopy(MAZE), **(change or {})}
    folder = reports / results["spec"] / results["profile"]
    files = {
        PAGE: b"<!doctype html><title>A maze</title>",
        RESULTS: json.dumps(results, indent=1).encode(),
        SETTINGS: json.dumps(SAID, indent=1).encode(),
        "figures/map-exit.svg": b"<svg/>",
    }
    write_report(folder, files)
    return folder
