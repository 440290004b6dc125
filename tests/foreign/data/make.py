"""Made the files beside it: agents of the real libraries, hardly trained, and their own values of some rows.

    pip install torch==2.13.0 && pip install "stable-baselines3==2.9.*" "sb3-contrib==2.9.*"
    python tests/foreign/data/make.py

The tests read the files without any of these.
"""

from __future__ import annotations

import argparse
import zipfile
from collections import OrderedDict
from pathlib import Path

import gymnasium
import numpy as np
import torch
from gymnasium import spaces
from sb3_contrib import QRDQN
from stable_baselines3 import DDPG, DQN, SAC, TD3, HerReplayBuffer
from torch import nn

FOLDER = Path(__file__).parent
MOVES = np.array([[0, 0], [0.1, 0], [-0.1, 0], [0, 0.1], [0, -0.1]])


def box(count: int) -> spaces.Box:
    return spaces.Box(-1, 1, (count,), np.float32)


SPACES = {
    "sorted": spaces.Dict({"observation": box(3), "achieved_goal": box(2), "desired_goal": box(2)}),
    "as_given": spaces.Dict(observation=box(3), desired_goal=box(2), achieved_goal=box(2)),
    "apart": spaces.Dict(
        OrderedDict(position=box(2), desired_goal=box(2), achieved_goal=box(2), speed=spaces.Box(-2, 3, (1,)))
    ),
}


class Point(gymnasium.Env):
    """A point in the plane, with a third number that does nothing."""

    def __init__(self, order: str, continuous: bool = False):
        self.observation_space = SPACES[order]
        ends = np.array([-1, -0.5], np.float32), np.array([1, 2], np.float32)
        self.action_space = spaces.Box(*ends) if continuous else spaces.Discrete(5)
        self.place = self.goal = np.zeros(2, np.float32)

    def seen(self) -> dict[str, np.ndarray]:
        still = np.full(1, 0.5, np.float32)
        known = {
            "observation": np.concatenate([self.place, still]),
            "position": self.place.copy(),
            "speed": still,
            "achieved_goal": self.place.copy(),
            "desired_goal": self.goal.copy(),
        }
        return {key: known[key] for key in self.observation_space.spaces}

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.place, self.goal = self.np_random.uniform(-1, 1, (2, 2)).astype(np.float32)
        self.steps = 0
        return self.seen(), {}

    def compute_reward(self, achieved, wanted, info):
        return -(np.linalg.norm(achieved - wanted, axis=-1) > 0.15).astype(np.float32)

    def step(self, action):
        move = MOVES[int(action)] if isinstance(self.action_space, spaces.Discrete) else 0.1 * np.asarray(action)
        self.place = np.clip(self.place + move, -1, 1).astype(np.float32)
        self.steps += 1
        reward = float(self.compute_reward(self.place, self.goal, None))
        return self.seen(), reward, reward == 0, self.steps >= 20, {}


class Critic(nn.Module):
    """As in CleanRL's td3_continuous_action.py, but narrower."""

    def __init__(self):
        super().__init__()
        self.fc1, self.fc2, self.fc3 = nn.Linear(3 + 2, 10), nn.Linear(10, 8), nn.Linear(8, 1)

    def forward(self, read, action):
        hidden = torch.relu(self.fc2(torch.relu(self.fc1(torch.cat([read, action], 1)))))
        return self.fc3(hidden)


class Actor(nn.Module):
    """Likewise; its box goes with its weights."""

    def __init__(self):
        super().__init__()
        self.fc1, self.fc2, self.fc_mu = nn.Linear(3, 10), nn.Linear(10, 8), nn.Linear(8, 2)
        low, high = torch.tensor([-1.0, -0.5]), torch.tensor([1.0, 2.0])
        self.register_buffer("action_scale", (high - low) / 2)
        self.register_buffer("action_bias", (high + low) / 2)

    def forward(self, read):
        given = torch.tanh(self.fc_mu(torch.relu(self.fc2(torch.relu(self.fc1(read))))))
        return given * self.action_scale + self.action_bias


