"""A continuous experiment, stage by stage: what each leaves for the next, and what is the same by two ways."""

from __future__ import annotations

import importlib
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import jax
import numpy as np
import pytest

import wmlab
from wmlab.extraction.p_learning import Options
from wmlab.graph.stage import Stage
from wmlab.planning.grid_value_iteration import planning_bytes, points_of
from wmlab.registry import SolverChoice, as_data, build
from wmlab.runtime.result import Result
from wmlab.sections.spec import Compare
from wmlab.spec.check.metrics import promised
from wmlab.stages.continuous import oracle
from wmlab.stages.continuous import plan as plans
from wmlab.stages.continuous.plan import plan, solve
from wmlab.stages.continuous.records import load_agent, load_model, view_for, world_of
from wmlab.stages.params import PlanParams

COMPARE = Compare("other.yaml", "nmse", "uniform", 500)
SPECS = Path(__file__).parents[2] / "specs"
SETS = (
    "agent.envs=8",
    "agent.steps=2048",
    "agent.network.width=16",
    "extract.when=checkpoints",
    "extract.model={depth: 1, width: 16}",
    "evaluate.fit={}",
    "evaluate.explore={goals: 3, points: {position: 7, velocity: 5}}",
    "evaluate.unseen.when=checkpoints",
    "evaluate.unseen.goals={fast_car: null, shortest_path: null}",
)


class Nothing:
    """No partial results from before, and none kept."""

    def load(self):
        return None

    def save(self, result):
        pass


def answer(stage: Stage, inputs: dict[str, Result]) -> Result:
    context = SimpleNamespace(progress=lambda *_: None, partial=Nothing())
    return importlib.import_module(stage.module).run(stage.params, inputs, context)


@pytest.fixture(scope="module")
def done():
    """The run of one seed: its stages and what they gave, by role."""
    study = wmlab.load(SPECS / "mountaincar_position.yaml", profile="smoke", sets=SETS).study
    (run,) = study.plans[0].runs
    found: dict[str, Result] = {}
    for stage_id, stage in study.stages.items():
        found[stage_id] = answer(stage, {name: found[source] for name, source in stage.inputs.items()})
    results = {str(role): found[stage_id] for role, stage_id in run.stages.items()}
    stages = {str(role): study.stages[stage_id] for role, stage_id in run.stages.items()}
    return SimpleNamespace(results=results, stages=stages, asked=run.point.experiment)


def close_to(value, **tolerance):
    """A number to within a tolerance; None, for a ratio to nothing, as it is."""
    return None if value is None else pytest.approx(value, **tolerance)


def test_all_metrics_that_the_spec_promises_are_made(done):
    made = set(done.results["measure"].data["metrics"])
    made |= {f"unseen.gentle_car.{name}" for name in done.results["plan gentle_car"].data["metrics"]}
    assert made == {one.name for one in promised(done.asked, {}) if not one.name.startswith("unseen.mean.")}


def test_a_training_leaves_every_checkpoint_and_where_it_has_been(done):
    trained = done.results["train"]
    agent = load_agent(trained, world_of(done.asked.mdp, 0).space)
    assert trained.data["steps"] == [1024, 2048] and len(agent.checkpoints) == 2
    assert agent.labels == ("position=-1.2", "position=-0.6", "position=0", "position=0.6")
    assert trained.arrays["visits"].shape == (64, 64) and trained.arrays["visits"].sum() == 2048
    first, last = (weights["output.weight"] for weights in agent.checkpoints)
    assert np.abs(first - last).max() > 0


def test_the_last_point_of_a_curve_is_the_final_measurement(done):
    curves = done.results["track"].data["curves"]
    final = dict(done.results["measure"].data["metrics"])
    final |= {f"unseen.gentle_car.{k}": v for k, v in done.results["plan gentle_car"].data["metrics"].items()}
    assert set(curves) == set(final) and all(len(curve) == 2 for curve in curves.values())
    for name, metric in final.items():
        assert curves[name][-1] == close_to(metric["value"], rel=1e-5), name


