"""Another package adds kinds without touching wmlab: a small one is really installed here."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
SPEC = """
wmlab: 1
name: ring
mdp: {kind: ring, size: 6}
goals:
  reward: {kind: slope, height: 2}
  at: all
  terminate: never
agent: {kind: exact, discount: 0.9}
extract: {kind: ring_guess}
evaluate: {model_error: {}}
claims:
  right: {metric: wm.tv, at_most: 1.0e-9}
"""
OURS = SPEC.replace("ring, size: 6", "random, states: 6, actions: 2").replace("slope, height: 2", "indicator")
OURS = OURS.replace("ring_guess", "lp")


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """The package of tests/plugin, built from a copy and installed into a folder."""
    folder = tmp_path_factory.mktemp("plugin")
    shutil.copytree(ROOT / "tests" / "plugin", folder / "source")
    flags = ["--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check", "--quiet"]
    command = [sys.executable, "-m", "pip", "install", *flags, "--target", str(folder / "site"), str(folder / "source")]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return folder / "site"


@pytest.fixture
def site(installed, tmp_path) -> Path:
    """A copy of what was installed, to be changed at will."""
    return shutil.copytree(installed, tmp_path / "site")


def wmlab(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command line beside the installed package, in the folder above it."""
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), str(ROOT)])}
    environ |= {"WMLAB_HOME": str(site.parent / ".wmlab"), "COLUMNS": "200"}
    command = [sys.executable, "-m", "wmlab", *arguments]
    return subprocess.run(command, cwd=site.parent, env=environ, capture_output=True, text=True)


def write(site: Path, text: str = SPEC) -> str:
    (site.parent / "spec.yaml").write_text(text)
    return "spec.yaml"


def package(site: Path, name: str, source: str | None) -> None:
    """One more package, as an installer would leave it: a module with this source, and an entry point to it."""
    info = site / f"{name}-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[wmlab.kinds]\nkind = {name}.kinds\n")
    (site / name).mkdir()
    (site / name / "__init__.py").write_text("")
    if source is not None:
        (site / name / "kinds.py").write_text(source)


def test_its_kinds_are_validated_with_positions_and_suggestions(site):
    assert wmlab(site, "validate", write(site)).returncode == 0
    bad = (
        SPEC.replace("size: 6", "size: 6, strid: 2")
        .replace("height: 2", "height: 0")
        .replace("ring_guess", "ring_gues")
    )
    done = wmlab(site, "validate", write(site, bad))
    assert done.returncode == 2
    assert "spec.yaml:4:28: mdp: unknown key 'strid'\n" in done.stdout and "did you mean 'stride'?" in done.stdout
    assert "spec.yaml:6:33: goals.reward.height: must be above 0, not 0" in done.stdout
    assert "unknown extraction 'ring_gues'" in done.stdout and "did you mean 'ring_guess'?" in done.stdout
    done = wmlab(site, "validate", write(site, SPEC.replace("size: 6", "size: 6, stride: 7")))
    assert "spec.yaml:4:36: mdp.stride: 7 steps go round a ring of 6" in done.stdout


def test_validating_with_it_needs_no_jax_and_without_it_not_even_its_module(site):
    code = (
        "import sys; from wmlab.spec.check.validate import validate_all as v; assert v(['spec.yaml']) == []; "
        "print(*(name in sys.modules for name in ('jax', 'wmlab_ring.world')))"
    )
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), str(ROOT)])}
    for text, told in ((SPEC, "False True\n"), (OURS, "False False\n")):
        write(site, text)
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, cwd=site.parent, env=environ, capture_output=True, text=True)
        assert done.stdout == told, done.stderr


def test_its_kinds_are_in_the_schema_and_the_reference_and_not_in_what_we_commit(site):
    schema = json.loads(wmlab(site, "schema").stdout)
    assert "ring" in schema["$defs"]["mdp"]["properties"]["kind"]["enum"]
    assert schema["$defs"]["mdp.ring"]["properties"]["size"]["description"] == "How many states."
    assert "reward.slope" in wmlab(site, "reference").stdout
    assert "How far a step leads." in wmlab(site, "reference", "ring").stdout
    assert wmlab(site, "schema", "--write", "--folder", "schemas").returncode == 0
    assert wmlab(site, "reference", "--write", "--folder", "docs").returncode == 0
    for file in ("schemas/spec.schema.json", "schemas/experiment.schema.json", "docs/reference.md"):
        assert (site.parent / file).read_text() == (ROOT / file).read_text()


