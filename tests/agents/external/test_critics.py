"""Critics of actions from a box: held against values in closed form, and against integrals."""

from __future__ import annotations

import copy

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.agents.external import linear
from tests.making import goals_section
from wmlab.agents.external import Options
from wmlab.agents.external.checked import hold_network
from wmlab.agents.external.critic import critic_view
from wmlab.agents.external.expect import Mismatch, part_shapes
from wmlab.agents.external.parts import parts_of
from wmlab.core.continuous.goals import continuous_goals
from wmlab.core.continuous.points import goal_points
from wmlab.registry import WorldChoice, agents, build

SPACE = WorldChoice(linear.SPEC["mdp"]).space
GOALS = goals_section(linear.SPEC["goals"])
POINTS = goal_points(GOALS, SPACE)
STATE = np.random.RandomState(0).uniform(-1, 1, (50, 2))
ACTION = np.random.RandomState(1).uniform(linear.LOW, linear.HIGH, (50, 2))


def options_with(**changes) -> Options:
    said = copy.deepcopy(linear.SPEC["agent"])
    said.pop("kind")
    return build(Options, {**said, **changes})


def view_of(options: Options, weights=None):
    held = linear.weights() if weights is None else weights
    named = {name: np.asarray(array, np.float32) for name, array in held.items()}
    return critic_view(named, options, SPACE, continuous_goals(GOALS, SPACE), "uniform")


def q_of(view, action=ACTION):
    goals = view.all_goals(len(STATE))
    return np.asarray(view.value_at(jnp.asarray(STATE, jnp.float32), jnp.asarray(action, jnp.float32), goals))


def v_of(view):
    return np.asarray(view.worth_at(jnp.asarray(STATE, jnp.float32), view.all_goals(len(STATE))))


def test_the_weights_of_the_test_have_the_shapes_that_the_spec_implies():
    expected = {
        name: shape
        for part in parts_of(options_with(), SPACE)
        for name, shape in part_shapes(part, SPACE, POINTS).items()
    }
    assert {name: array.shape for name, array in linear.weights().items()} == expected


def test_a_critic_gives_its_values_and_its_actor_what_it_does():
    view = view_of(options_with())
    np.testing.assert_allclose(q_of(view), linear.values(STATE, ACTION), atol=1e-5)
    np.testing.assert_allclose(v_of(view), linear.worth(STATE), atol=1e-5)
    done = view.choose(jax.random.key(0), jnp.asarray(STATE, jnp.float32), jnp.zeros((50, 1), int))
    np.testing.assert_allclose(done, np.tile(linear.ALWAYS, (50, 1)), atol=1e-6)


def test_listed_actions_give_the_same_values_as_any():
    view = view_of(options_with())
    listed = np.asarray(view.controls.listed)
    table = np.asarray(view.values(jnp.asarray(STATE[:3], jnp.float32)))  # [N, G, A]
    for place, action in enumerate(listed):
        np.testing.assert_allclose(table[:, :, place], linear.values(STATE[:3], np.tile(action, (3, 1))), atol=1e-5)


def test_the_bellman_equation_holds_at_the_true_next_states():
    view = view_of(options_with())
    after = jnp.asarray(STATE @ linear.A.T + ACTION @ linear.B.T, jnp.float32)
    np.testing.assert_allclose(view.backup(after, view.all_goals(50)), q_of(view), atol=2e-5)


@pytest.mark.parametrize(("combine", "above"), [("min", -0.3), ("mean", 0.0), ("first", 0.3)])
def test_critics_are_combined_for_v_and_their_mean_or_first_is_q(combine, above):
    q = {**linear.SPEC["agent"]["q"], "critics": {"count": 2, "combine": combine}}
    view = view_of(options_with(q=q), linear.weights(apart=0.3))
    np.testing.assert_allclose(v_of(view), linear.worth(STATE) + above, atol=1e-5)
    np.testing.assert_allclose(q_of(view), linear.values(STATE, ACTION) + (0.3 if combine == "first" else 0), atol=1e-5)


def test_components_may_stand_in_another_order_in_the_files():
    view = view_of(options_with(actions=["w", "u"]), linear.weights(order=(1, 0)))
    np.testing.assert_allclose(q_of(view), linear.values(STATE, ACTION), atol=1e-5)


def test_v_may_come_by_itself():
    matrix, offset = linear.later()
    value = {
        f"value.{name}": each
        for name, each in linear.linear_network(linear.PAYS @ matrix, linear.PAYS @ offset).items()
    }
    options = options_with(actor=None, v={"network": {"depth": 1, "width": 4, "observation": ["x", "y"]}})
    view = view_of(options, {**linear.weights(), **value})
    np.testing.assert_allclose(v_of(view), linear.worth(STATE), atol=1e-5)
    with pytest.raises(ValueError, match="without an actor"):
        view.choose(jax.random.key(0), jnp.asarray(STATE, jnp.float32), jnp.zeros((50, 1), int))


def bent(scale: float) -> dict[str, np.ndarray]:
    """Critics whose values bend in the action: their mean over noise is no longer that of the middle."""
    draw = np.random.RandomState(2)
    shapes = {name: array.shape for name, array in linear.weights().items()}
    return {name: scale * draw.normal(size=shape) for name, shape in shapes.items()}


