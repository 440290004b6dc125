"""What a spec may say of a PQN agent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from wmlab.registry import by_world, option


@dataclass(frozen=True)
class Limits:
    """A range of values, given by its ends."""

    low: float = option(doc="The least value that the network can give.")
    high: float = option(doc="The greatest value that the network can give.")


@dataclass(frozen=True)
class Network:
    """The network that maps states (and goals) to values."""

    depth: int = option(2, at_least=1, doc="Number of hidden layers.")
    width: int = option(128, at_least=1, doc="Units in each hidden layer.")
    norm: Literal["layer", "none"] = option("layer", doc="Layer normalisation before each activation, or none.")
    activation: Literal["relu", "silu", "tanh"] = option("relu", doc="The nonlinearity of the hidden layers.")
    init: Literal["normal", "orthogonal"] = option(
        "normal",
        doc="How weights start: as normals that keep the variance of what passes through, or as orthogonal matrices,"
        " times √2 in hidden layers.",
    )
    output: Literal["bounded", "linear"] | Limits = option(
        by_world(unbounded="linear", otherwise="bounded"),
        doc="`bounded` scales a sigmoid to the range of values that rewards, discount and termination imply;"
        " `{low, high}` scales it to these limits; `linear` has no range.",
        whole=True,
        example={"low": -6, "high": 1},
    )
    goal: Literal["input", "head"] = option(
        "head",
        doc="`input`: the network reads the goal. `head`: one output per goal of a finite set, and every"
        " transition teaches every goal.",
    )
    encoding: Literal["one_hot", "raw", "normalised", "sincos"] = option(
        by_world(continuous="sincos", finite="one_hot"),
        doc="How a state is written for the network: `one_hot` in a finite world, `raw` numbers, numbers"
        " `normalised` to their ranges, or these with `sincos` of periodic ones.",
    )


@dataclass(frozen=True)
class Optimiser:
    """How the weights follow the gradient."""

    kind: Literal["radam", "adam"] = option("radam", doc="Adam, or Adam with a rectified variance.")
    rate: float = option(1e-3, above=0, doc="The learning rate at the first update.")
    decay: Literal["linear", "cosine", "constant"] = option(
        "linear", doc="How the learning rate falls to 0 over the training; `constant` keeps it."
    )
    clip: float | None = option(10.0, above=0, doc="Greatest global norm of a gradient; null clips nothing.")
    epsilon: float = option(
        1e-8,
        above=0,
        doc="Added to the size of the gradients by which Adam divides. Where a network comes to fit its targets,"
        " gradients fall below a larger one, such as 1e-6, and its steps shrink with them; else the last errors stay"
        " as large as the learning rate makes them.",
    )


@dataclass(frozen=True)
class Hindsight:
    """Transitions retold for other goals."""

    strategy: Literal["future", "random"] = option(
        "future",
        doc="`future`: goals achieved later, within the rollout; `random`: goals of the set.",
    )
    k: int = option(4, at_least=1, doc="Retold samples per transition, beside the original.")
    within: Literal["episode", "rollout"] = option(
        "episode",
        doc="future: goals are achieved later in the same episode, or anywhere later in the rollout, also after a new"
        " start.",
    )
    outside: Literal["indicator", "alike"] = option(
        "indicator",
        doc="future, in a finite world: what a goal at a state pays that is no goal of the set. `indicator`: 1 on"
        " arrival and nothing else. `alike`: what `goals.reward` pays for a goal there, with noise of its own, drawn"
        " once for each goal and state; and it ends episodes as `goals.terminate` says.",
    )


@dataclass(frozen=True)
class Resets:
    """How fresh episodes are shared among environments."""

    kind: Literal["optimistic"] = option("optimistic", doc="A few fresh starts a step, taken in turn by whoever ends.")
    ratio: int = option(16, at_least=1, doc="Environments per fresh start: 16 draws one start for 16 of them.")
    on_arrival: Literal["shared", "own"] = option(
        "shared",
        doc="Whose start an environment takes that has reached its goal: a shared one, or one of its own. One whose"
        " time is up takes a shared one in any case.",
    )


@dataclass(frozen=True)
class Explore:
    """ε, the chance of a random action."""

    from_: float = option(1.0, at_least=0, at_most=1, doc="ε at the start.")
    to: float = option(0.1, at_least=0, at_most=1, doc="ε at the end.")
    over: float = option(0.5, at_least=0, at_most=1, doc="The part of the training over which ε falls, linearly.")


@dataclass(frozen=True)
class Options:
    """PQN: Q-learning in many environments at once, without a replay buffer or a target network."""

    discount: float = option(0.99, at_least=0, below=1, doc="γ: what a reward one step later is worth.")
    policy: Literal["greedy", "uniform"] = option(
        "greedy",
        doc="The policy whose values are learnt: `greedy` takes the best action, `uniform` any action alike"
        " (and then acts so too, whatever `explore` says).",
    )
    network: Network = option(Network(), doc="The network that holds the values.")
    optimiser: Optimiser = option(Optimiser(), doc="How the weights follow the gradient.")
    steps: int = option(1_000_000, at_least=1, doc="Environment steps; whole updates of envs x rollout are done.")
    envs: int = option(256, at_least=1, doc="Environments that run side by side.")
    rollout: int = option(64, at_least=1, doc="Steps in each environment between two updates.")
    minibatch: int = option(
        256,
        at_least=1,
        doc="Samples per gradient step: transitions with `goal: head`, retold samples with `goal: input`. What"
        " does not fill a minibatch is left out of that epoch.",
    )
    epochs: int = option(1, at_least=1, doc="Passes over each rollout.")
    trace: float = option(0.0, at_least=0, at_most=1, doc="λ of the returns that targets are made of; 0: one step.")
    explore: Explore = option(Explore(), doc="ε, the chance of a random action, falling from one value to another.")
    hindsight: Hindsight | None = option(None, doc="Transitions retold for other goals (HER); null: none.")
    resets: Resets | None = option(None, doc="Fresh starts shared among environments; null: each draws its own.")
    starts: Literal["reset", "uniform"] = option(
        "reset", doc="Where training episodes start: as the world resets, or anywhere in the state space."
    )
    checkpoints: int = option(1, at_least=1, doc="How often the weights are kept, evenly; the last is the end.")
    seeds: Literal["apart", "together"] = option(
        "apart",
        doc="`apart`: a training for each seed, side by side on processors. `together`: one training of all seeds of"
        " a point, shared out over the devices, which pays on accelerators. Values agree up to rounding.",
    )

    @property
    def samples(self) -> int:
        """Samples that one rollout gives, retold ones included."""
        return self.envs * self.rollout * (1 + (self.hindsight.k if self.hindsight else 0))

    @property
    def updates(self) -> int:
        """Rollouts in the whole training, each followed by its gradient steps."""
        return self.steps // (self.envs * self.rollout)

    @property
    def remedy(self) -> str:
        """What to do about a training that diverges."""
        return "lower optimiser.rate"

    @property
    def minibatches(self) -> int:
        """Gradient steps in one epoch."""
        return self.samples // self.minibatch

    @property
    def gradient_steps(self) -> int:
        return self.updates * self.epochs * self.minibatches

    @property
    def checkpoint_updates(self) -> tuple[int, ...]:
        """After how many updates each checkpoint is taken."""
        return tuple(self.updates * (index + 1) // self.checkpoints for index in range(self.checkpoints))
