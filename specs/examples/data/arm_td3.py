"""Train the agent of ../arm_torque.yaml: TD3 with hindsight, of Stable-Baselines3, for an arm with one joint.

    pip install torch stable-baselines3
    python arm_td3.py 0
    wmlab import arm.zip --state tip_x,tip_y,speed --goal tip_x,tip_y --actions torque --within 0.4 --name arm

It takes a few minutes on one core. The weights beside this file are those of seed 0, and `arm.probe.npz` has a hundred
of its values as Stable-Baselines3 gives them.
"""

import sys

import gymnasium
import numpy as np
import torch
from gymnasium import spaces
from stable_baselines3 import TD3, HerReplayBuffer
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.noise import NormalActionNoise, VectorizedActionNoise

TIP = spaces.Box(-1, 1, (2,), np.float32)
SEEN = spaces.Box(-1, 1, (3,), np.float32)


class Arm(gymnasium.Env):
    """A tip on a circle, pushed by a torque against friction; episodes are cut after 40 steps, and never end."""

    observation_space = spaces.Dict(observation=SEEN, desired_goal=TIP, achieved_goal=TIP)
    action_space = spaces.Box(-1, 1, (1,), np.float32)

    def seen(self):
        tip = np.array([np.cos(self.angle), np.sin(self.angle)], np.float32)
        return {"observation": np.append(tip, np.float32(self.speed)), "desired_goal": self.goal, "achieved_goal": tip}

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.angle, wanted = self.np_random.uniform(-np.pi, np.pi, 2)
        self.speed = self.np_random.uniform(-1, 1)
        self.goal = np.array([np.cos(wanted), np.sin(wanted)], np.float32)
        self.steps = 0
        return self.seen(), {}

    def compute_reward(self, achieved, wanted, info):
        return -(np.linalg.norm(achieved - wanted, axis=-1) >= 0.4).astype(np.float32)

    def step(self, action):
        self.speed = np.clip(0.9 * self.speed + 0.4 * float(action[0]), -1, 1)
        self.angle = self.angle + 0.3 * self.speed
        self.steps += 1
        seen = self.seen()
        reward = float(self.compute_reward(seen["achieved_goal"], self.goal, {}))
        return seen, reward, False, self.steps >= 40, {}


def train(seed: int, updates: int = 20_000) -> TD3:
    torch.set_num_threads(1)
    noise = VectorizedActionNoise(NormalActionNoise(np.zeros(1), 0.5 * np.ones(1)), 4)
    settings = {"learning_rate": 1e-3, "batch_size": 256, "learning_starts": 1000, "gradient_steps": 2, "gamma": 0.9}
    settings |= {"policy_kwargs": {"net_arch": [64, 64]}, "action_noise": noise, "seed": seed}
    model = TD3("MultiInputPolicy", make_vec_env(Arm, 4, seed=seed), replay_buffer_class=HerReplayBuffer, **settings)
    return model.learn(2 * updates)


def probe(model: TD3, env: Arm, file: str) -> None:
    env.reset(seed=1)
    env.action_space.seed(1)
    rows = [env.reset()[0] if i % 5 == 0 else env.step(env.action_space.sample())[0] for i in range(100)]
    read = {key: np.stack([row[key] for row in rows]) for key in rows[0]}
    action = np.stack([env.action_space.sample() for _ in rows])
    given = {key: torch.as_tensor(each) for key, each in read.items()}
    value = torch.cat(model.critic(given, torch.as_tensor(model.policy.scale_action(action))), 1).mean(1)
    names, tip = ["tip_x", "tip_y", "speed"], ["tip_x", "tip_y"]
    known = {"observation": read["observation"], "variables": names, "goal": read["desired_goal"], "wanted": tip}
    known |= {"achieved": read["achieved_goal"], "action": action, "components": ["torque"]}
    np.savez(file, **known, policy=model.predict(read, deterministic=True)[0], value=value.detach().numpy())


if __name__ == "__main__":
    trained = train(int(sys.argv[1]))
    trained.save("arm")
    probe(trained, Arm(), "arm.probe.npz")