def smooth(options: Options) -> dict:
    q = {**linear.SPEC["agent"]["q"]}
    return {**q, "network": {**q["network"], "activation": "tanh"}}


def least_of(view, action: np.ndarray) -> np.ndarray:
    """The least Q of both critics for the first goal, in every state under actions [draws, 50, 2]: [draws, 50]."""
    state, flat = np.tile(STATE, (len(action), 1)), action.reshape(-1, 1, 2)
    goal = jnp.zeros((len(state), 1), int)
    both = view._critics(jnp.asarray(state, jnp.float32), jnp.asarray(flat, jnp.float32), goal)
    return np.asarray(both.min(axis=0))[:, 0].reshape(len(action), -1)


def test_v_of_td3_is_the_mean_over_noise_on_what_is_done():
    q = smooth(options_with())
    weights = bent(0.4)
    noisy = view_of(
        options_with(q=q, actor={"noise": 0.2, "network": {"depth": 1, "width": 4, "observation": ["x", "y"]}}), weights
    )
    plain = view_of(options_with(q=q), weights)
    middle = np.asarray(plain.choose(jax.random.key(0), jnp.asarray(STATE, jnp.float32), jnp.zeros((50, 1), int)))
    half, draw = (linear.HIGH - linear.LOW) / 2, np.random.RandomState(3)
    action = np.clip(middle + 0.2 * half * draw.normal(size=(400, 50, 2)), linear.LOW, linear.HIGH)
    each = least_of(plain, action)
    wanted, at_middle = np.mean(each, axis=0), v_of(plain)[:, 0]
    assert np.abs(v_of(noisy)[:, 0] - wanted).max() < 0.02
    assert np.abs(v_of(noisy)[:, 0] - wanted).mean() < 0.5 * np.abs(at_middle - wanted).mean()


def test_v_of_sac_is_the_mean_over_draws_with_their_entropy():
    network = {"depth": 1, "width": 4, "observation": ["x", "y"]}
    q, weights = smooth(options_with()), bent(0.4)
    weights |= {name.replace("actor.", "actor_deviation."): 0.5 * w for name, w in weights.items() if "actor." in name}
    weights["actor_deviation.output.bias"] = np.full(4, -1.5)
    view = view_of(options_with(q=q, actor={"deviation": True, "entropy": 0.3, "network": network}), weights)
    state, goal = jnp.asarray(STATE, jnp.float32), jnp.zeros((50, 1), int)
    mean, log_sd = (np.asarray(view._raw(name, state, goal))[:, 0] for name in ("actor.", "actor_deviation."))
    noise = np.random.RandomState(4).normal(size=(400, *mean.shape))
    fraction = np.tanh(mean + np.exp(log_sd) * noise)
    density = (-0.5 * noise**2 - log_sd - 0.5 * np.log(2 * np.pi) - np.log(1 - fraction**2 + 1e-6)).sum(axis=-1)
    action = linear.LOW + (fraction + 1) / 2 * (linear.HIGH - linear.LOW)
    each = least_of(view, action) - 0.3 * density
    assert np.abs(v_of(view)[:, 0] - np.mean(each, axis=0)).max() < 0.06


# --- rows from the agent's own library ---------------------------------------------------------------------------


def probe(**changes) -> dict[str, np.ndarray]:
    goal = np.arange(50) % 2
    rows = {
        "observation": STATE,
        "variables": np.array(["x", "y"]),
        "goal": goal,
        "action": ACTION,
        "components": np.array(["u", "w"]),
        "value": linear.values(STATE, ACTION)[np.arange(50), goal],
        "policy": np.tile(linear.ALWAYS, (50, 1)),
    }
    return {**rows, **changes}


def held(rows: dict[str, np.ndarray], **changes) -> Mismatch | None:
    options = options_with(check={"file": "probe.npz"}, **changes)
    try:
        hold_network(options, linear.weights(), SPACE, POINTS, rows)
    except Mismatch as wrong:
        return wrong
    return None


def test_a_right_wiring_passes():
    assert held(probe()) is None


def test_a_wrong_order_of_components_is_told_and_the_right_one_named():
    wrong = held(probe(), actions=["w", "u"])
    assert wrong is not None and wrong.hint == "they agree with actions: [u, w]"


def test_a_wrong_order_of_variables_and_inputs_is_told():
    q = copy.deepcopy(linear.SPEC["agent"]["q"])
    q["network"] |= {"inputs": ["action", "state"], "observation": ["y", "x"]}
    actor = {"network": {"depth": 1, "width": 4, "observation": ["x", "y"]}}
    wrong = held(probe(), q=q, actor=actor)
    assert wrong is not None and wrong.hint == "they agree with inputs: [state, action] and observation: [x, y]"


def test_actions_outside_the_box_and_a_policy_that_is_another_are_told():
    outside = held(probe(action=ACTION + 2))
    assert outside is not None and "outside [-1, 1]" in str(outside)
    other = held(probe(policy=np.zeros((50, 2))))
    assert other is not None and str(other).startswith("in 50 of 50 rows the actor does not do what it does")


def test_critics_are_known_by_their_kind_alone():
    assert agents["external"].traits.from_box and not agents["pqn"].traits.from_box
