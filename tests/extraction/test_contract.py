"""What every extraction in a finite world promises."""

from __future__ import annotations

import ast
import importlib.util
import json
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

import wmlab
from tests.extraction.worlds import random_view
from wmlab.core.finite.space import FiniteSpace
from wmlab.errors import StageError
from wmlab.registry import Scope, extractions

ROOT = Path(__file__).parents[2]
FINITE = [name for name in extractions.own if extractions[name].traits.worlds == "finite"]
SETTINGS = {
    "lp": [{}, {"tie_break": "least_norm"}, {"tie_break": "highs"}],
    "tabular_p_learning": [{"steps": 200}, {"steps": 200, "projected": True, "initial": "random"}],
    "column_matching": [{}, {"norm": "l2"}],
    "score_function": [{"steps": 20, "draws": 2}],
    "evolution": [{"steps": 20, "population": 4}],
}
CASES = [(name, data) for name in FINITE for data in SETTINGS.get(name, [{}])]


def run(name, data, view, seed=0):
    kind = extractions[name]
    return kind.run(view, kind.build(data), seed)


def supported(view):
    states = view.q.shape[1]
    support = (np.arange(states)[:, None] + np.arange(3)) % states
    support[0, 2] = -1
    return replace(view, support=support.astype(np.int32))


@pytest.mark.parametrize(("name", "data"), CASES)
def test_every_method_gives_a_kernel_and_its_residual(name, data):
    _, view = random_view(0, 6, 2, 4)
    result = run(name, data, view)
    assert result.kernel.successors.shape[:2] == (6, 2)
    assert result.kernel.successors.dtype == np.int32
    assert result.kernel.probabilities.dtype == np.float64
    fit = np.einsum("sat,rt->rsa", result.kernel.to_dense(), view.backup)
    np.testing.assert_allclose(result.residual, np.abs(fit - view.q).sum(axis=0), atol=1e-12)
    kind = extractions[name]
    options = kind.build(data)
    if kind.traits.stays_in_simplex(options) or kind.traits.model_is_deterministic(options):
        assert result.kernel.probabilities.min() >= 0
        np.testing.assert_allclose(result.kernel.probabilities.sum(axis=-1), 1.0, atol=1e-12)


@pytest.mark.parametrize(("name", "data"), [*CASES, ("sparse_lp", {"size": 1})])
def test_a_model_has_no_more_successors_than_its_method_says(name, data):
    kind = extractions[name]
    options = kind.build(data)
    most = 1 if kind.traits.model_is_deterministic(options) else kind.traits.sparse_support(options)
    _, view = random_view(2, 5, 2, 4)
    successors = (np.abs(run(name, data, view).kernel.to_dense()) > 1e-12).sum(axis=-1)
    assert most is None or successors.max() <= most


@pytest.mark.parametrize(("name", "data"), CASES)
def test_every_method_keeps_to_the_support(name, data):
    _, view = random_view(1, 6, 2, 4)
    view = supported(view)
    table = run(name, data, view).kernel.to_dense()
    allowed = np.zeros((6, 6), bool)
    for state, row in enumerate(view.support):
        allowed[state, row[row >= 0]] = True
    assert (table[~np.broadcast_to(allowed[:, None], table.shape)] == 0).all()


@pytest.mark.parametrize(("name", "data"), CASES)
def test_a_support_by_action_says_the_same_as_one_by_state(name, data):
    _, view = random_view(2, 6, 2, 4)
    by_state = supported(view)
    by_action = replace(by_state, support=np.repeat(by_state.support[:, None], 2, axis=1))
    np.testing.assert_array_equal(
        run(name, data, by_state).kernel.to_dense(), run(name, data, by_action).kernel.to_dense()
    )


@pytest.mark.parametrize(("name", "data"), CASES)
def test_the_same_seed_gives_the_same_bytes(name, data):
    _, view = random_view(3, 6, 2, 4)
    first, second = (run(name, data, view, seed=7) for _ in range(2))
    assert first.kernel.probabilities.tobytes() == second.kernel.probabilities.tobytes()
    assert first.kernel.successors.tobytes() == second.kernel.successors.tobytes()
    assert first.notes == second.notes


@pytest.mark.parametrize(("name", "data"), CASES)
def test_a_second_agent_of_the_same_shape_compiles_nothing(name, data):
    run(name, data, random_view(4, 6, 2, 4)[1])
    with count_compilations() as compiled:
        run(name, data, random_view(5, 6, 2, 4)[1])
    assert compiled == []


def test_compilations_are_counted():
    import jax

    with count_compilations() as compiled:
        jax.jit(lambda x: x * 3 + 1)(np.ones(17))
    assert compiled


