"""A spec of an agent in a world that nobody wrote down, with a log of it, and what its stages give in this process."""

from __future__ import annotations

import importlib
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np

import wmlab

DATA = Path(__file__).parents[2] / "specs" / "examples" / "data"
ACTIONS = {"north": (0, 0.1), "east": (0.1, 0), "south": (0, -0.1), "west": (-0.1, 0), "hover": (0, 0)}
SPEC = """
wmlab: 1
name: in_the_wild
mdp:
  kind: unknown
  state: {x: {range: [-1, 1], edge: clip}, y: {range: [-1, 1], edge: clip}}
  actions:
    north: {right: 0, up: 0.1}
    east:  {right: 0.1, up: 0}
    south: {right: 0, up: -0.1}
    west:  {right: -0.1, up: 0}
    hover: {right: 0, up: 0}
goals:
  reward: {kind: gaussian, sigma: 0.5}
  at: [{x: -0.8, y: -0.7}, {x: 0.7, y: -0.8}, {x: 0.1, y: 0.2}, {x: -0.6, y: 0.8}, {x: 0.8, y: 0.6}, {x: -0.2, y: -0.3}]
  terminate: never
agent:
  kind: external
  q:
    file: drone_q.safetensors
    network:
      depth: 1
      width: 160
      activation: tanh
      observation: [x, y]
      layout: out_in
      tensors:
        {layer0.weight: net.0.weight, layer0.bias: net.0.bias, output.weight: net.2.weight, output.bias: net.2.bias}
  actions: [north, east, south, west, hover]
  policy: uniform
  discount: 0.9
data: DATA
extract:
  kind: p_learning
  states: data
  model: {depth: 1, width: 16, encoding: normalised}
  optimiser: {rate: 1e-2}
  goals: all
  steps: 60
  batch: 64
evaluate: {model_error: {against: data}, fit: {}, identify: {samples: 300}}
"""


def transitions(count: int, seed: int = 0) -> dict[str, np.ndarray]:
    """Steps of the drone in its wind, by actions at random; and what its first goal pays for them."""
    rng = np.random.default_rng(seed)
    state, action = rng.uniform(-1, 1, (count, 2)), rng.integers(0, 5, count)
    return {"observations": state, "actions": action, **moved(state, action)}


def moved(state: np.ndarray, action: np.ndarray) -> dict[str, np.ndarray]:
    push = np.array(list(ACTIONS.values()))[action]
    wind = np.stack([0.04 * (1 + state[:, 1]), np.zeros(len(state))], axis=1)
    after = np.clip(state + push + wind, -1, 1)
    goal = np.tile([0.1, 0.2], (len(state), 1))
    return {
        "next_observations": after,
        "goals": goal,
        "rewards": np.exp(-0.5 * ((after - goal) ** 2).sum(axis=1) / 0.25),
    }


def lay_out(folder: Path, data: str, text: str = SPEC) -> Path:
    """The spec and its agent, in a folder of its own."""
    shutil.copy(DATA / "drone_q.safetensors", folder)
    path = folder / "wild.yaml"
    path.write_text(text.replace("data: DATA", f"data: {data}"))
    return path


def answers(path: Path) -> SimpleNamespace:
    """What each stage of a spec gives, by role, computed here and now."""
    study = wmlab.load(path).study
    (run,) = study.plans[0].runs
    kept = SimpleNamespace(load=lambda: None, save=lambda result: None)
    context, found = SimpleNamespace(progress=lambda *_: None, partial=kept), {}
    for stage_id, stage in study.stages.items():
        inputs = {name: found[source] for name, source in stage.inputs.items()}
        found[stage_id] = importlib.import_module(stage.module).run(stage.params, inputs, context)
    results = {str(role): found[stage_id] for role, stage_id in run.stages.items()}
    stages = {str(role): study.stages[stage_id] for role, stage_id in run.stages.items()}
    return SimpleNamespace(results=results, stages=stages, asked=run.point.experiment)
