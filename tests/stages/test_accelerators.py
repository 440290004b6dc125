"""What can be shown of accelerators without one: every program of every stage is lowered for CUDA, too.

Each stage kind is run on small specs. Whatever JAX compiles there for the CPU is lowered for CUDA in the same moment:
with no call back to the host, and, in stages that run on accelerators, in single precision throughout.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import defaultdict

import pytest

from tests.architecture.imports import MODULES, ROOT
from wmlab.graph.study import open_study

# Specs whose stages are all kinds together, and those of the paper: file, profile, changes.
PAPER = (
    "fourrooms_windy",
    "fourrooms_teleporting",
    "mountaincar_starts",
    "reacher",
    "reacher_horizons",
    "reacher_rates",
)
COVERING = {
    "finite exact": ("specs/quickstart.yaml", None, ()),
    "finite learnt": ("specs/examples/q_learning.yaml", "smoke", ()),
    "finite network": ("specs/fourrooms_deterministic.yaml", "smoke", ()),
    "finite together": ("specs/fourrooms_deterministic.yaml", "smoke", ("seeds=2", "agent.seeds=together")),
    "finite explore": ("specs/quickstart.yaml", None, ("evaluate.explore={}",)),
    "finite guarantee": ("specs/guarantees_windy.yaml", None, ()),
    "finite compare": ("tests/specs/valid/compare.yaml", None, ()),
    "finite baseline": ("specs/examples/without_a_model.yaml", None, ()),
    "continuous explore": ("specs/mountaincar_position.yaml", "smoke", ("evaluate.explore={}",)),
    "continuous compare": ("specs/mountaincar_velocity.yaml", "smoke", ()),
    "continuous baseline": ("specs/examples/baselines.yaml", "smoke", ()),
    "continuous average": ("specs/examples/two_agents.yaml", "smoke", ()),
    "continuous identify": ("specs/examples/cartpole_own_reward.yaml", "smoke", ()),
    "continuous track": ("specs/reacher_architectures.yaml", "smoke", ()),
    "continuous together": ("specs/mountaincar_position.yaml", "smoke", ("seeds=2", "agent.seeds=together")),
    **{name: (f"specs/{name}.yaml", "smoke", ()) for name in PAPER},
}
WITHOUT_JAX = {"wmlab.stages.one_seed"}


def stage_modules() -> set[str]:
    """Every module that answers for a kind of stage."""
    rooms = ("wmlab.stages.finite.", "wmlab.stages.continuous.")
    return {name for name, path in MODULES.items() if name.startswith(rooms) and "\ndef run(" in path.read_text()}


def test_every_kind_of_stage_is_lowered_by_some_spec():
    planned = set()
    for path, profile, sets in COVERING.values():
        planned |= {stage.module for stage in open_study(str(ROOT / path), profile, sets).stages.values()}
    assert stage_modules() <= planned, "a kind of stage that no spec in COVERING has: add one"
    assert planned - stage_modules() == WITHOUT_JAX


@pytest.mark.slow
@pytest.mark.parametrize("name", COVERING)
def test_every_program_is_lowered_for_cuda_without_a_call_to_the_host(name, tmp_path):
    path, profile, sets = COVERING[name]
    words = [str(ROOT / path), profile or "", *sets]
    environment = {**os.environ, "WMLAB_HOME": str(tmp_path), "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, "-m", "tests.stages.lowering", *words],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=1800,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    programs: dict[str, int] = defaultdict(int)
    for line in done.stdout.splitlines():
        module, _, program, problem = line.split("\t")
        programs[module] += 1
        assert problem == "", f"{module} ({program}): {problem}"
    assert sum(programs.values()) > 0


def test_lowering_finds_what_it_looks_for():
    """A program with a call to the host, and one in double precision, would be seen."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.stages.lowering", "--self-test"],
        cwd=ROOT,
        env={**os.environ, "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == ["callback", "f64"], done.stdout + done.stderr[-2000:]
