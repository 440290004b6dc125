"""explore: what a page lets one look at is what other stages stored, side by side, and nothing is lost unsaid."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import null_space

from tests.extraction.worlds import random_view, rooms_view
from wmlab.app.run import run_study
from wmlab.core.finite.kernel import Kernel
from wmlab.graph.study import open_study
from wmlab.identify.rank import freedom, rank
from wmlab.report.content.explore import explorer
from wmlab.report.content.stored_run import StoredRun
from wmlab.runtime.store import Store
from wmlab.stages.finite.explore import next_states, side_by_side
from wmlab.stages.finite.records import world_of

SPEC = """
wmlab: 1
name: hall
mdp:
  kind: gridworld
  map: |
    ######
    #....#
    #.##.#
    #....#
    ######
  actions: [up, right, down, left]
  slip: {straight: 0.8, left: 0.1, right: 0.1}
goals: {reward: {kind: indicator}, at: {first: 2, of: states, shuffle: 0}, terminate: on_arrival}
agent: {kind: exact, discount: 0.9}
extract: {kind: lp, prior: {support: {kind: neighbours, of: 4, self: true}}}
evaluate:
  model_error: {}
  identify: {width: {slack: 1e-9}}
  explore: {goals: 1, successors: 4}
  unseen: {solver: {kind: value_iteration}, starts: all, goals: {corner: {reach: [3, 4], avoid: [[1, 3]]}}}
"""


@pytest.fixture(scope="module")
def hall(tmp_path_factory):
    """A run whose page has an explorer, without the page."""
    folder = tmp_path_factory.mktemp("hall")
    (folder / "hall.yaml").write_text(SPEC)
    study, store = open_study(str(folder / "hall.yaml")), Store(folder / ".wmlab")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("wmlab.app.page_makers.draw_page", lambda data, draw: {"index.html": b""})
        assert run_study(study, store, jobs=0, reports=folder / "reports").ok
    return StoredRun(study.plans[0].drawn, study.keys, store)


def test_every_number_is_that_of_the_stage_that_found_it(hall):
    found, model, agent = (hall.result(kind).arrays for kind in ("explore", "extract", "train"))
    truth = world_of(hall.run.point.experiment.mdp, 0, {}).kernel.to_dense()
    extracted = Kernel(model["successors"], model["probabilities"]).to_dense()
    states, actions = np.ogrid[: truth.shape[0], : truth.shape[1]]
    at = (states[..., None], actions[..., None], np.maximum(found["next"], 0))
    kept = found["next"] >= 0
    assert np.array_equal(found["model"], np.where(kept, extracted[at], 0).astype(np.float32))
    assert np.array_equal(found["truth"], np.where(kept, truth[at], 0).astype(np.float32))
    assert np.allclose(found["tv"], np.abs(extracted - truth).sum(axis=-1) / 2, atol=1e-7)
    assert np.array_equal(found["q"], agent["q"][:1].astype(np.float32))
    assert np.array_equal(found["residual"], model["residual"].astype(np.float32))
    identified = hall.result("identify").arrays
    allowed = identified["candidates"].reshape(*kept.shape[:2], -1)
    high = np.zeros_like(truth)
    place = (states[..., None], actions[..., None], np.maximum(allowed, 0))
    np.add.at(high, place, np.where(allowed < 0, 0, identified["high"]))
    assert np.array_equal(found["high"], np.where(kept, high[at], 0).astype(np.float32))
    assert hall.result("explore").data["goals_left_out"] == 1


def test_plans_have_their_values_and_a_best_step(hall):
    found, best = hall.result("explore").arrays, hall.result("oracle", "corner").arrays
    truth = world_of(hall.run.point.experiment.mdp, 0, {}).kernel.to_dense()
    assert np.array_equal(found["oracle/corner/value"], best["value"].astype(np.float32))
    target, unsafe = hall.space.index([3, 4]), hall.space.index([1, 3])
    worth = 0.9 * best["value"]
    worth[[target, unsafe]] = 1.0, 0.0
    q = truth @ worth
    chosen = np.take_along_axis(q, found["oracle/corner/step"][:, None], axis=1)[:, 0]
    assert np.allclose(chosen, q.max(axis=1), atol=1e-12)


def test_a_page_gets_it_with_names_cells_and_marks(hall):
    shown = explorer(hall)
    assert shown.states[0] == "(1, 1)" and shown.shape == (5, 6) and shown.actions == ("up", "right", "down", "left")
    assert shown.marks == {"corner": {"reach": (hall.space.index([3, 4]),), "avoid": (hall.space.index([1, 3]),)}}
    assert len(shown.goals) == 1 and shown.goals_left_out == 1 and "plan/corner/step" in shown.arrays


def test_next_states_of_all_sides_are_listed_once_and_what_is_left_out_is_counted():
    random = np.random.default_rng(0)
    tables = random.dirichlet(np.full(6, 0.4), size=(2, 6, 2))  # [side, S, A, S]
    one, other = (Kernel.dense(np.where(table > 0.05, table, 0.0)) for table in tables)
    states, numbers = side_by_side(
        {"model": (one.successors, one.probabilities), "truth": (other.successors, other.probabilities)}, (6, 2)
    )
    for side, kernel in (("model", one), ("truth", other)):
        dense = np.zeros((6, 2, 6))
        s, a = np.ogrid[:6, :2]
        np.add.at(dense, (s[..., None], a[..., None], np.maximum(states, 0)), numbers[side])
        assert np.allclose(dense, kernel.to_dense(), atol=0)
    listed = np.where(states < 0, 10 + np.arange(states.shape[-1]), states)
    assert all(len({*row}) == len(row) for row in listed.reshape(-1, listed.shape[-1]).tolist())
    few, all_of_them = (next_states(View(), one, other, None, most) for most in (2, 100))
    present = (np.maximum(one.to_dense(), other.to_dense()) > 0).sum(axis=-1)
    assert np.array_equal(few["left_out"], np.maximum(present - 2, 0)) and not all_of_them["left_out"].any()
    assert np.array_equal(few["tv"], all_of_them["tv"])


class View:
    """As much of a view as says how many states and actions there are."""

    q = np.zeros((1, 6, 2))


@pytest.mark.parametrize(("variant", "goals"), [("windy", 1), ("windy", 4)])
def test_freedom_is_the_dimension_of_the_null_space_of_each_pair(variant, goals):
    _, view = rooms_view(variant, goals, local=True)
    left = freedom(view)
    for state in range(0, view.q.shape[1], 7):
        columns = view.backup[:, view.support[state][view.support[state] >= 0]]
        bordered = np.vstack([columns, np.full((1, columns.shape[1]), np.abs(view.backup).max())])
        assert (left[state] == null_space(bordered, rcond=1e-9).shape[1]).all()


def test_without_a_prior_all_pairs_have_the_same_freedom():
    _, view = random_view(0, states=6, actions=2, rows=3)
    assert (freedom(view) == rank(view).simplex_nullity).all() and rank(view).simplex_nullity == 2