def test_its_kinds_run_in_workers_and_its_code_is_part_of_the_key(site):
    spec = write(site)
    done = wmlab(site, "run", spec, "--check", "--jobs", "1")
    assert done.returncode == 0, done.stderr
    assert "4 stages: 4 cached" in wmlab(site, "plan", spec).stdout
    module = site / "wmlab_ring" / "geometry.py"  # not the kind's own module, but one that it imports
    module.write_text(module.read_text() + "\n# A comment changes nothing.\n")
    assert "4 stages: 4 cached" in wmlab(site, "plan", spec).stdout
    module.write_text(module.read_text().replace("% size", "% size * 0"))
    plan = wmlab(site, "plan", spec).stdout
    assert "4 stages: 0 cached" in plan and "wmlab_ring.geometry" in plan
    # Steps lead elsewhere now, and nothing stale was used.
    assert wmlab(site, "run", spec, "--check", "--jobs", "0").returncode == 1


BROKEN = {
    "fails": ('import absent\n\n\n@mdps.register("x")\ndef x(): ...\n', "No module named 'absent'"),
    "tells_no_line": ("", "registers no kind"),
    "is_not_there": (None, "there is no such module"),
    "never_gets_there": ('TEXT = """\n@mdps.register("x")\n"""\n', "did not register the world 'x'"),
}


@pytest.mark.parametrize("name", ["fails", *(pytest.param(name, marks=pytest.mark.slow) for name in [*BROKEN][1:])])
def test_a_package_that_cannot_be_used_is_named_and_harms_no_other_spec(site, name):
    source, told = BROKEN[name]
    package(site, f"wmlab_{name}", source)
    assert wmlab(site, "validate", write(site)).stdout == "1 spec: no mistakes\n"
    assert wmlab(site, "validate", write(site, OURS)).stdout == "1 spec: no mistakes\n"
    done = wmlab(site, "validate", write(site, SPEC.replace("kind: ring, size: 6", "kind: x")))
    assert done.returncode == 2 and "spec.yaml:4:13: mdp.kind: " in done.stdout
    assert f"the package wmlab-{name.replace('_', '-')}" in done.stdout and told in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    listed = wmlab(site, "reference", "ring")
    assert listed.returncode == 0 and listed.stderr.startswith("left out: ") and told in listed.stderr


REGISTERS = """
from dataclasses import dataclass
from wmlab.registry import WorldTraits, mdps, option

@dataclass(frozen=True)
class Options:
    size: int = option(doc="How many.")

@mdps.register("{name}", Options, WorldTraits(space=None, sort="finite"))
def world(options, seed):
    pass
"""


def test_two_packages_may_not_bring_the_same_kind(site):
    package(site, "wmlab_again", REGISTERS.format(name="ring"))
    done = wmlab(site, "validate", write(site))
    assert done.returncode == 2
    assert "the world 'ring' is registered by wmlab-again (wmlab_again.kinds) and wmlab-ring (wmlab_ring" in done.stdout
    assert wmlab(site, "validate", write(site, OURS)).returncode == 0


def test_a_package_may_not_take_a_name_of_ours(site):
    package(site, "wmlab_taker", REGISTERS.format(name="random"))
    assert wmlab(site, "validate", write(site, OURS)).returncode == 0
    told = wmlab(site, "reference", "random").stderr
    assert told == "left out: wmlab_taker.kinds of the package wmlab-taker registers 'random', a name of wmlab's own\n"


def test_options_that_the_language_cannot_read_are_told(site):
    package(site, "wmlab_bare", REGISTERS.format(name="bare").replace('option(doc="How many.")', "1"))
    done = wmlab(site, "validate", write(site, SPEC.replace("kind: ring, size: 6", "kind: bare")))
    assert "Options.size is not made by wmlab.registry.option(…)" in done.stdout and "wmlab-bare" in done.stdout