class Duelling(nn.Module):
    """Streams of one hidden layer each on a common trunk."""

    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(4, 16), nn.ReLU())
        self.value_stream = nn.Sequential(nn.Linear(16, 12), nn.ReLU(), nn.Linear(12, 1))
        self.advantage_stream = nn.Sequential(nn.Linear(16, 10), nn.ReLU(), nn.Linear(10, 3))

    def forward(self, read):
        hidden = self.trunk(read)
        advantage = self.advantage_stream(hidden)
        return self.value_stream(hidden) + advantage - advantage.mean(dim=-1, keepdim=True)


class Sketch(nn.Module):
    """A duelling network whose value is one layer, while its advantages are two."""

    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 9)
        self.val = nn.Linear(9, 1)
        self.adv = nn.Sequential(nn.Linear(9, 7), nn.ReLU(), nn.Linear(7, 3))

    def forward(self, read):
        hidden = torch.relu(self.fc1(read))
        advantage = self.adv(hidden)
        return self.val(hidden) + advantage - advantage.mean(dim=-1, keepdim=True)


def save(agent, name: str) -> None:
    """As the library saves it, without the part that describes the machine."""
    agent.save(FOLDER / f"{name}.zip")
    with zipfile.ZipFile(FOLDER / f"{name}.zip") as archive:
        kept = {part: archive.read(part) for part in archive.namelist() if part != "system_info.txt"}
    with zipfile.ZipFile(FOLDER / f"{name}.zip", "w") as archive:
        for part, content in kept.items():
            archive.writestr(part, content)


def save_sb3(found: dict[str, np.ndarray]) -> None:
    common = {"replay_buffer_class": HerReplayBuffer, "learning_starts": 50, "seed": 0, "buffer_size": 1000}
    kwargs = {"net_arch": [10, 8], "activation_fn": nn.Tanh}
    agents = {
        "dqn": DQN("MultiInputPolicy", Point("sorted"), gamma=0.9, policy_kwargs={"net_arch": [10, 8]}, **common),
        "dqn_as_given": DQN("MultiInputPolicy", Point("as_given"), gamma=0.8, policy_kwargs=kwargs, **common),
        "dqn_apart": DQN("MultiInputPolicy", Point("apart"), policy_kwargs={"net_arch": [6]}, **common),
        "qrdqn": QRDQN("MultiInputPolicy", Point("sorted"), policy_kwargs=kwargs | {"n_quantiles": 7}, **common),
        "dqn_car": DQN("MlpPolicy", "MountainCar-v0", policy_kwargs={"net_arch": [8]}, seed=0, learning_starts=50),
        "dqn_lake": DQN("MlpPolicy", "FrozenLake-v1", policy_kwargs={"net_arch": [8]}, seed=0, learning_starts=50),
    }
    draw = np.random.RandomState(0)
    for name, agent in agents.items():
        agent.learn(120)
        save(agent, name)
        space = agent.observation_space
        if isinstance(space, spaces.Dict):
            read = {key: draw.uniform(-1, 1, (20, *each.shape)).astype(np.float32) for key, each in space.items()}
            place = read["observation"] if "observation" in read else read["position"]
            read["achieved_goal"] = place[:, :2]
            given = {key: torch.as_tensor(each) for key, each in read.items()}
        else:
            read = {"observation": np.stack([space.sample() for _ in range(20)])}
            given = torch.as_tensor(read["observation"])
        network = agent.quantile_net if name == "qrdqn" else agent.q_net
        with torch.no_grad():
            value = network(given).mean(dim=1) if name == "qrdqn" else network(given)
        found |= {f"{name}/{key}": each for key, each in read.items()} | {f"{name}/value": value.numpy()}
    for kind in (DDPG, TD3, SAC):
        agent = kind("MultiInputPolicy", Point("sorted", True), policy_kwargs={"net_arch": [10, 8]}, **common)
        name = kind.__name__.lower()
        save(agent.learn(60), name)
        read = {
            key: draw.uniform(-1, 1, (20, *each.shape)).astype(np.float32) for key, each in SPACES["sorted"].items()
        }
        action = draw.uniform(-1, 1, (20, 2)).astype(np.float32)
        given = {key: torch.as_tensor(each) for key, each in read.items()}
        with torch.no_grad():
            critics = [each.numpy() for each in agent.critic(given, torch.as_tensor(action))]
        found |= {f"{name}/{key}": each for key, each in read.items()}
        found |= {f"{name}/action": action, f"{name}/critics": np.hstack(critics)}


