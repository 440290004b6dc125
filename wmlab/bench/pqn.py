"""How fast PQN trains here: environment steps per second, and how much of the machine's arithmetic it uses.

The peak is what matrix products reach in the same run, measured before and after each training. Of the work done
only what the loss needs is counted: a forward pass on states and on successors, a backward pass on states.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import jax
import jax.numpy as jnp

from wmlab.agents.pqn import learner, training
from wmlab.agents.pqn.options import Hindsight, Network, Optimiser, Options, Resets
from wmlab.bench import mountaincar
from wmlab.core.continuous.simulator import continuous_simulator
from wmlab.core.goals import GoalSet
from wmlab.core.simulator import Simulator
from wmlab.registry import mdps

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
        simulator = mountaincar.simulator(normalised=options.network.encoding == "normalised")
        yield measure_case(name, simulator, mountaincar.goals(), options, seconds)


def measure_case(name: str, simulator: Simulator, goals: GoalSet, options: Options, seconds: float) -> Speed:
    """Train for a while, one update at a time as a training does; the fastest update counts, as the fastest peak."""
    state = learner.start(jax.random.key(0), simulator, goals, options)
    state, metrics = training.advance(state, simulator, goals, options)  # compiles
    jax.block_until_ready(metrics)
    peak, best, began = matmul_peak(), float("inf"), time.perf_counter()
    while time.perf_counter() - began < seconds:
        before = time.perf_counter()
        state, metrics = training.advance(state, simulator, goals, options)
        jax.block_until_ready((state, metrics))
        best = min(best, time.perf_counter() - before)
    peak = max(peak, matmul_peak())
    work = loss_operations(simulator, goals, options) * options.minibatches * options.minibatch * options.epochs
    return Speed(name, f"{options.envs * options.rollout / best:10,.0f} env steps/s", work / best, peak)


def compare_worlds(seconds: float = 5.0) -> str:
    """MountainCar written as expressions beside gymnax's own: how fast the same agent trains in each, by turns."""
    options = CASES["3x256, a head per goal"]
    goals = mountaincar.goals()
    made = [mdps["gymnax"].build({"env": "MountainCar-v0"}), mdps["dynamics"].build(mountaincar.WRITTEN)]
    worlds = [mdps[kind].run(options, 0) for kind, options in zip(("gymnax", "dynamics"), made, strict=True)]
    simulators = [continuous_simulator(world) for world in worlds]
    states = [learner.start(jax.random.key(0), simulator, goals, options) for simulator in simulators]
    for i, simulator in enumerate(simulators):  # compiles
        states[i], metrics = training.advance(states[i], simulator, goals, options)
        jax.block_until_ready(metrics)
    best, began = [float("inf")] * 2, time.perf_counter()
    while time.perf_counter() - began < seconds or max(best) == float("inf"):
        for i, simulator in enumerate(simulators):
            before = time.perf_counter()
            states[i], metrics = training.advance(states[i], simulator, goals, options)
            jax.block_until_ready((states[i], metrics))
            best[i] = min(best[i], time.perf_counter() - before)
    theirs, ours = (options.envs * options.rollout / each for each in best)
    return (
        f"{'MountainCar as expressions':32} {ours:10,.0f} env steps/s   {ours / theirs:.2f} of gymnax's {theirs:,.0f}"
    )


def loss_operations(simulator: Simulator, goals: GoalSet, options: Options) -> int:
    """Multiplications and additions that the loss of one sample needs."""
    network = options.network
    reads_goal = network.goal == "input"
    inner = (network.depth - 1) * network.width**2
    inner += network.width * simulator.actions * (1 if reads_goal else goals.count)
    first = network.width * (simulator.width + (goals.width if reads_goal else 0))
    return 2 * (3 * first + 4 * inner)  # forward twice and weights once; inner layers pass the gradient on, too


def matmul_peak(sizes: tuple[int, ...] = (512, 1024, 2048), repeats: int = 8) -> float:
    """Operations per second of the fastest square matrix product."""
    product = jax.jit(jnp.matmul)
    fastest = 0.0
    for size in sizes:
        matrix = jnp.ones((size, size))
        product(matrix, matrix).block_until_ready()
        for _ in range(repeats):
            before = time.perf_counter()
            product(matrix, matrix).block_until_ready()
            fastest = max(fastest, 2 * size**3 / (time.perf_counter() - before))
    return fastest


def main() -> None:
    """Print the speeds."""
    for speed in measure():
        print(speed, flush=True)
    print(compare_worlds(), flush=True)