def test_states_are_drawn_within_the_bounds_that_extraction_is_given(done):
    agent = load_agent(done.results["train"], world_of(done.asked.mdp, 0).space)
    wide, narrow = Options(), Options(bounds={"velocity": (0.01, 0.02)})
    states = np.asarray(view_for(narrow, agent).sample(jax.random.key(0), 500))
    assert 0.01 <= states[:, 1].min() < states[:, 1].max() <= 0.02
    assert np.ptp(states[:, 0]) > 1.7  # the position has its own range
    assert wide == narrow and hash(wide) == hash(narrow)  # both share one compiled program


def test_a_plan_made_in_the_truth_attains_what_the_oracle_attains(done):
    stage, best = done.stages["plan gentle_car"], done.results["oracle gentle_car"]
    world = world_of(done.asked.mdp, 0)
    _, metrics = plan(build(PlanParams, stage.params), world.dynamics, world, best)
    assert metrics["r_wm"]["value"] == metrics["r_star"]["value"] == best.data["r_star"]
    assert metrics["ratio"]["value"] == (1 if best.data["r_star"] else None)


def test_an_explorer_holds_the_car_against_its_equations_and_values_against_what_they_lead_to(done):
    found, model = done.results["explore"], load_model(done.results["extract"], done.asked.mdp.space)
    view = load_agent(done.results["train"], done.asked.mdp.space).view()
    x, v = np.meshgrid(-1.2 + 1.8 * (np.arange(7) + 0.5) / 7, -0.07 + 0.14 * (np.arange(5) + 0.5) / 5, indexing="ij")
    x, v = x.ravel(), v.ravel()
    states = np.stack([x, v], axis=1).astype(np.float32)
    for action in range(3):
        speed = np.clip(v + 0.001 * (action - 1) - 0.0025 * np.cos(3 * x), -0.07, 0.07)
        place = np.clip(x + speed, -1.2, 0.6)
        speed = np.where((place <= -1.2) & (speed < 0), 0.0, speed)
        after = np.stack([place, speed], axis=1)
        assert np.allclose(found.arrays["move/truth"][action].T, after - states, atol=1e-6)
        taken = np.full(len(states), action, np.int32)
        guess = np.asarray(model.step(states, taken, np.zeros((len(states), 0), np.float32)))
        assert np.allclose(found.arrays["move/error"][action].T, guess - after, atol=1e-6)
        for side, there in (("truth", after), ("model", guess)):
            reward, continues = view.arrive(there.astype(np.float32))
            ahead = reward + 0.99 * continues * np.asarray(view.values(there.astype(np.float32))).max(axis=-1)
            left = np.asarray(view.values(states))[..., action] - ahead  # [P, G]
            assert np.allclose(found.arrays[f"td/{side}"][:, action].T, left[:, :3], atol=1e-5)
    assert np.array_equal(found.arrays["ends"][1], np.abs(x + 0.6) <= 0.1)
    assert found.data["goals_left_out"] == 1 and found.arrays["v"].shape == (3, 35)


def test_an_explorer_follows_the_agent_from_its_starts_in_the_world_and_in_the_model(done):
    arrays, data = done.results["explore"].arrays, done.results["explore"].data
    assert data["starts"] == [11, 11] and arrays["way/truth"].shape == (3, 121, 51, 2) == arrays["way/model"].shape
    assert np.array_equal(arrays["way/truth"][0, :, 0], arrays["starts"])
    arrived = arrays["steps/truth"][2] < arrays["horizon"]  # the goal at position 0
    assert arrived.any() and (np.abs(arrays["way/truth"][2, arrived, -1, 0]) <= 0.1).all()
    assert arrays["visits"].sum() == pytest.approx(1) and arrays["visits"].shape == (64, 64)


