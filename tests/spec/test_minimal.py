"""A minimal spec of every kind of world, made from the registry: whatever it leaves unsaid has a default that fits."""

from __future__ import annotations

import itertools
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from wmlab.cli import main
from wmlab.reference.topics import EXAMPLES
from wmlab.registry import FAMILIES, WorldChoice, agents, extractions, mdps, rewards
from wmlab.spec.check.validate import validate_all
from wmlab.spec.compose.document import PAPER, read
from wmlab.spec.compose.resolve import resolve

Spec = dict[str, Any]
# What some kinds cannot do without: no world could choose it for them.
NEEDED = {
    "exact": {"discount": 0.9},
    "q_learning": {"discount": 0.9},
    "external": {"q": {"file": "q.csv"}, "discount": 0.9},
    "gaussian": {"sigma": 0.5},
    "generic": {"count": 3},
}
# Beside the worlds of the reference's examples: variables without a range, and chance in each of four.
DRONE = {
    "kind": "dynamics",
    "state": {name: {"range": [-1, 1], "edge": "clip"} for name in ("x", "y", "u", "v")},
    "actions": {"push": [-1, 0, 1]},
    "noise": {f"wind_{name}": {"kind": "normal", "sd": 0.01} for name in ("x", "y", "u", "v")},
    "next": {
        "x": "x + 0.1 * u + wind_x",
        "y": "y + 0.1 * v + wind_y",
        "u": "u + 0.1 * push + wind_u",
        "v": "v + wind_v",
    },
    "reset": {name: 0 for name in ("x", "y", "u", "v")},
    "horizon": 50,
}
OTHERS: dict[str, Spec] = {
    "endless": {"kind": "gymnax", "env": "CartPole-v1"},
    "drone": DRONE,
    "acrobot": {"kind": "gymnax", "env": "Acrobot-v1"},
}


def worlds() -> Iterator[tuple[str, Spec]]:
    for kind in mdps.own:
        yield kind, resolve(read(str(EXAMPLES / f"mdp.{kind}.yaml")), PAPER).base.data["mdp"]
    yield from OTHERS.items()


def goals_for(world: WorldChoice) -> Iterator[Spec]:
    """Goals of every reward that goes with a world."""
    for name, kind in ((name, rewards[name]) for name in rewards.own):
        if world.sort == "continuous" and kind.traits.in_continuum is None:
            continue
        if name == "expression" and world.sort == "finite" and not world.space.described():
            continue  # there is nothing to write an expression of
        example = resolve(read(str(EXAMPLES / f"reward.{name}.yaml")), PAPER).base.data["goals"]
        reward = {"kind": name, **NEEDED.get(name, {})}
        if world.sort == "continuous":
            places: Any = [{world.space.names[0]: 0}]
            reward |= {"radius": 0.1} if name == "indicator" else {}
        else:
            places = "all" if world.knows_truth else [world.space.names[0]]  # of which the file speaks
        if name == "expression":
            reward["pays"] = f"cos({world.space.names[0]})" if world.sort == "continuous" else "1"
        if name == "table":
            reward["of"] = {"one": {world.space.names[0]: 1}}
        yield (
            {"reward": reward}
            if kind.traits.at == "none" or example.get("at") is None
            else {
                "reward": reward,
                "at": places,
            }
        )


def kinds_for(family: Any, world: WorldChoice) -> list[str]:
    return [name for name in family.own if family[name].traits.worlds in (world.sort, "any")]


def agents_for(world: WorldChoice) -> list[str]:
    """Agents that act where there is a world to act in; values from elsewhere fit the world that they came from."""
    if not world.knows_truth:
        return ["external"]
    grid = world.sort == "finite" or not world.space.endless  # no default could say where a grid is to end
    return [name for name in kinds_for(agents, world) if name != "external" and (grid or name != "exact")]


