"""What a spec may say of tabular Q-learning."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from wmlab.agents.pqn.options import Explore
from wmlab.registry import Finding, Scope, option

ROUNDS = 64  # steps in each environment, about, between two looks at how training goes


@dataclass(frozen=True)
class StepSize:
    """Steps that shrink: the n-th visit of a state and action moves its values by scale / (n + offset)^power."""

    scale: float = option(1.0, above=0, doc="The size of the steps; at most (1 + offset)^power, a whole step.")
    offset: float = option(0.0, at_least=0, doc="Visits that count as done before the first.")
    power: float = option(
        0.7, above=0.5, at_most=1, doc="How fast steps shrink: their sum is infinite, that of their squares is not."
    )


@dataclass(frozen=True)
class Options:
    """Q-learning in a table: every transition teaches every goal."""

    discount: float = option(0.99, at_least=0, below=1, doc="γ: what a reward one step later is worth.")
    policy: Literal["greedy", "uniform"] = option(
        "greedy", doc="The policy whose values are learnt: `greedy` takes the best action, `uniform` any action alike."
    )
    steps: int = option(1_000_000, at_least=1, doc="Environment steps; what does not fill whole updates is left out.")
    envs: int = option(64, at_least=1, doc="Environments that run side by side.")
    explore: float | Explore = option(
        Explore(),
        doc="ε, the chance of a random action: a number, or falling from one value to another. 1 acts uniformly.",
        at_least=0,
        at_most=1,
        example=0.3,
    )
    step_size: StepSize = option(StepSize(), doc="How far each visit moves the values of a state and action.")
    starts: Literal["reset", "uniform"] = option(
        "reset", doc="Where training episodes start: as the world resets, or in any state alike."
    )
    checkpoints: int = option(1, at_least=1, doc="How often the values are kept, evenly; the last is the end.")

    @property
    def rounds(self) -> int:
        """Steps that each environment may take in the whole training."""
        return self.steps // self.envs

    @property
    def updates(self) -> int:
        """Parts of the training, between which checkpoints are taken and progress is told."""
        return max(self.rounds // ROUNDS, self.checkpoints)

    @property
    def rollout(self) -> int:
        """Steps in each environment within one update."""
        return self.rounds // self.updates

    @property
    def checkpoint_updates(self) -> tuple[int, ...]:
        """After how many updates each checkpoint is taken."""
        return tuple(self.updates * (index + 1) // self.checkpoints for index in range(self.checkpoints))

    @property
    def exploration(self) -> Explore:
        """ε as a schedule; a number is one that stays."""
        given = self.explore
        return given if isinstance(given, Explore) else Explore(given, given, 0.0)

    @property
    def resets(self) -> None:
        """Each environment draws its own fresh starts."""
        return None

    @property
    def remedy(self) -> str:
        """What to do about a training that diverges."""
        return "lower the rewards, or the discount"


def check(options: Options, scope: Scope) -> Iterator[Finding]:
    """Mistakes that the options hold among themselves."""
    least = options.envs * options.checkpoints
    if options.steps < least:
        yield Finding(
            ("steps",),
            f"{options.steps} steps of {options.envs} envs are too few for"
            f" {'a checkpoint' if options.checkpoints == 1 else f'{options.checkpoints} checkpoints'}",
            f"raise it to {least}, or lower envs",
        )
    size = options.step_size
    whole = (1 + size.offset) ** size.power
    if size.scale > whole:
        yield Finding(
            ("step_size", "scale"),
            f"the first step, {size.scale / whole:.3g}, would go past its target",
            f"at most (1 + offset)^power = {whole:.3g}",
        )
