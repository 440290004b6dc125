"""Agents, methods, solvers and measurements against the kind of world that they need."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.spec.composing import resolved
from wmlab.registry import mdps
from wmlab.spec.check.validate import validate

UNSEEN = {"goals": {"end": {"reach": "s7"}}}


def pretend(monkeypatch, **traits):
    """Say of random worlds what is not so."""
    kind = mdps["random"]
    monkeypatch.setitem(mdps._kinds, "random", replace(kind, traits=replace(kind.traits, **traits)))


def mistakes(tmp_path, body, monkeypatch, world):
    """What is said of a spec when random worlds are of another kind than they are."""
    pretend(monkeypatch, sort=world)
    errors = validate(resolved(tmp_path, body).document)
    return [(error.path, error.message, error.hint) for error in errors]


@pytest.mark.parametrize("support", [{"kind": "table", "of": {"s0": ["s1"]}}, {"kind": "neighbours"}])
def test_what_needs_a_finite_world_says_so_in_a_continuous_one(tmp_path, support):
    goal = {"reach": {"position": 0.3}, "within": 0.1}
    body = {
        "mdp": {"kind": "gymnax", "env": "MountainCar-v0"},
        "goals": {"reward": {"kind": "indicator", "radius": 0.1}, "at": {"position": [-1, 0]}},
        "agent": {"kind": "pqn"},
        "extract": {"kind": "lp", "prior": {"support": support}},
        "evaluate": {"model_error": None, "unseen": {"solver": {"kind": "value_iteration"}, "goals": {"end": goal}}},
    }
    errors = validate(resolved(tmp_path, body).document)
    assert [(error.path, error.message, error.hint) for error in errors] == [
        (
            "extract.kind",
            "lp needs a finite world, and mdp.kind gymnax is continuous",
            "say kind: matching or p_learning",
        ),
        ("extract.prior.support", "a support prior needs a finite world, and gymnax is continuous", None),
        (
            "evaluate.unseen.solver.kind",
            "value_iteration needs a finite world, and mdp.kind gymnax is continuous",
            "say kind: grid_value_iteration or sampling",
        ),
    ]


def test_what_needs_true_dynamics_says_what_is_left_without_them(tmp_path, monkeypatch):
    pretend(monkeypatch, knows_truth=False)
    body = {
        "evaluate": {"value_error": {}, "fit": {}, "identify": {"bounds": ["theorem_3c"]}},
        "claims": {"close": {"metric": "wm.tv", "at_most": 1}},
    }
    found = mistakes(tmp_path, body, monkeypatch, "finite")
    left = "fit, identify, unseen.guarantee, design, unseen.*.r_believed"
    message = f"needs true dynamics, and mdp.kind is random; available: {left}"
    elsewhere = "say external, and name the file that holds its values"
    assert found == [
        ("agent.kind", "exact needs a world to act in, and mdp.kind is random", elsewhere),
        ("evaluate.model_error", message, None),
        ("evaluate.value_error", message, None),
        ("evaluate.identify.bounds", message, None),
        ("claims.close.metric", "this spec never makes 'wm.tv'", "evaluate.model_error makes it"),
    ]
