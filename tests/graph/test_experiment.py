"""A plan knows what each stage is to its run, and which run a report draws."""

from __future__ import annotations

import importlib
import keyword
import subprocess
import sys
from pathlib import Path

import networkx as nx
import pytest

import wmlab
from wmlab.cli import COMMANDS
from wmlab.graph.experiment import Role
from wmlab.graph.study import open_study

SPECS = Path(__file__).parents[2] / "specs"


def test_a_role_is_a_record_that_reads_as_its_kind_and_name():
    assert [str(role) for role in sorted((Role("train"), Role("plan", "safe"), Role("plan", "far")))] == [
        "plan far",
        "plan safe",
        "train",
    ]


def test_the_stages_of_a_run_are_found_by_kind_and_name():
    (plan,) = open_study(str(SPECS / "quickstart.yaml")).plans
    (run,) = plan.runs
    assert {role.kind for role in run.stages} == {
        *("train", "extract", "measure", "identify", "oracle", "plan", "explore")
    }
    assert plan.stage(run.stages[Role("plan", "one_unsafe")]).inputs["model"] == run.stage("extract")
    assert run.stage("track") is None and run.stage("plan", "nowhere") is None


def test_every_stage_comes_after_its_inputs():
    for name in ("quickstart", "mountaincar_position", "theory"):
        seen: set[str] = set()
        for stage_id, stage in open_study(str(SPECS / f"{name}.yaml"), None).stages.items():
            assert seen.issuperset(stage.inputs.values()) and stage.id == stage_id
            seen.add(stage_id)


def test_the_run_that_is_drawn_is_the_first_seed_at_the_point_that_the_spec_asks_for():
    (plan,) = open_study(str(SPECS / "mountaincar_position.yaml"), "smoke").plans
    assert plan.drawn in plan.runs and plan.drawn.seed == plan.resolved.seeds[0]
    assert [run for run in plan.runs if run.stage("look") is not None] == [plan.drawn]


def test_a_plan_for_users_is_a_graph_with_a_reason_for_each_stage(tmp_path, monkeypatch):
    monkeypatch.setenv("WMLAB_HOME", str(tmp_path))
    graph = wmlab.load(SPECS / "quickstart.yaml").plan()
    assert isinstance(graph, nx.DiGraph) and nx.is_directed_acyclic_graph(graph) and graph.number_of_edges() > 0
    assert {data["reason"].text for _, data in graph.nodes(data=True)} == {"never run"}


def test_planning_does_without_networkx(tmp_path):
    code = "import sys; from wmlab.cli import guarded, app\n"
    code += f"guarded(lambda: app(['plan', {str(SPECS / 'quickstart.yaml')!r}], standalone_mode=False))\n"
    code += "print(sorted({'networkx', 'jax', 'rich', 'matplotlib'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_a_module_with_a_function_of_its_name(name):
    name = f"{name}_" if keyword.iskeyword(name) else name
    assert callable(getattr(importlib.import_module(f"wmlab.cli.{name}"), name))
