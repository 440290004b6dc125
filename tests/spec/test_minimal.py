"""A minimal spec of every kind of world, made from the registry: whatever it leaves unsaid has a default that fits."""

from __future__ import annotations

import itertools
import json
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
            places = [world.space.names[0]] if world.space.cells is None else "all"
        if name == "expression":
            reward["pays"] = f"cos({world.space.names[0]})" if world.sort == "continuous" else "1"
        if name == "table":
            reward["of"] = {"one": {world.space.names[0]: 1}}
        yield {"reward": reward} if kind.traits.at == "none" or example.get("at") is None else {
            "reward": reward,
            "at": places,
        }


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


def evaluated(world: WorldChoice, agent: str) -> Spec:
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


def members(folder: Path) -> Iterator[str]:
    """A spec for each world that asks for all that can be asked, in files."""
    for label, mdp in worlds():
        world = WorldChoice(mdp)
        agent, method = CHOICES[world.sort]
        agent = agent if world.knows_truth else "external"
        spec = MINIMAL[f"{label}_indicator_{agent}_{method}"]
        smoke = {"agent": SMOKE.get(agent, {}), "extract": SMOKE.get(method, {})}
        asked = {**spec, "evaluate": evaluated(world, agent), "profiles": {"smoke": smoke}}
        (folder / f"{label}.yaml").write_text(json.dumps(asked), encoding="utf-8")
        yield f"{label}.yaml"