def minimal() -> Iterator[tuple[str, Spec]]:
    for label, mdp in worlds():
        world = WorldChoice(mdp)
        for goals, agent, method in itertools.product(
            goals_for(world), agents_for(world), kinds_for(extractions, world)
        ):
            if agent == "external" and goals["reward"]["kind"] != "indicator":
                continue
            name = f"{label}_{goals['reward']['kind']}_{agent}_{method}"
            sections = {"mdp": mdp, "goals": goals, "agent": {"kind": agent, **NEEDED.get(agent, {})}}
            yield name, {"wmlab": 1, "name": name, **sections, "extract": {"kind": method}}


MINIMAL = dict(minimal())


def test_there_is_one_for_each_kind_of_world_agent_and_extraction():
    for family, section in (("mdp", "mdp"), ("agent", "agent"), ("extract", "extract")):
        assert {spec[section]["kind"] for spec in MINIMAL.values()} == set(FAMILIES[family].own)
    assert {spec["goals"]["reward"]["kind"] for spec in MINIMAL.values()} == set(rewards.own)


def test_a_minimal_spec_of_every_kind_of_world_has_no_mistake(tmp_path):
    shutil.copy(EXAMPLES / "q.csv", tmp_path)
    paths = []
    for name, spec in MINIMAL.items():
        paths.append(str(tmp_path / f"{name}.yaml"))
        Path(paths[-1]).write_text(json.dumps(spec), encoding="utf-8")
    assert [f"{error}: {error.hint}" for error in validate_all(paths)] == []


# What makes a run quick, and nothing else; other defaults stay.
SMOKE: dict[str, Spec] = {
    "pqn": {"steps": 2048, "envs": 32, "rollout": 16},
    "q_learning": {"steps": 2000},
    "p_learning": {"steps": 4, "batch": 64, "model": {"width": 16}},
    "matching": {"grid": 5},
}
CHOICES = {"finite": ("exact", "column_matching"), "continuous": ("pqn", "p_learning")}


def evaluated(world: WorldChoice) -> Spec:
    """Everything that can be asked without a word more, in a world."""
    first = world.space.names[0]
    goal = {"reach": {first: 0}, "within": 0.1} if world.sort == "continuous" else {"reach": first}
    unseen: Spec = {"goals": {"there": goal}}
    if not world.knows_truth:
        return {"fit": {}, "unseen": unseen}
    asked: Spec = {"return": {}, "model_error": {}, "fit": {}}
    if world.sort == "continuous" and world.space.endless:
        return asked  # no default could say where a grid is to end
    return {**asked, "value_error": {}, "unseen": unseen}


def members(folder: Path, sort: str) -> Iterator[str]:
    """A spec for each world of a sort that asks for all that can be asked, in files."""
    for label, world in ((label, WorldChoice(mdp)) for label, mdp in worlds()):
        if world.sort != sort:
            continue
        agent, method = CHOICES[world.sort]
        agent = agent if world.knows_truth else "external"
        spec = MINIMAL[f"{label}_indicator_{agent}_{method}"]
        smoke = {"agent": SMOKE.get(agent, {}), "extract": SMOKE.get(method, {})}
        asked = {**spec, "evaluate": evaluated(world), "profiles": {"smoke": smoke}}
        (folder / f"{label}.yaml").write_text(json.dumps(asked), encoding="utf-8")
        yield f"{label}.yaml"


