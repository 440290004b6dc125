"""Kinds are found by the line that registers them, and nothing else names them."""

from __future__ import annotations

import ast
import subprocess
import sys
import typing
from dataclasses import dataclass
from pathlib import Path

import pytest

from wmlab.planning.grid_value_iteration import outcomes_of
from wmlab.registry import (
    FAMILIES,
    AgentTraits,
    ExtractionChoice,
    KindError,
    Scope,
    SolverTraits,
    WorldChoice,
    discovery,
    fixed,
    option,
    solvers,
)
from wmlab.registry.traits import Shape, Values

PACKAGE = Path(__file__).parent.parent.parent / "wmlab"
KINDS = {kind for family in FAMILIES.values() for kind in family.own}


@dataclass(frozen=True)
class Options:
    size: int = option(1, doc="Nothing.")


def solve(options, model, world, task, starts, *, space, discount, start, key):
    """Nothing."""


@pytest.mark.parametrize("family", FAMILIES.values(), ids=lambda family: family.name)
def test_every_kind_is_found_and_is_what_its_line_says(family):
    assert family.own
    for name, module in family.own.items():
        kind = family[name]
        assert (kind.name, kind.family, kind.module) == (name, family.name, module) and kind.doc


def test_a_name_that_the_source_does_not_say_is_refused():
    with pytest.raises(
        KindError, match=r"registers the solver 'x', and nobody could find it.*@solvers\.register\(\"x\""
    ):
        solvers.register("x", Options, SolverTraits())(solve)


def test_a_name_that_another_module_has_is_refused():
    with pytest.raises(KindError, match="a name that wmlab's own wmlab.planning.value_iteration has"):
        solvers.register("value_iteration", Options, SolverTraits())(solve)


def test_the_same_name_in_two_modules_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(discovery, "ROOT", tmp_path)
    (tmp_path / "rooms").mkdir()
    for name in ("one", "other"):
        (tmp_path / "rooms" / f"{name}.py").write_text('@mdps.register(\n    "ring", Options\n)\ndef ring(): ...\n')
    with pytest.raises(KindError, match="two lines register 'ring' with mdps: in rooms.one and in rooms.other"):
        discovery.own_kinds("mdps", "rooms")


def test_finding_kinds_imports_neither_them_nor_metadata():
    code = (
        "import sys; from wmlab.registry import FAMILIES; print([len(f.own) for f in FAMILIES.values()], "
        "'other' in FAMILIES['mdp'], [m for m in sys.modules if m.startswith(('wmlab.mdps', 'importlib.metadata'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"{[len(family.own) for family in FAMILIES.values()]} False []\n"


@pytest.mark.parametrize("path", sorted((PACKAGE / "explain").glob("*.py")), ids=lambda path: path.name)
def test_explain_knows_no_kind_by_name(path):
    """It asks traits, the values of which are words of their own; and nothing is declared of an unknown world."""
    words = {*typing.get_args(Shape), *typing.get_args(Values), "unknown"}
    compared: set[object] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        parts = [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
        parts += [key for key in node.keys if key is not None] if isinstance(node, ast.Dict) else []
        constants = [each for part in parts if not isinstance(part, ast.Call) for each in ast.walk(part)]
        compared |= {each.value for each in constants if isinstance(each, ast.Constant)}
    assert compared & (KINDS - words) == set()


def test_a_learner_that_says_nothing_of_a_network_reads_goals_as_plain_numbers():
    assert AgentTraits(values=fixed("learnt"), learns=True).encoding(Options()) == "raw"


def test_planning_asks_kinds_how_many_outcomes_a_step_has():
    gust, push = {"kind": "normal", "sd": 0.1}, {"kind": "categorical", "values": [0, 1], "probabilities": [0.5, 0.5]}
    noise = {"gust": gust, "push": push}
    moves = {"kind": "dynamics", "state": {"x": {"usual": [0, 1]}}, "actions": {"a": [0, 1]}, "next": {"x": "x + gust"}}
    assert outcomes_of(Scope(mdp=WorldChoice(moves)), 5, 1) == 1
    assert outcomes_of(Scope(mdp=WorldChoice(moves | {"noise": noise})), 5, 1) == 10
    method = {"kind": "p_learning", "model": {"family": "gaussian"}, "estimator": "score"}
    assert outcomes_of(Scope(mdp=WorldChoice(moves), extract=ExtractionChoice(method)), 5, 2) == 25
