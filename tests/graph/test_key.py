"""Keys: what changes an answer's bits changes its address, and nothing else does."""

from __future__ import annotations

import copy
import platform
import subprocess
import sys

import pytest

from tests.graph.toy import SUM, by_label, stages_of, write_code
from wmlab.errors import WmlabError
from wmlab.graph import key
from wmlab.graph.key import keys, library_versions, this_device
from wmlab.graph.stage import digest

VERSIONS = {"python": "3.11", "jax": "0.10.2", "jaxlib": "0.10.2", "numpy": "2.4", "scipy": "1.17"}


def hashes(folder, plan=SUM, *, versions=VERSIONS, device="cpu x86_64", code=None, **options):
    stages = stages_of(plan, **options)
    found = keys(stages, versions=versions, device=device, code=write_code(folder, **(code or {})))
    return {label: one.hash for label, one in by_label(stages, found).items()}


def changed(before, after):
    return {label for label in before if before[label] != after[label]}


def test_a_key_is_the_hash_of_its_readable_parts(tmp_path):
    stages = stages_of(SUM)
    found = by_label(stages, keys(stages, versions=VERSIONS, device="cpu x86_64", code=write_code(tmp_path)))
    assert all(one.hash == digest(one.parts) for one in found.values())
    parts = found["ten"].parts
    assert parts["kind"] == "toy.scale" and parts["params"] == {"by": {"factor": 2}}
    assert parts["inputs"] == {"of": found["five"].hash}
    assert list(parts["code"]) == ["toy.rules", "toy.scale"]
    assert parts["versions"] == {"python": "3.11", "jax": "0.10.2", "jaxlib": "0.10.2"}
    assert parts["device"] == "cpu x86_64" and parts["cores"] == 1


def test_the_same_question_has_the_same_key_whatever_its_label(tmp_path):
    renamed = {
        f"{label}!": (kind, params, {n: f"{o}!" for n, o in inputs.items()})
        for label, (kind, params, inputs) in SUM.items()
    }
    assert list(hashes(tmp_path).values()) == list(hashes(tmp_path, renamed).values())


def test_a_changed_parameter_changes_the_stage_and_all_that_build_on_it(tmp_path):
    plan = copy.deepcopy(SUM)
    plan["three"] = ("number", {"n": 4}, {})
    assert changed(hashes(tmp_path), hashes(tmp_path, plan)) == {"three", "five", "ten"}


def test_swapped_inputs_are_another_question(tmp_path):
    plan = {**SUM, "five": ("add", {}, {"left": "three", "right": "two"})}
    assert changed(hashes(tmp_path), hashes(tmp_path, plan)) == {"five", "ten"}


def test_changed_code_changes_the_stages_that_reach_it(tmp_path):
    before = hashes(tmp_path)
    assert changed(before, hashes(tmp_path, code={"rules": "scale = 3\n"})) == {"ten"}
    assert changed(before, hashes(tmp_path, code={"rules": "scale = 2  # twice\n"})) == set()
    assert changed(before, hashes(tmp_path, code={"number": "def run(): return 0\n"})) == set(SUM)


def test_a_library_counts_only_where_the_code_imports_it(tmp_path):
    before = hashes(tmp_path)
    assert changed(before, hashes(tmp_path, versions={**VERSIONS, "jax": "0.11"})) == {"ten"}
    assert changed(before, hashes(tmp_path, versions={**VERSIONS, "numpy": "2.5"})) == {"five", "ten"}
    assert changed(before, hashes(tmp_path, versions={**VERSIONS, "scipy": "1.18"})) == set()
    assert changed(before, hashes(tmp_path, versions={**VERSIONS, "python": "3.12"})) == set(SUM)


def test_device_and_cores_change_every_key(tmp_path):
    assert changed(hashes(tmp_path), hashes(tmp_path, device="gpu x86_64")) == set(SUM)
    assert changed(hashes(tmp_path), hashes(tmp_path, cores=2)) == set(SUM)


def test_modules_reached_through_the_registry_count(tmp_path):
    before, after = hashes(tmp_path), hashes(tmp_path, modules=("toy.rules",))
    assert changed(before, after) == set(SUM)
    stages = stages_of({"two": SUM["two"]}, modules=("toy.rules",))
    [found] = keys(stages, code=write_code(tmp_path)).values()
    assert list(found.parts["code"]) == ["toy.number", "toy.rules"]


def test_flax_and_scipy_bring_what_they_compute_with():
    assert list(library_versions(["flax"], VERSIONS)) == ["python", "flax", "jax", "jaxlib"]
    assert library_versions(["scipy"], VERSIONS) == {"python": "3.11", "numpy": "2.4", "scipy": "1.17"}
    assert library_versions(["nowhere"])["nowhere"] is None


def test_a_plan_without_an_input_of_its_stages_is_refused(tmp_path):
    stages = stages_of({"two": SUM["two"], "ten": ("scale", {}, {"of": "two"})})
    del stages[next(iter(stages))]
    with pytest.raises(WmlabError, match="stage 'ten': the plan has nothing before it for its input 'of'"):
        keys(stages, code=write_code(tmp_path))


@pytest.mark.parametrize(
    ("asked", "found"), [("cpu", "cpu"), ("cuda,cpu", "gpu"), ("rocm", "gpu"), ("tpu", "tpu"), (" CPU ", "cpu")]
)
def test_the_device_is_what_jax_platforms_asks_for(monkeypatch, asked, found):
    monkeypatch.setenv("JAX_PLATFORMS", asked)
    assert this_device() == f"{found} {platform.machine()}"


def test_without_a_wish_the_device_is_a_gpu_only_where_plugin_and_node_are_there(monkeypatch, tmp_path):
    monkeypatch.delenv("JAX_PLATFORMS", raising=False)
    node = tmp_path / "nvidia0"
    monkeypatch.setattr(key, "PLUGINS", {"jax-cuda12-plugin": (str(node),)})
    monkeypatch.setattr(key, "installed", lambda name: "0.10.2")
    assert this_device().startswith("cpu ")
    node.touch()
    assert this_device().startswith("gpu ")
    monkeypatch.setattr(key, "installed", lambda name: None)
    assert this_device().startswith("cpu ")


def test_keys_are_taken_without_importing_jax_or_numpy():
    script = (
        "import sys, wmlab.graph.key as k; k.this_device(); print(k.library_versions(['jax', 'numpy']))\n"
        "assert not {'jax', 'numpy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)
