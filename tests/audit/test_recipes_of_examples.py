"""The agents of the shipped examples were trained in the worlds that their specs describe."""

from __future__ import annotations

import runpy
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

import wmlab
from wmlab.registry import mdps

EXAMPLES = Path(__file__).parents[2] / "specs" / "examples"
pytestmark = [pytest.mark.audit, pytest.mark.filterwarnings("default")]
COUNT = 500


@pytest.mark.parametrize(
    ("spec", "recipe", "name"),
    [("push_any_way", "push_td3", "Push"), ("mountaincar_any_force", "mountaincar_td3", "Car")],
)
def test_a_recipes_environment_steps_and_pays_as_its_spec_says(spec, recipe, name):
    data = wmlab.load(EXAMPLES / f"{spec}.yaml").data[0]
    world = mdps["dynamics"].run(mdps["dynamics"].build(data["mdp"]), 0)
    env = runpy.run_path(str(EXAMPLES / "data" / f"{recipe}.py"))[name]()
    env.reset(seed=0)
    env.action_space.seed(0)
    rows = []
    for _ in range(COUNT):
        env.reset()
        action, before = env.action_space.sample(), env.place.copy()
        _, reward, ended, _, _ = env.step(action)
        rows.append((before, action, env.place, np.linalg.norm(env.place - env.goal), reward, ended))
    before, action, after, distance, reward, ended = (np.stack(column) for column in zip(*rows, strict=True))
    found = world.dynamics.step(jnp.asarray(before), jnp.asarray(action), jnp.zeros((COUNT, 0)))
    np.testing.assert_allclose(found, after, atol=1e-5)
    pays = data["goals"]["reward"]
    if pays["kind"] == "indicator":
        expected = np.where(distance < pays["radius"], pays["there"], pays["elsewhere"])
    else:
        assert pays["pays"] == "-sqrt((position - goal(position))**2 + (speed - goal(speed))**2)"
        expected = -distance
    np.testing.assert_allclose(reward, expected, atol=1e-6)
    assert not ended.any() and len(np.unique(reward)) > 1
