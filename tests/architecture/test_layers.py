"""Imports go down only: language, runtime and domain know nothing of each other, and nothing heavy comes early."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest

from tests.architecture.imports import MODULES, imports, reached
from wmlab.registry import FAMILIES

BASE = ("wmlab.errors", "wmlab.limits", "wmlab.registry", "wmlab.expressions", "wmlab.sections")
LANGUAGE = ("wmlab.spec", "wmlab.graph")
RUNTIME = ("wmlab.runtime",)
MACHINE = ("wmlab.core.memory", "wmlab.core.container")  # what the machine gives, which is no domain's
CLUSTER = ("wmlab.cluster",)
TOP = (
    *CLUSTER,
    *("wmlab.stages", "wmlab.results", "wmlab.report", "wmlab.app", "wmlab.cli", "wmlab.bench", "wmlab.explain"),
    *("wmlab.reference", "wmlab.foreign", "wmlab.__main__"),
)
AFTER_THE_STORE = (
    *("wmlab.graph", "wmlab.runtime", "wmlab.cluster", "wmlab.results", "wmlab.report", "wmlab.app", "wmlab.cli"),
)
WORLDS = ("wmlab.mdps", "wmlab.core.simulator", "wmlab.core.finite.simulator", "wmlab.core.continuous.simulator")
UNSAFE = ("eval", "exec", "yaml.load", "yaml.unsafe_load", "yaml.full_load", "os.system")
HEAVY = ("jax", "jaxlib", "flax", "optax", "gymnax", "scipy", "matplotlib")


def within(name: str, places: tuple[str, ...]) -> bool:
    return any(name == place or name.startswith(f"{place}.") for place in places)


# Whatever has no other place is domain, so that a new module goes by its rules at once.
DOMAIN = tuple(name for name in MODULES if name != "wmlab" and not within(name, BASE + LANGUAGE + RUNTIME + TOP))


def layer(*places: str) -> list[str]:
    return [name for name in MODULES if within(name, places)]


def third_parties(module: str, whole: bool = False) -> set[str]:
    return {name.split(".")[0] for one in reached(module, whole) for name in imports(one, whole)}


def strangers(module: str, allowed: tuple[str, ...]) -> set[str]:
    """Modules of wmlab that a module imports, and that its layer does not allow."""
    return {name for name in imports(module, True) if within(name, ("wmlab",)) and not within(name, allowed)}


@pytest.mark.parametrize("module", layer(*BASE))
def test_the_base_stands_on_itself(module):
    assert strangers(module, BASE) == set()


@pytest.mark.parametrize("module", layer(*LANGUAGE))
def test_the_language_imports_no_domain(module):
    assert strangers(module, (*BASE, *LANGUAGE)) == set()


@pytest.mark.parametrize("module", layer(*RUNTIME))
def test_the_runtime_knows_nothing_of_reinforcement_learning(module):
    assert strangers(module, (*BASE, *RUNTIME, *MACHINE, "wmlab.graph.stage", "wmlab.graph.key")) == set()
    assert imports(module, True).isdisjoint({"gymnax", "flax", "optax", "yaml", "jsonschema", "jsonschema_rs"})


@pytest.mark.parametrize("module", layer(*CLUSTER))
def test_a_cluster_knows_plans_and_the_runtime_and_nothing_of_reinforcement_learning(module):
    assert strangers(module, (*BASE, *LANGUAGE, *RUNTIME, *MACHINE, *CLUSTER)) == set()
    assert third_parties(module).isdisjoint({*HEAVY, "ray", "submitit"})  # an engine is imported when it is used


@pytest.mark.parametrize("module", layer(*DOMAIN))
def test_the_domain_knows_neither_yaml_nor_files_nor_the_store(module):
    assert strangers(module, (*BASE, *DOMAIN)) == set()
    assert imports(module, True).isdisjoint({"yaml", "jsonschema", "jsonschema_rs", "safetensors", "networkx", "typer"})


@pytest.mark.parametrize("module", layer("wmlab.extraction"))
def test_extraction_cannot_reach_the_true_dynamics(module):
    assert [name for name in reached(module, True) if within(name, WORLDS)] == []


@pytest.mark.parametrize("module", layer("wmlab.report"))
def test_a_page_is_made_of_stored_results_and_records_and_its_content_is_read_from_the_store(module):
    if within(module, ("wmlab.report.content",)):
        assert strangers(module, (*BASE, *LANGUAGE, *RUNTIME, "wmlab.core", "wmlab.results", "wmlab.report")) == set()
    else:
        assert strangers(module, (*BASE, "wmlab.report")) == set()
        assert not any(within(name, ("wmlab.report.content",)) for name in imports(module, True))


@pytest.mark.parametrize("position", range(len(AFTER_THE_STORE)))
def test_the_way_from_the_plan_to_the_page_goes_in_one_direction(position):
    later = AFTER_THE_STORE[position + 1 :]
    for module in layer(AFTER_THE_STORE[position]):
        assert [name for name in imports(module, True) if within(name, later)] == []


@pytest.mark.parametrize("module", layer(*BASE, *LANGUAGE))
def test_nothing_heavy_comes_with_the_language(module):
    assert third_parties(module).isdisjoint(HEAVY)


KINDS = sorted({path for family in FAMILIES.values() for path in family.own.values()})


@pytest.mark.parametrize("module", KINDS)
def test_a_kind_can_be_read_without_jax(module):
    assert third_parties(module).isdisjoint({"jax", "jaxlib", "flax", "optax", "gymnax"})


def test_every_kind_is_read_without_jax_in_a_fresh_process():
    code = f"import importlib, sys\nfor name in {KINDS}: importlib.import_module(name)\nprint('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"


@pytest.mark.parametrize("module", MODULES)
def test_nothing_is_pickled_or_evaluated(module):
    """Neither pickle nor eval, exec and yaml.load: data is data."""
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            assert called not in UNSAFE, called
            allowed = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
            assert allowed.get("allow_pickle", "False") == "False"
    assert imports(module, True).isdisjoint({"pickle", "cloudpickle", "dill", "joblib", "shelve", "marshal"})