@pytest.mark.slow
@pytest.mark.parametrize("sort", ["finite", "continuous"])
def test_a_minimal_spec_of_every_kind_of_world_runs(sort, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WMLAB_CACHE", str(tmp_path / "cache"))
    shutil.copy(EXAMPLES / "q.csv", tmp_path)
    listed = list(members(tmp_path, sort))
    suite = {"wmlab": 1, "name": "every_world", "suite": listed, "profiles": {"smoke": {}}}
    (tmp_path / "suite.yaml").write_text(json.dumps(suite), encoding="utf-8")
    with pytest.raises(SystemExit) as stop:
        main(["run", "suite.yaml", "--profile", "smoke"])
    assert not stop.value.code
    assert len(listed) == len([label for label, mdp in worlds() if WorldChoice(mdp).sort == sort])


# --- defaults and their reasons --------------------------------------------------------------------------------------


def shown(spec: Spec, folder: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, tuple[Any, str]]:
    """What `plan --resolved` shows: path, value, and where it comes from."""
    (folder / "spec.yaml").write_text(json.dumps(spec), encoding="utf-8")
    with pytest.raises(SystemExit):
        main(["plan", str(folder / "spec.yaml"), "--resolved", "--format", "json"])
    return {row["path"]: (row["value"], row["source"]) for row in json.loads(capsys.readouterr().out)}


CONTINUOUS = "default for a continuous world"
ENDLESS = "default for a continuous world with a variable that has no range"
UNBOUNDED = "default for goals whose rewards have no known bounds"
NOWHERE = "default for goals without a point of arrival"


@pytest.mark.parametrize(
    ("name", "path", "value", "reason"),
    [
        ("gridworld_indicator_pqn_lp", "agent.network.encoding", "one_hot", "default for a finite world"),
        ("drone_indicator_pqn_p_learning", "agent.network.encoding", "sincos", CONTINUOUS),
        ("drone_indicator_pqn_p_learning", "agent.network.output", "bounded", "default"),
        (
            "drone_expression_pqn_p_learning",
            "agent.network.output",
            "linear",
            UNBOUNDED,
        ),
        ("drone_indicator_exact_p_learning", "agent.grid", 10, f"{CONTINUOUS}: 10 000 points at most"),
        ("drone_indicator_exact_p_learning", "agent.quadrature", 2, f"{CONTINUOUS}: 32 outcomes of a step at most"),
        ("drone_indicator_pqn_p_learning", "extract.states", "uniform", "default"),
        ("endless_indicator_pqn_p_learning", "extract.states", "reset", ENDLESS),
        ("drone_indicator_exact_p_learning", "goals.terminate", "on_arrival", "default"),
        ("drone_gaussian_exact_p_learning", "goals.terminate", "never", NOWHERE),
        ("random_generic_exact_lp", "goals.terminate", "never", NOWHERE),
    ],
)
def test_a_default_that_depends_on_the_world_is_shown_with_its_reason(name, path, value, reason, tmp_path, capsys):
    assert shown(MINIMAL[name], tmp_path, capsys)[path] == (value, reason)


def test_what_is_measured_by_default_fits_the_world(tmp_path, capsys):
    goals = {"there": {"reach": {"x": 0}, "within": 0.1}}
    asked = {"return": {}, "model_error": {}, "value_error": {}, "unseen": {"goals": goals}}
    rows = shown({**MINIMAL["drone_indicator_pqn_p_learning"], "evaluate": asked}, tmp_path, capsys)
    assert rows["evaluate.return.starts"] == ("reset", CONTINUOUS)
    assert rows["evaluate.model_error.states"] == ("uniform", CONTINUOUS)
    assert rows["evaluate.unseen.starts"] == ("reset", CONTINUOUS)
    assert rows["evaluate.unseen.solver.kind"] == ("grid_value_iteration", CONTINUOUS)
    assert rows["evaluate.unseen.solver.quadrature"][0] == rows["evaluate.value_error.quadrature"][0] == 2
    assert rows["evaluate.unseen.solver.grid"][0] == rows["evaluate.value_error.grid"][0] == 10


@pytest.mark.parametrize(
    ("name", "distance"), [("random_indicator_exact_lp", "mse"), ("drone_indicator_exact_matching", "nmse")]
)
def test_models_are_compared_by_a_distance_that_their_world_has(name, distance, tmp_path):
    spec = MINIMAL[name]
    (tmp_path / "other.yaml").write_text(json.dumps(spec), encoding="utf-8")
    one = {**spec, "name": "one", "compare": {"other": {"with": "other.yaml"}}}
    (tmp_path / "one.yaml").write_text(json.dumps(one), encoding="utf-8")
    assert validate_all([str(tmp_path / "one.yaml")]) == []
    assert resolve(read(str(tmp_path / "one.yaml")), PAPER).compare["other"].distance == distance
