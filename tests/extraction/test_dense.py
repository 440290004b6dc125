"""A table over all states that would not fit into memory is refused before anything runs."""

from __future__ import annotations

import json

import pytest

from wmlab.core.finite.space import FiniteSpace
from wmlab.extraction import options as common
from wmlab.extraction.options import Common
from wmlab.registry import ExtractionChoice, Scope, build, extractions
from wmlab.spec.check.validate import validate
from wmlab.spec.compose.document import read

SIDE = 312  # 97 344 states
SHAPE = "97 344 x 4 x 97 344"
TABLES = ("evolution", "lp", "pseudo_inverse", "score_function", "tabular_p_learning")
HINT = "give extract.prior.support, or take another method"


@pytest.fixture(autouse=True)
def machine(monkeypatch):
    monkeypatch.setattr(common, "usable_memory", lambda: 8 * 2**30)


def mistakes(folder, extract, evaluate=None, side=SIDE):
    spec = {
        "wmlab": 1,
        "name": "large",
        "mdp": {"kind": "gridworld", "map": "\n".join(["." * side] * side)},
        "goals": {"reward": {"kind": "indicator"}, "at": {"first": 8}},
        "agent": {"kind": "exact", "discount": 0.9},
        "extract": extract,
        "evaluate": evaluate or {"model_error": {}},
    }
    path = folder / "large.yaml"
    path.write_text(json.dumps(spec))
    return [(error.path, error.message, error.hint) for error in validate(read(str(path)))]


def test_lp_on_a_large_map_says_how_large_and_what_to_say_instead(tmp_path):
    message = f"lp without a support prior needs an array of {SHAPE} numbers (282 GiB, and there are 8)"
    assert mistakes(tmp_path, {"kind": "lp"}) == [("extract.prior.support", message, HINT)]
    assert mistakes(tmp_path, {"kind": "lp", "prior": {"support": {"kind": "neighbours"}}}) == []
    assert mistakes(tmp_path, {"kind": "lp"}, side=20) == []


@pytest.mark.parametrize("method", TABLES)
def test_every_method_that_holds_a_table_says_so(method):
    scope = Scope(FiniteSpace.named(100_000, 2), extract=ExtractionChoice({"kind": method}))
    kind = extractions[method]
    [finding] = kind.check(kind.build({}), scope)
    assert finding.message.startswith(f"{method} without a support prior needs an array of 100 000 x 2 x 100 000")
    assert list(kind.check(kind.build({}), Scope(FiniteSpace.named(1_000, 2)))) == []


def test_matching_columns_needs_no_table(tmp_path):
    assert mistakes(tmp_path, {"kind": "column_matching"}) == []


def test_the_identified_set_of_a_large_map_needs_a_support_too(tmp_path):
    width = {"identify": {"width": {}}}
    message = f"the identified set without a support prior needs 2 arrays of {SHAPE} numbers (565 GiB, and there are 8)"
    hint = "give extract.prior.support, or leave out width"
    found = mistakes(tmp_path, {"kind": "column_matching"}, width)
    assert found == [("evaluate.identify.width", message, hint)]
    assert mistakes(tmp_path, {"kind": "lp", "prior": {"support": {"kind": "neighbours"}}}, width) == []


def test_a_support_that_leaves_out_a_state_is_as_large_as_none():
    size = 50_000
    space = FiniteSpace.named(size, 2)
    table = {f"s{state}": ["s0"] if state % 2 else {"a0": ["s0"], "a1": ["s1"]} for state in range(size)}
    scope = Scope(space, extract=ExtractionChoice({"kind": "lp"}))

    def found(of):
        return list(common.check_dense(build(Common, {"prior": {"support": {"kind": "table", "of": of}}}), scope))

    assert found(table) == []
    del table["s7"]
    [finding] = found(table)
    assert finding.message.startswith("lp with a support that leaves out states needs an array of 50 000 x 2 x 50 000")
    assert finding.hint == "list the successors of every state and action"
