"""Every example that is shipped runs at its smallest size, and what it claims there holds."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog

import wmlab
from wmlab.registry import mdps
from wmlab.report.claims import claim_rows
from wmlab.report.headline import headline
from wmlab.spec.compose.document import read

FOLDER = Path(__file__).parent.parent / "specs" / "examples"
EXAMPLES = sorted(path.stem for path in FOLDER.glob("*.yaml") if read(str(path)).leaf.at(["name"]) is not None)
SMALLEST = "smoke"
Run = Callable[[str], wmlab.RunResults]


@pytest.fixture(scope="session")
def run(tmp_path_factory) -> Run:
    """Runs an example once, in one cache for all of them. Pages are gathered and not drawn: others draw some."""
    home = tmp_path_factory.mktemp("examples") / ".wmlab"

    @cache
    def found(name: str) -> wmlab.RunResults:
        path = FOLDER / f"{name}.yaml"
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("WMLAB_HOME", str(home))
            patch.setattr("wmlab.app.page_makers.draw_page", lambda data, draw: {"index.html": b""})
            example = wmlab.load(path, profile=SMALLEST if SMALLEST in read(str(path)).profiles else None)
            return example.run(jobs=0, keep_going=True, progress=False)

    return found


# Half a minute each, most of it compiling; what they show is tried in other ways, too.
LONG = (
    *("cartpole_expressions", "mountaincar_expressions", "noisy_pendulum", "pendulum_expressions"),
    *(
        "baselines",
        "cartpole_own_reward",
        "error_bars",
        "gusts",
        "mountaincar_any_force",
        "network_from_elsewhere",
        "pendulum",
        "puddle_world",
        "push_any_way",
        "two_tank",
        "wall",
    ),
)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in LONG else []) for name in EXAMPLES]
)
def test_an_example_runs_and_its_claims_hold(name, run):
    found = run(name)
    assert [row["label"] for row in found.results.get("failures", ())] == []
    assert [f"{claim['id']}: {claim['measured']}" for claim in found.claims if claim["holds"] is False] == []


# --- worlds of whole numbers, against tables and values made another way ---------------------------------------


def world(name: str):
    mdp = wmlab.load(FOLDER / f"{name}.yaml").data[0]["mdp"]
    return mdps["dynamics"].run(mdps["dynamics"].build(mdp), 0)


def best_values(kernel: np.ndarray, reward: np.ndarray, discount: float) -> np.ndarray:
    """The least values that no action betters, by linear programming: [S, A] of kernel [S, A, S], reward [S]."""
    states, actions, _ = kernel.shape
    below = discount * kernel - np.eye(states)[:, None, :]
    rows = below.reshape(states * actions, states)
    done = linprog(np.ones(states), A_ub=rows, b_ub=-(kernel @ reward).ravel(), bounds=(None, None), method="highs")
    return kernel @ (reward + discount * done.x)


def shop() -> np.ndarray:
    table = np.zeros((13, 3, 13))
    for stock in range(13):
        for action, order in enumerate((0, 3, 6)):
            for demand, chance in enumerate((0.1, 0.3, 0.3, 0.2, 0.1)):
                table[stock, action, max(min(stock + order, 12) - demand, 0)] += chance
    return table


def test_the_shop_is_the_one_that_is_written_by_hand():
    made = world("inventory")
    assert made.space.names[3] == "stock=3" and made.space.actions == ("order=0", "order=3", "order=6")
    np.testing.assert_allclose(made.kernel.to_dense(), shop(), atol=1e-15)
    np.testing.assert_allclose(made.reset, [1 / 7] * 7 + [0] * 6)


def test_the_values_of_the_shop_solve_the_linear_programme(run):
    q = run("inventory").arrays("train", variant="every_level")["q"]  # [G, S, A]
    for level in range(13):
        reward = np.exp(-((np.arange(13) - level) ** 2) / (2 * 0.7**2))
        np.testing.assert_allclose(q[level], best_values(shop(), reward, 0.9), atol=1e-6)


TOWN = ("0 .|. . 1", ". .|. . .", ". . . . .", ".|. .|. .", "2|. .|3 .")
RIDES = 4


def drive(row: int, column: int, passenger: int, action: str) -> tuple[int, int, int]:
    """One step through the town as it is drawn."""
    east, west = TOWN[row][2 * column + 1 : 2 * column + 2], TOWN[row][2 * column - 1] if column else ""
    here = TOWN[row][2 * column]
    if action == "north":
        row = max(row - 1, 0)
    elif action == "south":
        row = min(row + 1, 4)
    elif action == "east" and east == " ":
        column += 1
    elif action == "west" and west == " ":
        column -= 1
    elif action == "pick_up" and here == str(passenger):
        passenger = RIDES
    elif action == "set_down" and passenger == RIDES and here.isdigit():
        passenger = int(here)
    return row, column, passenger


def test_the_taxi_drives_through_the_town_as_it_is_drawn():
    made = world("taxi")
    names = ("row", "column", "passenger")
    assert made.kernel.width == 1
    for state in np.ndindex(5, 5, 5):
        for number, action in enumerate(made.space.actions):
            reached = made.space.index(dict(zip(names, drive(*state, action), strict=True)))
            start = made.space.index(dict(zip(names, state, strict=True)))
            assert made.kernel.successors[start, number, 0] == reached, (state, action)


def test_the_values_of_the_taxi_solve_the_linear_programme(run):
    made = world("taxi")
    q = run("taxi").arrays("train", variant="fares")["q"]
    coordinates = made.space.coordinates
    for rank in range(4):
        reward = (coordinates.values[:, coordinates.column("passenger")] == rank).astype(float)
        np.testing.assert_allclose(q[rank], best_values(made.kernel.to_dense(), reward, 0.95), atol=1e-6)


def test_cartpoles_own_reward_determines_one_of_four_directions_and_the_page_begins_with_it(run):
    results = dict(run("cartpole_own_reward").results)
    first = results["findings"][0]
    assert first["id"] == "not_identified" and "the values determine 1 of 4 directions" in first["sentence"]
    assert "These values cannot tell next states apart that differ in the other 3" in first["sentence"]
    marks = {claim["id"]: claim.get("not_identified") for claim in results["claims"]}
    assert marks["one_direction"] is None and marks["a_wrong_model"].startswith("not identified")
    assert first["sentence"] in headline(claim_rows(results), results).worst


def test_the_walker_never_steps_over_the_cliff(run):
    spec = wmlab.load(FOLDER / "cliff_walking.yaml").data[0]["mdp"]
    made = mdps["gridworld"].run(mdps["gridworld"].build(spec), 0)
    cliff = np.isin(made.space.names, list("ABCDEFGHIJ"))
    policy = run("cliff_walking").arrays("train", variant="paid")["policy"]  # [G, S, A]
    falls = cliff[made.kernel.successors[..., 0]]
    assert (policy[:, ~cliff] * falls[~cliff]).sum() == 0


# --- what others bring, and what many points give ----------------------------------------------------------------


def test_the_harbour_of_a_table_made_with_numpy_is_read_though_no_file_holds_it(run):
    recipe = runpy.run_path(str(FOLDER / "data" / "ferry_q.py"))
    np.testing.assert_allclose(recipe["values"](), np.load(FOLDER / "data" / "ferry_q.npz")["q"], atol=1e-12)
    model = run("audit_numpy_table").arrays("extract")
    states, actions, _ = model["probabilities"].shape
    dense = np.zeros((states, actions, states))
    np.add.at(dense, (*np.indices(model["successors"].shape)[:2], model["successors"]), model["probabilities"])
    np.testing.assert_allclose(dense, recipe["kernel"](), atol=1e-6)


def test_the_sweep_has_48_points_and_every_one_is_in_the_frame(run):
    frame = run("sweep_of_48").frame("wm.tv")
    assert len(frame.groupby(["goals", "discount", "error"])) == len(frame) == 48
    exact = frame.query("goals == 13 and error == 0").value
    assert (exact < 1e-9).all() and frame.query("goals == 1").value.min() > 0.1


def test_a_learner_gives_its_world_away_over_training(run):
    curves = {name: curve for name, curve in run("learning_curves").curves.items() if curve.metric == "wm.tv"}
    assert len(curves) == 2
    for curve in curves.values():
        assert curve.steps.tolist() == sorted(curve.steps) and curve.mean[-1] < curve.mean[0]


def test_two_drivers_are_compared_at_each_variant(run):
    frame = run("two_drivers").frame("compare.good.tv")
    assert frame.set_index("variant").value.to_dict()["fares_and_errands"] == 0
