"""How far chance bends values: the formula beside integrals, a TD error without draws, and what is said of both."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import quad

from tests.explain.specs import resolved
from wmlab.core.continuous.dynamics import every_outcome
from wmlab.explain.show import show_explanation
from wmlab.graph.study import open_study
from wmlab.measure.chance import LEARNT, bend, compared
from wmlab.measure.continuous.values import outcomes_of_chance
from wmlab.registry import mdps
from wmlab.results.findings import findings
from wmlab.results.point_facts import PointFacts

NOISY, GUSTS = "specs/examples/noisy_pendulum.yaml", "specs/examples/gusts.yaml"


WORLD = mdps["dynamics"]
PUSHED = {"state": {"x": {"range": [-2, 2], "edge": "wrap"}}, "actions": {"push": [-0.1, 0.1]}}


def drift(tmp_path, noise, discount=0.5, width=0.2, **agent):
    """A point on a circle that is pushed about."""
    return resolved(
        tmp_path,
        mdp={
            "kind": "dynamics",
            "state": {"x": {"range": [-2, 2], "edge": "wrap"}},
            "actions": {"push": [-0.1, 0.1]},
            "noise": {"gust": noise},
            "next": {"x": "x + push + gust"},
        },
        goals={"reward": {"kind": "gaussian", "sigma": width}, "at": {"x": [0, 1]}, "terminate": "never"},
        agent={"kind": "exact", "discount": discount, "policy": "uniform", **agent},
    )


NOISES = [
    ({"kind": "normal", "sd": 0.02}, 0.02),
    ({"kind": "uniform", "low": -0.1, "high": 0.1}, 0.1 / math.sqrt(3)),
    ({"kind": "categorical", "values": [0, 0.3], "probabilities": [0.9, 0.1]}, 0.09),
]


@pytest.mark.parametrize(("noise", "spread"), NOISES)
def test_a_spread_is_found_without_making_the_world(tmp_path, noise, spread):
    found = bend(drift(tmp_path, noise))
    assert found.variable == "x" and found.width == 0.2 and found.spread == pytest.approx(spread, rel=0.02)


def test_a_small_spread_changes_the_reward_by_what_its_curvature_says(tmp_path):
    found = bend(drift(tmp_path, {"kind": "normal", "sd": 0.02}, discount=0.5))

    def change(x: float) -> float:
        """|E r(x + n) - r(x)| of a normal n: a Gaussian of a Gaussian is one."""
        wide = math.hypot(0.2, 0.02)
        return abs(0.2 / wide * math.exp(-0.5 * (x / wide) ** 2) - math.exp(-0.5 * (x / 0.2) ** 2))

    exact = quad(change, -2, 2, points=[-0.2, 0.2], limit=200)[0] / 4
    assert found.least == pytest.approx(exact, rel=0.05) and found.most == pytest.approx(2 * found.least)


def test_a_wide_spread_is_not_said_to_change_more_than_there_is(tmp_path):
    found = bend(drift(tmp_path, {"kind": "uniform", "low": -2, "high": 2}))
    # Of a reward that is spread over everything nothing is left but its mean.
    exact = (
        quad(lambda x: abs(0.2 * math.sqrt(2 * math.pi) / 4 - math.exp(-0.5 * (x / 0.2) ** 2)), -2, 2, limit=200)[0] / 4
    )
    assert 0.3 * exact < found.least < 2 * exact


def test_where_nothing_is_left_to_chance_or_rewards_jump_nothing_is_said(tmp_path):
    calm = drift(tmp_path, {"kind": "normal", "sd": 0})
    assert bend(calm) is None
    jumps = resolved(
        tmp_path,
        mdp={"kind": "dynamics", "state": {"x": {"range": [-2, 2]}}, "actions": {"push": [-0.1, 0.1]},
             "noise": {"gust": {"kind": "normal", "sd": 0.1}}, "next": {"x": "x + push + gust"}},
        goals={"reward": {"kind": "indicator", "radius": 0.2}, "at": {"x": [0, 1]}, "terminate": "never"},
        agent={"kind": "exact", "discount": 0.5},
    )  # fmt: skip
    assert bend(jumps) is None


def spread_of(path: str, noise: dict) -> tuple[np.ndarray, np.ndarray]:
    """Next values [D] from 0, and their weights [D], as a TD error is the mean over them."""
    world = WORLD.run(WORLD.build({**PUSHED, "noise": noise, "next": {"x": f"x + {path}"}}), 0)
    numbers, weights = outcomes_of_chance(world.dynamics)
    after = every_outcome(world.dynamics, jnp.zeros((1, 1)), jnp.zeros(1, int), jnp.asarray(numbers))
    return np.asarray(after)[:, 0, 0], np.asarray(weights)


def test_the_true_next_states_of_a_td_error_are_no_draws():
    gust = {"kind": "categorical", "values": [0, 0.3], "probabilities": [0.9, 0.1]}
    after, weights = spread_of("gust", {"gust": gust})
    np.testing.assert_allclose(after, [0, 0.3], atol=1e-6)
    np.testing.assert_allclose(weights, [0.9, 0.1], atol=1e-6)
    wind = {"kind": "normal", "sd": 0.3}
    after, weights = spread_of("wind", {"wind": wind})
    wide = math.hypot(0.4, 0.3)
    assert weights @ np.exp(-0.5 * (after / 0.4) ** 2) == pytest.approx(0.4 / wide, rel=1e-4)
    after, weights = spread_of("a + b + c + d", dict.fromkeys("abcd", wind))  # too many for a quadrature
    assert len(set(after.tolist())) == len(after) == 64 and weights.sum() == pytest.approx(1)


# --- said beforehand ------------------------------------------------------------------------------------------------


def minds(path: str) -> dict[str, bool]:
    """Variant: whether it is said that chance will not be seen."""
    rows = json.loads(show_explanation(open_study(path), "json"))
    return {row["where"]["variant"]: any("too small to be seen" in one for one in row["warnings"]) for row in rows}


def test_explain_says_that_the_wind_of_the_noisy_pendulum_will_not_be_seen():
    assert minds(NOISY) == {"greedy": True, "uniform": True}
    text = " ".join(show_explanation(open_study(NOISY)).split())
    assert "it spreads speed by 0.098, beside goals that are 1.5 wide" in text
    assert "an agent.td_error (evaluate.fit) below 0.002 is needed" in text


def test_and_says_nothing_of_the_kind_of_gusts_that_will_be():
    seen = dict.fromkeys(("learnt", "learnt_one_policy", "exact", "exact_one_policy"), False)
    assert minds(GUSTS) == {**seen, "breeze": True}


# --- and afterwards -------------------------------------------------------------------------------------------------


def told(path: str, error: float | None, ratio: float | None = 1.0) -> list[str]:
    point = open_study(path).plans[0].resolved.points[0]
    metrics = {"agent.td_error": error, "wm.sd_ratio": ratio}
    known = {name: value for name, value in metrics.items() if value is not None}
    return [one["sentence"] for one in findings([PointFacts({}, point.experiment, [0], known, [{}], {})])]


def test_a_td_error_above_what_chance_changes_is_a_finding():
    [sentence] = told(NOISY, 0.03)
    assert sentence.startswith("The spread of next states cannot be read out of these values: chance spreads speed by")
    assert "(agent.td_error is 0.03)" in sentence
    assert told(NOISY, 0.0015) == told(NOISY, None) == told(NOISY, 0.03, None) == []


def test_a_stored_td_error_is_held_against_it():
    bent = bend(open_study(NOISY).plans[0].resolved.points[0].experiment)
    assert "cannot be read" in compared(bent, 0.03) and "may be read out" in compared(bent, 0.001)
    assert bent.most < LEARNT < 0.01
    assert compared(replace(bent, most=0.1), 0.03).startswith("Values contradict themselves by 0.03 (agent.td_error)")
