"""Train the agent of ../push_any_way.yaml: TD3 with hindsight, of Stable-Baselines3, for a point that is pushed.

    pip install torch stable-baselines3
    python push_td3.py 0
    wmlab import push.zip --state x,y --actions dx,dy --within 0.15

It takes two minutes on one core. The weights beside this file are those of seed 0, and `push.probe.npz` has a hundred
of its values and actions as Stable-Baselines3 gives them.
"""

import sys

import gymnasium
import numpy as np
import torch
from gymnasium import spaces
from stable_baselines3 import TD3, HerReplayBuffer
from stable_baselines3.common.noise import NormalActionNoise

SQUARE = spaces.Box(-1, 1, (2,), np.float32)


class Push(gymnasium.Env):
    """A point in a square that wants to be elsewhere; episodes are cut after 30 steps, and never end."""

    observation_space = spaces.Dict(observation=SQUARE, desired_goal=SQUARE, achieved_goal=SQUARE)
    action_space = SQUARE

    def seen(self):
        return {"observation": self.place, "desired_goal": self.goal, "achieved_goal": self.place}

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.place, self.goal = self.np_random.uniform(-1, 1, (2, 2)).astype(np.float32)
        self.steps = 0
        return self.seen(), {}

    def compute_reward(self, achieved, wanted, info):
        return -(np.linalg.norm(achieved - wanted, axis=-1) >= 0.15).astype(np.float32)

    def step(self, action):
        self.place = np.clip(self.place + 0.1 * action, -1, 1).astype(np.float32)
        self.steps += 1
        return self.seen(), float(self.compute_reward(self.place, self.goal, {})), False, self.steps >= 30, {}


def train(seed: int) -> TD3:
    torch.set_num_threads(1)
    settings = {"learning_rate": 1e-3, "batch_size": 256, "learning_starts": 500, "gamma": 0.9, "seed": seed}
    settings |= {"policy_kwargs": {"net_arch": [128, 128]}}
    settings |= {"action_noise": NormalActionNoise(np.zeros(2), 0.5 * np.ones(2))}
    return TD3("MultiInputPolicy", Push(), replay_buffer_class=HerReplayBuffer, **settings).learn(12_000)


def probe(model: TD3, env: Push, file: str) -> None:
    env.reset(seed=1)
    env.action_space.seed(1)
    rows = [env.reset()[0] if i % 5 == 0 else env.step(env.action_space.sample())[0] for i in range(100)]
    read = {key: np.stack([row[key] for row in rows]) for key in rows[0]}
    action = np.stack([env.action_space.sample() for _ in rows])
    given = {key: torch.as_tensor(each) for key, each in read.items()}
    value = torch.cat(model.critic(given, torch.as_tensor(model.policy.scale_action(action))), 1).mean(1)
    known = {"observation": read["observation"], "variables": ["x", "y"], "goal": read["desired_goal"]}
    known |= {"wanted": ["x", "y"], "achieved": read["achieved_goal"], "action": action, "components": ["dx", "dy"]}
    np.savez(file, **known, policy=model.predict(read, deterministic=True)[0], value=value.detach().numpy())


if __name__ == "__main__":
    trained = train(int(sys.argv[1]))
    trained.save("push")
    probe(trained, Push(), "push.probe.npz")
