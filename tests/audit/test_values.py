"""Networks that the real libraries make and save now: what is imported gives their own values."""

from __future__ import annotations

import numpy as np
import pytest

from tests.foreign.forward import values
from wmlab.errors import UsageError
from wmlab.foreign.bring import Request, bring

pytestmark = [pytest.mark.audit, pytest.mark.filterwarnings("default")]
TOLERANCE = 1e-5


@pytest.fixture(scope="module")
def made():
    """The script that made the files of tests/foreign/data, as a module."""
    from tests.foreign.data import make

    return make


def test_a_qr_dqn_of_sb3_contrib_gives_the_mean_of_its_quantiles(made, tmp_path):
    import torch
    from sb3_contrib import QRDQN

    agent = QRDQN("MultiInputPolicy", made.Point("as_given"), policy_kwargs={"net_arch": [32, 24]}, buffer_size=10)
    agent.save(tmp_path / "agent.zip")
    space = agent.observation_space
    read = {key: np.stack([space[key].sample() for _ in range(200)]) for key in space}
    with torch.no_grad():
        told = agent.quantile_net({key: torch.as_tensor(each) for key, each in read.items()}).mean(dim=1).numpy()
    brought = bring(Request(tmp_path / "agent.zip", tmp_path))
    assert any("mean of 200 quantiles" in remark for remark in brought.remarks)
    assert np.abs(values(brought.written[0], np.hstack(list(read.values()))) - told).max() < TOLERANCE


@pytest.mark.parametrize("name", ["DDPG", "TD3", "SAC"])
def test_critics_and_actors_give_the_values_of_stable_baselines3(made, tmp_path, name):
    import stable_baselines3
    import torch

    kind = getattr(stable_baselines3, name)
    agent = kind("MultiInputPolicy", made.Point("as_given", True), policy_kwargs={"net_arch": [32, 24]}, buffer_size=10)
    agent.save(tmp_path / "agent.zip")
    space = agent.observation_space
    read = {key: np.stack([space[key].sample() for _ in range(200)]) for key in space}
    action = np.stack([agent.action_space.sample() for _ in range(200)])
    scaled = agent.policy.scale_action(action)
    with torch.no_grad():
        told = agent.critic({key: torch.as_tensor(each) for key, each in read.items()}, torch.as_tensor(scaled))
    brought = bring(Request(tmp_path / "agent.zip", tmp_path))
    inputs = np.hstack(list(read.values()))
    for place, each in enumerate(told):
        found = values(brought.written[0], np.hstack([inputs, scaled]), prefix=f"critic{place}.")
        assert np.abs(found - each.numpy()).max() < TOLERANCE
    low, high = agent.action_space.low, agent.action_space.high
    done = low + (np.tanh(values(brought.written[0], inputs, prefix="actor.")) + 1) / 2 * (high - low)
    assert np.abs(done - agent.predict(read, deterministic=True)[0]).max() < TOLERANCE


def test_duelling_networks_give_the_values_of_torch(made, tmp_path):
    import torch

    for network in (made.Duelling(), made.Sketch()):
        torch.save(network.state_dict(), tmp_path / "q.pth")
        read = torch.randn(200, 4)
        with torch.no_grad():
            told = network(read).numpy()
        brought = bring(Request(tmp_path / "q.pth", tmp_path, force=True))
        assert np.abs(values(brought.written[0], read.numpy()) - told).max() < TOLERANCE


def test_averages_of_vec_normalize_are_folded(tmp_path):
    import torch
    from stable_baselines3 import DQN
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.vec_env import VecNormalize

    env = VecNormalize(make_vec_env("MountainCar-v0", 4, seed=0), norm_reward=False)
    agent = DQN("MlpPolicy", env, buffer_size=2000, learning_starts=10, seed=0).learn(1000)
    agent.save(tmp_path / "car.zip")
    np.savez(tmp_path / "averages.npz", mean=env.obs_rms.mean, var=env.obs_rms.var)
    raw = np.random.RandomState(0).uniform((-1.2, -0.02), (0.6, 0.02), (200, 2)).astype(np.float32)
    with torch.no_grad():
        told = agent.q_net(torch.as_tensor(env.normalize_obs(raw))).numpy()
    inside = np.abs((raw - env.obs_rms.mean) / np.sqrt(env.obs_rms.var)).max(axis=1) < 10
    brought = bring(Request(tmp_path / "car.zip", tmp_path, normalise=str(tmp_path / "averages.npz")))
    assert np.abs(values(brought.written[0], raw) - told)[inside].max() < 1e-4 and inside.sum() > 50


def test_what_torch_itself_would_run_is_refused(tmp_path):
    import torch

    class Runs:
        def __reduce__(self):
            return print, ("ran",)

    torch.save({"a.weight": torch.ones(2, 2), "b": Runs()}, tmp_path / "q.pth")
    with pytest.raises(UsageError, match="its pickle holds '__builtin__.print', which is no tensor"):
        bring(Request(tmp_path / "q.pth", tmp_path))
