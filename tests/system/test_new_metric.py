"""A new metric is one file: here one is put beside the others, in a copy of the package."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.system.lab import REPOSITORY, SMALL, Lab

METRIC = '''"""How sharp an extracted model is."""

from wmlab.registry.metrics import Measurement, Metric


def sharpness(context):
    return {"wm.sharpness": {"value": float((context.model.probabilities**2).sum(axis=-1).mean())}}


SHARPNESS = Measurement(
    Metric("wm.sharpness", doc="how sure the extracted model is of what comes next", label="sharpness"),
    asked_by="evaluate.model_error",
    model=True,
    finite=sharpness,
)
'''
SPEC = """wmlab: 1
extends: small.yaml
name: sharp
claims: {sharp: {metric: wm.sharpness, where: {goals: 8}, between: [0.5, 1]}}
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory, compiled):
    """A folder with a copy of the package that has one more file, and a spec with a claim about its metric."""
    folder = tmp_path_factory.mktemp("sharp")
    shutil.copytree(REPOSITORY / "wmlab", folder / "wmlab", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "schemas").symlink_to(REPOSITORY / "schemas")
    (folder / "wmlab" / "measure" / "sharpness.py").write_text(METRIC)
    shutil.copy(SMALL, folder)
    (folder / "sharp.yaml").write_text(SPEC)
    lab = Lab(folder, compiled)
    lab.environment["PYTHONPATH"] = str(folder)
    lab.wmlab("run", "sharp.yaml")
    return lab


@pytest.mark.slow
def test_a_claim_about_it_is_accepted_and_judged(lab):
    lab.wmlab("validate", "sharp.yaml")
    results = lab.results("sharp")
    assert results["metrics"]["goals=8/wm.sharpness"]["n"] == 2
    assert {claim["id"]: claim["holds"] for claim in results["claims"]}["sharp"] is True


@pytest.mark.slow
def test_the_report_and_the_reference_say_what_it_is(lab):
    sentence = "how sure the extracted model is of what comes next"
    assert sentence in (lab.report("sharp") / "index.html").read_text(encoding="utf-8")
    told = " ".join(lab.wmlab("reference", "metrics").out.split())
    assert f"wm.sharpness {sentence}" in told


@pytest.mark.slow
def test_only_an_edit_of_what_it_computes_measures_anew(lab):
    assert stale(lab) == []
    path = lab.folder / "wmlab" / "measure" / "sharpness.py"
    path.write_text(METRIC.replace("how sure", "How sure"))
    assert stale(lab) == []  # prose
    path.write_text(METRIC.replace("**2", "**3"))
    assert {label.split()[1] for label in stale(lab)} == {"measure"}
    path.write_text(METRIC)


def stale(lab):
    plan = json.loads(lab.wmlab("plan", "sharp.yaml", "--format", "json").out)
    return [stage["label"] for stage in plan["stages"] if stage["state"] != "cached"]
