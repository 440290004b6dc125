"""How fast PQN trains here: environment steps per second, and how much of the machine's arithmetic it uses.

The peak is what matrix products reach in the same run, measured before and after each training. Of the work done
only what the loss needs is counted: a forward pass on states and on successors, a backward pass on states.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import jax
import jax.numpy as jnp

from wmlab.agents.pqn import learner, training
from wmlab.agents.pqn.options import Hindsight, Network, Optimiser, Options, Resets
from wmlab.bench import loads
from wmlab.bench.loads import fastest
from wmlab.core.continuous.goals import continuous_goals
from wmlab.core.continuous.simulator import continuous_simulator
from wmlab.core.goals import GoalSet
from wmlab.core.simulator import Simulator
from wmlab.registry import WorldChoice
from wmlab.registry.traits import Encoding
from wmlab.stages.continuous.records import world_of

CASES = {
    "4x1024, goal as input, HER k=4": Options(
        network=Network(depth=4, width=1024, goal="input", encoding="raw"),
        optimiser=Optimiser(rate=1e-4),
        rollout=4,  # a sixteenth of the paper's: the work per step is the same, and a sample of it is enough
        hindsight=Hindsight("random", 4),
        resets=Resets(ratio=16),
    ),
    "3x256, a head per goal": Options(
        network=Network(depth=3, width=256, encoding="normalised"), resets=Resets(ratio=16)
    ),
}


@dataclass(frozen=True)
class Speed:
    """What one training or one fit reached."""

    case: str
    rate: str  # so many of what a second
    operations_per_second: float  # that the loss needs
    peak: float  # operations per second of matrix products in the same run

    def __str__(self) -> str:
        share = f"{self.operations_per_second / 1e9:6.1f} GFLOP/s = {self.operations_per_second / self.peak:4.0%}"
        return f"{self.case:32} {self.rate}   {share} of {self.peak / 1e9:.0f}"


def measure(seconds: float = 5.0) -> Iterator[Speed]:
    """The speed of every case, each trained for about that long."""
    for name, options in CASES.items():
        run = Training(loads.CAR, options)
        peak, best = matmul_peak(), fastest(run.update, seconds)
        work = loss_operations(run.simulator, run.goals, options)
        work *= options.minibatches * options.minibatch * options.epochs
        rate = f"{options.envs * options.rollout / best:10,.0f} env steps/s"
        yield Speed(name, rate, work / best, max(peak, matmul_peak()))


class Training:
    """A training, one update at a time and past its first one, which compiles."""

    def __init__(self, mdp: WorldChoice, options: Options):
        world, encoding = world_of(mdp, 0), cast(Encoding, options.network.encoding)
        self.options, self.simulator = options, continuous_simulator(world, encoding=encoding)
        self.goals = continuous_goals(loads.POSITIONS, world.space, encoding)
        self.state = learner.start(jax.random.key(0), self.simulator, self.goals, options)
        self.update()

    def update(self) -> Any:
        self.state, metrics = training.advance(self.state, self.simulator, self.goals, self.options)
        return jax.block_until_ready((self.state, metrics))


def compare_worlds(seconds: float = 5.0, turns: int = 10) -> str:
    """MountainCar written as expressions beside gymnax's own: how fast the same agent trains in each, by turns."""
    options = CASES["3x256, a head per goal"]
    worlds = [Training(mdp, options) for mdp in (loads.CAR, loads.WRITTEN)]
    times = [[fastest(world.update, seconds / 2 / turns) for world in worlds] for _ in range(turns)]
    theirs, ours = (options.envs * options.rollout / min(each) for each in zip(*times, strict=True))
    rates = f"{ours:10,.0f} env steps/s   {ours / theirs:.2f} of gymnax's {theirs:,.0f}"
    return f"{'MountainCar as expressions':32} {rates}"


def loss_operations(simulator: Simulator, goals: GoalSet, options: Options) -> int:
    """Multiplications and additions that the loss of one sample needs."""
    network = options.network
    reads_goal = network.goal == "input"
    inner = (network.depth - 1) * network.width**2
    inner += network.width * simulator.actions * (1 if reads_goal else goals.count)
    first = network.width * (simulator.width + (goals.width if reads_goal else 0))
    return 2 * (3 * first + 4 * inner)  # forward twice and weights once; inner layers pass the gradient on, too


def matmul_peak(sizes: tuple[int, ...] = (512, 1024, 2048), seconds: float = 0.2) -> float:
    """Operations per second of the fastest square matrix product."""
    product = jax.jit(jnp.matmul)
    return max(2 * size**3 / fastest(partial(product, *[jnp.ones((size, size))] * 2), seconds) for size in sizes)


def main() -> None:
    """Print the speeds."""
    for speed in measure():
        print(speed, flush=True)
    print(compare_worlds(), flush=True)
