"""Logged transitions: how they are read, which part is held out, and what a model is held against."""

from __future__ import annotations

import json
import re
import sys

import numpy as np
import pytest

from tests.making import goals_section
from tests.stages import by_hand, logs
from wmlab.core.continuous.log import held_out_rows
from wmlab.core.continuous.space import ContinuousSpace, Variable
from wmlab.errors import StageError
from wmlab.registry import build
from wmlab.sections.data import DataSection
from wmlab.spec.check.metrics import promised
from wmlab.stages.log_files import read_log

SPACE = ContinuousSpace(
    (Variable("x", -1, 1, "clip"), Variable("angle", -np.pi, np.pi, "wrap")),
    ("left", "right", "rest"),
    ("push",),
    ((-1.0,), (1.0,), (0.0,)),
    ((-1, 1), (-np.pi, np.pi)),
)
GOALS = goals_section({"reward": {"kind": "indicator", "radius": 0.1}, "at": [{"x": 0.5}], "terminate": "never"})
ROWS = 10


@pytest.fixture
def log(tmp_path, monkeypatch):
    """Reads a file of arrays, some of them changed, as a section says."""
    monkeypatch.chdir(tmp_path)

    def read(section=None, **changed):
        rng = np.random.default_rng(0)
        arrays = {
            "observations": rng.uniform(-1, 1, (ROWS, 2)),
            "actions": np.arange(ROWS) % 3,
            "next_observations": rng.uniform(-1, 1, (ROWS, 2)),
        } | changed
        np.savez("log.npz", **arrays)
        return read_log(build(DataSection, {"file": "log.npz", **(section or {})}), SPACE, {}, GOALS), arrays

    return read


def test_columns_are_taken_by_their_names_and_angles_go_round(log):
    wide = np.stack([np.full(ROWS, 9.0), np.full(ROWS, 2 * np.pi + 0.5), np.linspace(-1, 1, ROWS)], axis=1)
    columns = {"state": {"array": "observations", "columns": [None, "angle", "x"]}}
    found, _ = log(columns, observations=wide, next_observations=wide)
    np.testing.assert_allclose(found.state, np.stack([wide[:, 2], np.full(ROWS, 0.5)], axis=1), rtol=1e-6)
    assert found.state.dtype == np.float32 and np.array_equal(found.state, found.after)


def test_actions_go_by_number_in_a_given_order_or_by_their_components(log):
    assert log()[0].action.tolist() == [0, 1, 2] * 3 + [0]
    order = {"action": {"array": "actions", "order": ["rest", "left", "right"]}}
    assert log(order)[0].action.tolist() == [2, 0, 1] * 3 + [2]
    pushes = np.array([[0.0], [1.0], [-1.0 + 1e-6], [1.0], [0.0]] * 2)
    assert log(actions=pushes)[0].action.tolist() == [2, 1, 0, 1, 2] * 2


def test_a_stated_share_of_units_is_held_out_by_its_seed():
    unit = np.repeat(np.arange(20), 5)
    chosen = held_out_rows(unit, 0.25, 3)
    assert chosen.sum() == 25 and len(np.unique(unit[chosen])) == 5  # whole episodes
    assert np.array_equal(chosen, held_out_rows(unit, 0.25, 3)) and not np.array_equal(
        chosen, held_out_rows(unit, 0.25, 4)
    )
    assert held_out_rows(np.arange(3), 0.01, 0).sum() == 1 and held_out_rows(np.arange(3), 0.99, 0).sum() == 2


def test_episodes_are_held_out_whole_where_they_are_known(log):
    episode = np.repeat([7, 8, 9, 10, 11], 2)
    found, _ = log({"episode": "episodes", "held_out": 0.4}, episodes=episode)
    assert found.held_out.sum() == 4 and len(np.unique(episode[found.held_out])) == 2
    assert len(found.part(True).state) == 4 and len(found.part(False).state) == 6