@pytest.mark.parametrize("name", FINITE)
def test_a_value_that_is_no_number_is_named(name):
    _, view = random_view(6, 6, 2, 4)
    q = view.q.copy()
    q[2, 3, 1] = np.nan
    with pytest.raises(
        StageError, match=r"^Q is nan at goal 2, state s3, action a1 \(1 of 48 entries are not finite\)$"
    ):
        run(name, {}, replace(view, q=q))


@pytest.mark.parametrize("name", FINITE)
def test_an_empty_support_is_named(name):
    _, view = random_view(6, 6, 2, 4)
    view = supported(view)
    view.support[4] = -1
    with pytest.raises(StageError, match="^the support is empty at state s4, action a0: no state may follow$"):
        run(name, {}, view)


@pytest.mark.parametrize("name", FINITE)
def test_a_support_that_excludes_every_fitting_kernel_is_found_and_said_where(name):
    world, view = random_view(8, 6, 2, 4)
    support = np.tile(np.arange(6, dtype=np.int32), (6, 1))
    support[3, 1:] = -1  # from s3 only s0 may follow
    notes = run(name, SETTINGS.get(name, [{}])[0], replace(view, support=support)).notes
    assert notes["misfit"]["pairs"] >= 2
    assert notes["misfit"]["worst"]["residual"] > notes["misfit"]["tolerance"]
    if name == "lp":
        assert notes["misfit"]["worst"]["state"] == "s3"
        assert notes["misfit"]["pairs"] == 2


@pytest.mark.parametrize("name", FINITE)
def test_every_option_is_documented(name):
    assert all(field.metadata["doc"] for field in fields(extractions[name].options))


@pytest.mark.parametrize("name", FINITE)
def test_neighbours_need_a_map(name):
    kind = extractions[name]
    options = kind.build({"prior": {"support": {"kind": "neighbours", "of": 4, "self": True}}})
    findings = list(kind.check(options, Scope(FiniteSpace.named(3, 2))))
    assert [(finding.path, finding.message) for finding in findings] == [
        (("prior", "support", "kind"), "this world has no map, hence no neighbours")
    ]


def test_extraction_cannot_reach_the_true_dynamics():
    seen: set[str] = set()
    waiting = [f"wmlab.extraction.{file.stem}" for file in (ROOT / "wmlab" / "extraction").glob("*.py")]
    while waiting:
        module = waiting.pop()
        if module in seen:
            continue
        seen.add(module)
        waiting += [found for found in imports_of(module) if found.startswith("wmlab")]
    assert not [module for module in seen if module.startswith(("wmlab.mdps", "wmlab.agents", "wmlab.measure"))]
    assert "wmlab.core.finite.kernel" in seen  # the walk does walk


def imports_of(module: str) -> list[str]:
    """What a module imports, at its top or inside its functions, without running it."""
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        return []
    found = []
    for node in ast.walk(ast.parse(Path(spec.origin).read_text())):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return [name for name in found if not name.startswith("wmlab") or _is_module(name)]


def _is_module(name: str) -> bool:
    path = ROOT.joinpath(*name.split("."))
    return path.with_suffix(".py").exists() or (path / "__init__.py").exists()


class count_compilations:
    """The names of what JAX compiles inside the block."""

    def __enter__(self) -> list[str]:
        from jax._src import monitoring

        self.names: list[str] = []
        self.listener = lambda event, duration, **_: (
            self.names.append(event) if event == "/jax/core/compile/backend_compile_duration" else None
        )
        monitoring.register_event_duration_secs_listener(self.listener)
        return self.names

    def __exit__(self, *_: object) -> None:
        from jax._src import monitoring

        monitoring.unregister_event_duration_listener(self.listener)


def test_a_world_of_rows_and_columns_has_neighbours_and_they_give_its_wind_away(tmp_path, monkeypatch):
    monkeypatch.setenv("WMLAB_HOME", str(tmp_path / ".wmlab"))
    spec = {
        "wmlab": 1,
        "name": "windy",
        "mdp": {
            "kind": "dynamics",
            "state": {name: {"integers": [0, 3], "edge": "clip"} for name in ("row", "column")},
            "actions": {"up": {"dy": -1}, "right": {"dx": 1}, "down": {"dy": 1}, "left": {"dx": -1}},
            "noise": {"gust": {"kind": "categorical", "values": [0, 1], "probabilities": [0.7, 0.3]}},
            "next": {"row": "row + dy * (1 - gust)", "column": "column + dx * (1 - gust)"},
        },
        "goals": {"reward": {"kind": "generic", "count": 6, "seed": 0}, "terminate": "never"},
        "agent": {"kind": "exact", "discount": 0.9},
        "extract": {"kind": "lp", "prior": {"support": {"kind": "neighbours"}}},
        "evaluate": {"model_error": {}},
    }
    (tmp_path / "windy.yaml").write_text(json.dumps(spec), encoding="utf-8")
    found = wmlab.load(tmp_path / "windy.yaml").run(jobs=0, progress=False)
    assert found.metrics["wm.tv"]["mean"] < 1e-9