def test_stages_carry_what_findings_hold_their_metrics_against(done):
    measured, planned, best = (done.results[name].data for name in ("measure", "plan gentle_car", "oracle gentle_car"))
    assert measured["yardsticks"]["standing_still"] >= 1  # of displacements' variance, and the square of their mean
    assert 0 <= measured["yardsticks"]["acting_at_random"] < 1
    assert {"unexplained", "still_falling"} <= set(measured["extraction"])
    grid = done.asked.evaluate.unseen.solver.options.grid
    assert best["coarser"]["shape"] == [(grid + 1) // 2] * 2 and planned["coarser"] == best["coarser"]


def test_what_one_would_do_if_nothing_had_to_be_avoided_is_watched(done):
    """On a finer grid the gentle way stays below its speed limit, and the free one, from some start, does not."""
    asked, world = build(PlanParams, done.stages["oracle gentle_car"].params), world_of(done.asked.mdp, 0)
    assert asked.goal.watch == ("velocity",)
    asked = replace(asked, solver=SolverChoice({**asked.solver.data, "grid": 60}))
    gentle = solve(asked, world.dynamics, world, world.space)
    arrived = gentle.returns > 0
    assert arrived.any() and gentle.peaks[arrived, 1].max() <= 0.05
    free = oracle.free_peaks(asked, world)["velocity"]
    assert free["least"] <= free["mean"] <= free["greatest"] <= 0.07 + 1e-6 and free["greatest"] > 0.05
    _, metrics = plan(asked, world.dynamics, world, Result({}, {"r_star": 1.0, "free_peaks": {"velocity": free}}))
    assert metrics["free_peak.velocity"] == {
        "value": free["mean"],
        "by": {"starts": {"least": free["least"], "greatest": free["greatest"]}},
    }


def test_a_second_grid_is_left_out_where_it_would_take_long(done, monkeypatch):
    monkeypatch.setattr(oracle, "CHEAP", 10)
    asked = build(PlanParams, done.stages["oracle gentle_car"].params)
    assert oracle.coarser(asked, world_of(done.asked.mdp, 0)) is None


def test_the_estimate_of_a_plan_is_what_the_spec_is_checked_by(done):
    stage, model = done.stages["plan gentle_car"], done.results["extract"]
    points = points_of(done.asked.evaluate.unseen.solver.options.grid, done.asked.mdp.space)
    expected = planning_bytes(points, axes=2, actions=3)
    assert plans.estimate(stage.params, {"model": model}) == expected > 0
    assert oracle.estimate(done.stages["oracle gentle_car"].params, {}) == expected


def test_errors_are_told_by_variable_and_drawn_over_two_of_them(done):
    measured = done.results["measure"]
    metrics, arrays = measured.data["metrics"], measured.arrays
    assert set(metrics["wm.delta_nmse_interior"]["by"]["dimension"]) == {"position", "velocity"}
    assert measured.data["across"] == ["position", "velocity"] and arrays["map/error"].shape == (40, 40)
    assert arrays["map/count"].sum() == 1000
    assert metrics["wm.identity_nmse"]["value"] == pytest.approx(1.1e-2, rel=0.15)


def test_a_model_is_no_distance_from_itself_and_its_own_error_from_the_truth(done):
    model = done.results["extract"]
    params = {"mdp": done.asked.mdp.data, "compare": as_data(COMPARE)}
    stage = Stage("compare", params, package="wmlab.stages.continuous")
    found = answer(stage, {"model": model, "other": model}).data["metrics"]
    made = [one for one in promised(done.asked, {"same": COMPARE}) if one.stage == "compare"]
    assert {f"compare.same.{name}" for name in found} == {one.name for one in made}
    for tail in ("", "_interior"):
        truth = found[f"nmse{tail}"]["by"]["from the truth"]
        assert found[f"nmse{tail}"]["value"] == 0 and truth["this model"] == truth["the other"] > 0
        assert found[f"times_closer{tail}"]["value"] is None  # nothing is closer than no distance at all
    assert found["nmse"]["by"]["from the truth"] != found["nmse_interior"]["by"]["from the truth"]


def test_two_models_are_as_many_times_closer_as_their_distances_say(done):
    params = {"mdp": done.asked.mdp.data, "compare": as_data(COMPARE)}
    model = done.results["extract"]
    other = Result({name: 1.1 * array for name, array in model.arrays.items()}, model.data)
    found = answer(Stage("compare", params, package="wmlab.stages.continuous"), {"model": model, "other": other})
    metrics = found.data["metrics"]
    for tail in ("", "_interior"):
        truth, times = metrics[f"nmse{tail}"]["by"]["from the truth"], metrics[f"times_closer{tail}"]
        for name in ("this model", "the other"):
            assert times["by"]["model"][name] == pytest.approx(truth[name] / metrics[f"nmse{tail}"]["value"])
        assert times["value"] == times["by"]["model"]["this model"] > 1


def test_a_closer_look_holds_what_the_stages_say_of_the_agent_its_model_and_the_world(done):
    looked, world = done.results["look"], world_of(done.asked.mdp, 0)
    arrays, agent = looked.arrays, load_agent(done.results["train"], world.space)
    assert looked.data["across"] == ["position", "velocity"] and looked.data["fixed"] == {}
    assert looked.data["goal"] == "position=-1.2" and looked.data["action"] == "push=1"
    middle = np.array([[-0.3, 0.0]], np.float32)  # of the middle one of 61 x 61 cells, and of 13 x 13 arrows
    worth = np.asarray(agent.view().values(middle))[0, 0].max()
    assert arrays["value"][30, 30] == pytest.approx(worth, rel=1e-5) and arrays["exact"].shape == (61, 61)
    model = load_model(done.results["extract"], world.space)
    for name, after in (
        ("truth", world.dynamics.step(middle, np.array([2]), np.zeros((1, 0)))),
        ("model", model.predict(middle, np.array([2]))),
    ):
        moved = np.asarray(after - middle)[0]
        np.testing.assert_allclose(arrays[f"change/{name}"][30, 30], moved, atol=1e-6)
        np.testing.assert_allclose(arrays[f"arrow/{name}"][6, 6], moved, atol=1e-6)
    assert arrays["way/world"].shape == arrays["way/model"].shape == (201, 4, 2)
    np.testing.assert_array_equal(arrays["way/world"][0], arrays["way/model"][0])


def test_what_is_measured_on_a_grid_carries_the_bounds_of_the_plans(done):
    study = wmlab.load(SPECS / "reacher.yaml", profile="smoke").study
    (run,) = study.plans[0].runs
    asked = study.stages[run.stage("measure")].params
    assert asked["evaluate"]["value_error"] == {"states": "uniform", "samples": 50, "grid": 6, "quadrature": 5}
    assert asked["bounds"] == {"omega1": [-2.0, 2.0], "omega2": [-2.0, 2.0]}
    assert done.stages["measure"].params["evaluate"]["value_error"]["grid"] == 12
    assert done.stages["measure"].params["bounds"] == {}


def test_a_matched_model_is_stored_and_read_again(done):
    options = {"kind": "matching", "grid": 5, "search": {"candidates": 8, "rounds": 2, "beam": 2}}
    params = {"mdp": done.asked.mdp.data, "extract": options, "seed": 0}
    stored = answer(Stage("extract", params, package="wmlab.stages.continuous"), {"agent": done.results["train"]})
    model = load_model(stored, world_of(done.asked.mdp, 0).space)
    after = model.predict(np.zeros((2, 2), np.float32), np.array([0, 2]))
    assert after.shape == (2, 2) and stored.data["model"] == {"form": "grid", "points": 5, "between": "linear"}


def test_one_agent_is_worth_the_same_in_the_world_written_as_expressions(done):
    study = wmlab.load(SPECS / "examples" / "mountaincar_expressions.yaml", profile="smoke").study
    written = study.stages[study.plans[0].runs[0].stage("measure")].params["mdp"]
    agent, model = done.results["train"], done.results["extract"]
    inputs = {
        "measure": {"agent": agent, "model": model},
        "plan gentle_car": {"model": model, "oracle": done.results["oracle gentle_car"]},
    }
    for role, given in inputs.items():
        stage = done.stages[role]
        assert stage.params["mdp"]["kind"] == "gymnax" and written["kind"] == "dynamics"
        again = Stage(stage.kind, {**stage.params, "mdp": written}, package="wmlab.stages.continuous")
        found = answer(again, given).data["metrics"]
        for name, metric in done.results[role].data["metrics"].items():
            assert found[name]["value"] == close_to(metric["value"], rel=1e-6, abs=1e-6), name