@pytest.mark.parametrize(
    ("section", "changed", "words"),
    [
        ({}, {"observations": np.full((ROWS, 2), 3.0)}, "in row 0 x is 3, outside its range [-1, 1]; are the columns"),
        ({}, {"observations": np.full((ROWS, 2), np.nan)}, "x is no number in row 0"),
        ({}, {"observations": np.zeros((ROWS, 3))}, "'observations' has 3 columns, and the spec names 2"),
        ({}, {"actions": np.full(ROWS, 3)}, "action 3 in row 0, of 3 from 0 on"),
        ({}, {"actions": np.full((ROWS, 1), 0.3)}, "no action has push=0.3 (row 0, and 9 more like it)"),
        ({}, {"actions": np.zeros((ROWS, 2))}, "actions of 2 numbers, and the world's have 1: push"),
        ({}, {"next_observations": np.zeros((4, 2))}, "10 states and 4 next states"),
        ({"action": "deeds"}, {}, "no array 'deeds'; it holds observations, actions, next_observations"),
        ({"episode": "one"}, {"one": np.zeros(ROWS)}, "one episode alone"),
    ],
)
def test_what_cannot_be_of_this_world_is_refused_by_row(log, section, changed, words):
    with pytest.raises(StageError, match=re.escape(words)):
        log(section, **changed)


def test_objects_in_a_log_are_never_unpickled(log):
    with pytest.raises(StageError, match="Python objects, which run code"):
        log(observations=np.array([[{}, 1]] * ROWS, object))


def test_a_minari_dataset_without_its_library_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "minari", None)
    (tmp_path / "main_data.hdf5").write_bytes(b"")
    spaces = {"observation_space": "", "action_space": "", "total_episodes": 0}
    (tmp_path / "metadata.json").write_text(json.dumps(spaces))
    data = build(DataSection, {"file": str(tmp_path / "main_data.hdf5"), "format": "minari"})
    with pytest.raises(StageError, match=re.escape("pip install 'wmlab[minari]'")):
        read_log(data, SPACE, {}, GOALS)


# --- from a log to errors, held against the same written out by hand ------------------------------------------------


@pytest.fixture(scope="module")
def wild(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wild")
    arrays = logs.transitions(400)
    np.savez(folder / "log.npz", **arrays)
    section = "{file: log.npz, held_out: 0.25, goal: goals, reward: rewards}"
    done = logs.answers(logs.lay_out(folder, section))
    return done, {name: array.astype(np.float32).astype(float) for name, array in arrays.items()}, folder


def held_out(arrays):
    kept = held_out_rows(np.arange(400), 0.25, 0)
    names = ("observations", "actions", "next_observations")
    state, action, after = (arrays[name][kept] for name in names)
    return state, action.astype(int), after


def test_errors_in_a_log_are_those_computed_by_hand(wild):
    done, arrays, folder = wild
    weights = {
        name.removeprefix("weights/"): array.astype(np.float64)
        for name, array in done.results["extract"].arrays.items()
        if name.startswith("weights/")
    }
    measured = done.results["measure"].data["metrics"]
    transitions = held_out(arrays)
    for name, value in by_hand.errors(weights, *transitions).items():
        assert measured[name]["value"] == pytest.approx(value, rel=1e-5, abs=1e-6), name
    goals = np.array([[point["x"], point["y"]] for point in done.asked.goals.at])
    expected = by_hand.td_error(str(folder / "drone_q.safetensors"), goals, *transitions)
    assert measured["agent.td_error"]["value"] == pytest.approx(expected, abs=1e-6)
    assert measured["data.reward_error"]["value"] < 1e-6


def test_an_unknown_world_with_a_log_makes_what_it_promises_and_nothing_else(wild):
    done, _, _ = wild
    made = set(done.results["measure"].data["metrics"]) | set(done.results["identify"].data["metrics"])
    assert made == {one.name for one in promised(done.asked, {})}
    assert {"wm.delta_nmse", "agent.td_error", "fit.explained", "ident.local_rank"} <= made
    assert not any(name.startswith(("q.", "unseen.")) for name in made)
    assert done.results["measure"].data["yardsticks"]["standing_still"] > 0.9


def test_states_of_a_fit_are_logged_ones_and_its_residual_is_taken_at_those_held_out(wild):
    done, arrays, _ = wild
    kept = {tuple(row) for row in held_out(arrays)[0].astype(np.float32).tolist()}
    taken = {tuple(row) for row in done.results["extract"].arrays["held_out"].tolist()}
    assert taken <= kept and len(taken) == len(kept) == 100


def test_the_content_of_a_log_is_part_of_what_is_asked(wild):
    done, _, _ = wild
    for role in ("extract", "measure"):
        params = done.stages[role].params
        (file,) = (name for name in params["files"] if name.endswith("log.npz"))
        assert len(params["files"][file]) == 64 and params["data"]["held_out"] == 0.25
    assert "data" not in done.stages["train"].params and "data" not in done.stages["identify"].params
