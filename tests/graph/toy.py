"""Toy plans of integers: a plan is written as {label: (kind, params, {input: label})}."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from wmlab.graph.code import Code
from wmlab.graph.stage import Stage, Stages

KINDS = {
    "number": "def run(params, inputs, context): return params['n']\n",
    "add": "import numpy\ndef run(params, inputs, context): return numpy.add(*inputs.values())\n",
    "scale": "from toy import rules\ndef run(params, inputs, context):\n    import jax\n    return rules.scale\n",
    "rules": "scale = 2\n",
}


def write_code(folder: Path, **changes: str) -> Code:
    """The code of the toy stages, read afresh."""
    (folder / "toy").mkdir(exist_ok=True)
    for name, text in {**KINDS, **changes}.items():
        (folder / "toy" / f"{name}.py").write_text(text)
    return Code(folder)


def stages_of(plan: dict[str, tuple[str, dict[str, Any], dict[str, str]]], **options: Any) -> dict[str, Stage]:
    """A plan whose stages come in the order of their labels' dependencies."""
    stages: dict[str, Stage] = {}
    ids: dict[str, str] = {}
    for label, (kind, params, inputs) in plan.items():
        named = {name: ids[other] for name, other in inputs.items()}
        stage = Stage(kind, params, named, label=label, package="toy", **options)
        ids[label] = stage.id
        stages.setdefault(stage.id, stage)
    return stages


def by_label(stages: Stages, values: dict[str, Any]) -> dict[str, Any]:
    return {stages[identity].label: value for identity, value in values.items()}


SUM = {
    "two": ("number", {"n": 2}, {}),
    "three": ("number", {"n": 3}, {}),
    "five": ("add", {}, {"left": "two", "right": "three"}),
    "ten": ("scale", {"by": {"factor": 2}}, {"of": "five"}),
}
