"""Train the agent of ../mountaincar_any_force.yaml: TD3 with hindsight, of Stable-Baselines3, for MountainCar.

    pip install torch stable-baselines3
    python mountaincar_td3.py 0
    wmlab import mountaincar.zip --state position,speed --actions force

The car is that of gymnax, but for its force, which is any number in [-1, 1], and its speed, which is in units of 0.07:
what a network reads is then of one size. It takes two minutes on one core. The weights beside this file are those of
seed 0, and `mountaincar.probe.npz` has a hundred of its values and actions as Stable-Baselines3 gives them.
"""

import sys

import gymnasium
import numpy as np
import torch
from gymnasium import spaces
from stable_baselines3 import TD3, HerReplayBuffer
from stable_baselines3.common.noise import NormalActionNoise
from stable_baselines3.common.vec_env import DummyVecEnv

HILL = spaces.Box(np.array([-1.2, -1], np.float32), np.array([0.6, 1], np.float32))


class Car(gymnasium.Env):
    """A car that wants to be somewhere at some speed; it starts anywhere, is cut after 40 steps, and never ends."""

    observation_space = spaces.Dict(observation=HILL, desired_goal=HILL, achieved_goal=HILL)
    action_space = spaces.Box(-1, 1, (1,), np.float32)

    def seen(self):
        return {"observation": self.place, "desired_goal": self.goal, "achieved_goal": self.place}

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.place, self.goal = self.np_random.uniform(HILL.low, HILL.high, (2, 2)).astype(np.float32)
        self.steps = 0
        return self.seen(), {}

    def compute_reward(self, achieved, wanted, info):
        return -np.linalg.norm(achieved - wanted, axis=-1).astype(np.float32)

    def step(self, action):
        position, speed = self.place.astype(float)
        speed = np.clip(speed + (0.001 * float(action[0]) - 0.0025 * np.cos(3 * position)) / 0.07, -1, 1)
        position = np.clip(position + 0.07 * speed, -1.2, 0.6)
        speed = 0 if position <= -1.2 and speed < 0 else speed
        self.place = np.array([position, speed], np.float32)
        self.steps += 1
        return self.seen(), float(self.compute_reward(self.place, self.goal, {})), False, self.steps >= 40, {}


def train(seed: int) -> TD3:
    torch.set_num_threads(1)
    settings = {"learning_rate": lambda left: 1e-3 * max(left, 0.02), "batch_size": 256, "learning_starts": 1000}
    settings |= {"gamma": 0.95, "tau": 0.02, "buffer_size": 40_000, "train_freq": 5, "gradient_steps": 20, "seed": seed}
    settings |= {"policy_kwargs": {"net_arch": [128, 128], "optimizer_kwargs": {"fused": True}}}
    settings |= {"action_noise": NormalActionNoise(np.zeros(1), 0.7 * np.ones(1))}
    cars = DummyVecEnv([Car] * 8)
    return TD3("MultiInputPolicy", cars, replay_buffer_class=HerReplayBuffer, **settings).learn(24_000)


def probe(model: TD3, env: Car, file: str) -> None:
    env.reset(seed=1)
    env.action_space.seed(1)
    rows = [env.reset()[0] if i % 5 == 0 else env.step(env.action_space.sample())[0] for i in range(100)]
    read = {key: np.stack([row[key] for row in rows]) for key in rows[0]}
    action = np.stack([env.action_space.sample() for _ in rows])
    given = {key: torch.as_tensor(each) for key, each in read.items()}
    value = torch.cat(model.critic(given, torch.as_tensor(model.policy.scale_action(action))), 1).mean(1)
    names = ["position", "speed"]
    known = {"observation": read["observation"], "variables": names, "goal": read["desired_goal"], "wanted": names}
    known |= {"achieved": read["achieved_goal"], "action": action, "components": ["force"]}
    np.savez(file, **known, policy=model.predict(read, deterministic=True)[0], value=value.detach().numpy())


if __name__ == "__main__":
    trained = train(int(sys.argv[1]))
    trained.save("mountaincar")
    probe(trained, Car(), "mountaincar.probe.npz")