def save_torch(found: dict[str, np.ndarray]) -> None:
    torch.manual_seed(0)
    read = torch.randn(20, 4)
    normed = [nn.Linear(4, 12), nn.LayerNorm(12), nn.ReLU(), nn.Linear(12, 9), nn.LayerNorm(9), nn.ReLU()]
    after = [nn.Linear(4, 12), nn.GELU(approximate="tanh"), nn.LayerNorm(12), nn.Linear(12, 3)]
    networks = {
        "cleanrl": nn.ModuleDict({"network": nn.Sequential(*normed, nn.Linear(9, 3))}),
        "norm_after": nn.Sequential(*after),
        "duelling": Duelling(),
        "sketch": Sketch(),
    }
    for name, network in networks.items():
        for part in network.modules():
            if isinstance(part, nn.LayerNorm):
                nn.init.normal_(part.weight)
                nn.init.normal_(part.bias)
        torch.save(network.state_dict(), FOLDER / f"{name}.pth")
        forward = network["network"] if name == "cleanrl" else network
        found[f"{name}/value"] = forward(read).detach().numpy()
    found["torch/read"] = read.numpy()
    plain = nn.Sequential(nn.Linear(4, 5, dtype=torch.float16), nn.ReLU(), nn.Linear(5, 3, dtype=torch.bfloat16))
    beside = {"model": plain.state_dict(), "epoch": 3, "rate": 1e-3, "odd": torch.ones(6, 2).T[1:, ::2]}
    beside["optimizer"] = torch.optim.Adam(plain.parameters()).state_dict()
    torch.save(beside, FOLDER / "checkpoint.pt")
    torch.save(plain.state_dict(), FOLDER / "protocol4.pth", pickle_protocol=4)
    torch.save(plain.state_dict(), FOLDER / "before_1_6.pth", _use_new_zipfile_serialization=False)
    torch.save(plain, FOLDER / "whole_module.pth")
    torch.save({"model_weights": plain.state_dict(), "args": argparse.Namespace(rate=1)}, FOLDER / "namespace.pth")
    for name, tensor in plain.state_dict().items():
        found[f"plain/{name}"] = tensor.float().numpy()


def save_cleanrl(found: dict[str, np.ndarray]) -> None:
    """Actors and critics as ddpg_continuous_action.py and td3_continuous_action.py save them."""
    torch.manual_seed(0)
    actor, critics, read = Actor(), (Critic(), Critic()), torch.randn(20, 3)
    action = actor.action_bias + actor.action_scale * (2 * torch.rand(20, 2) - 1)
    torch.save((actor.state_dict(), critics[0].state_dict()), FOLDER / "cleanrl_ddpg.cleanrl_model")
    torch.save((actor.state_dict(), *(each.state_dict() for each in critics)), FOLDER / "cleanrl_td3.cleanrl_model")
    with torch.no_grad():
        told = {"read": read, "action": action, "policy": actor(read)}
        told["critics"] = torch.cat([critic(read, action) for critic in critics], 1)
    found |= {f"cleanrl_td3/{name}": each.numpy() for name, each in told.items()}


if __name__ == "__main__":
    values: dict[str, np.ndarray] = {}
    save_sb3(values)
    save_torch(values)
    save_cleanrl(values)
    np.savez(FOLDER / "values.npz", **values)
