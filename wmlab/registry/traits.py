"""What each family asks of its kinds beside options and checks: typed traits, and the call that a kind answers.

A trait that depends on options is a function of the options record. The functions here import nothing heavy, so that
specs are checked and explained without JAX. Shapes: G goals, S states, A actions, d state variables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeVar

T = TypeVar("T")

Sort = Literal["finite", "continuous"]
Worlds = Literal["finite", "continuous", "any"]  # the worlds that a kind goes with
Values = Literal["exact", "approximate", "learnt", "external", "of another world"]
Shape = Literal["indicator", "gaussian", "other"]
Encoding = Literal["raw", "normalised", "sincos"]  # how variables of a continuous world are read


def fixed(value: T) -> Callable[..., T]:
    """A trait that is the same whatever the options say."""
    return lambda *_: value


always = fixed(True)


@dataclass(frozen=True, kw_only=True)
class Traits:
    """What every kind says of itself."""

    worlds: Worlds = "any"
    from_box: bool = False  # whether it goes with actions from a box, which are not finitely many
    draws: Callable[[Any], bool] = fixed(False)  # (options): whether it uses the run's seed
    table: Callable[[], tuple[tuple[str, ...], ...]] = fixed(())  # what the reference lists: a head, then lines


# --- worlds ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class WorldTraits(Traits):
    """What a world's options say of it, without making it."""

    space: Callable[[Any], Any]  # (options): its FiniteSpace or ContinuousSpace
    sort: Sort | Callable[[Any], Sort]  # or (options)
    knows_truth: bool = True  # whether it says what actions do
    ordered: tuple[str, ...] = ()  # options whose keys have an order that counts
    of_rows: Callable[[Any, Any], Any] | None = None  # (options, [S, A, S]): the FiniteWorld of a table in a file
    reset: Callable[[Any], Any] | None = None  # (options): starts [S], where no world can be made
    max_successors: Callable[[Any, Any], int | None] = fixed(None)  # (options, space): of a state and action, if finite
    table_bytes: Callable[[Any], int] = fixed(0)  # (options): what it holds while its table is made, if more than that
    is_deterministic: Callable[[Any, Any], bool | None] = fixed(None)  # (options, space): where successors do not tell
    outcomes: Callable[[Any, int], int] = fixed(1)  # (options, n): of a step, with n for each continuous random number
    spread: Callable[[Any, Any], Mapping[str, float]] = fixed(
        {}
    )  # (options, space): variable: its next value's, by chance
    is_generic: Callable[[Any], bool] = fixed(False)  # (options): its kernel is drawn from a density over all kernels
    signs: Callable[[Any, Any], Mapping[tuple[int, int], str]] = fixed({})  # (options, space): drawn on its map


class MakeWorld(Protocol):
    """A world kind: a FiniteWorld or a ContinuousWorld from its options."""

    def __call__(self, options: Any, seed: int, /) -> Any: ...


# --- rewards -----------------------------------------------------------------------------------------------------


class Payment(Protocol):
    """How goals pay in a continuous world. Equal payments hash alike, so that programs are compiled once."""

    @property
    def arrives(self) -> bool:
        """Whether there is a point of arrival, which pays one number and everything else another."""

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the greatest reward."""

    def reward(self, rule: Any, state: Any, values: Any, gap: Any, asked: Any, width: Any) -> tuple[Any, Any]:
        """What arriving in a state [d] pays for goals with values [G, K], and whether it is their point of arrival
        (bool [G]; None where there is none). `gap` [G, K] is how far off the state is, in the variables `asked`."""

    def bounds_within(self, width: Any, end: Any) -> tuple[tuple[float, float], tuple[float, float]]:
        """Bounds of the rewards nearer to the goal than `end`, and of those further off. Where there is a point of
        arrival, `end` may be `width` itself: then it is where the one reward ends and the other begins."""


@dataclass(frozen=True, kw_only=True)
class RewardTraits(Traits):
    """What a reward's options say of the goals, without computing anything."""

    at: Literal["needed", "optional", "none"]  # what it makes of `goals.at`
    own_goals: Callable[[Any], tuple[str, ...]] = fixed(())  # (options): names of goals that `goals.at` need not place
    points: bool = False  # whether goals may lie between states, or stand for several
    width_option: str | None = None  # the option that says how wide a goal is: one number, or one for each variable
    in_continuum: Callable[[Any], Payment] | None = None  # (options): None where it needs a finite world
    check_in_continuum: Callable[[Any, Any, Any], Iterable[Any]] = fixed(())  # (options, Points, scope): findings
    says: str = ""  # of its goals, in plain words: "paid on arrival"
    pays_like: Shape = "other"  # the shape that theorems know
    pays: Callable[[Any], tuple[float, float] | None] = fixed(None)  # (options): of an indicator, there and elsewhere
    is_generic: Callable[[Any], bool] = fixed(False)  # (options): rewards have a density, also without noise
    is_noisy: Callable[[Any], bool] = fixed(False)  # (options): noise with a density is added
    is_scattered: Callable[[Any], bool] = fixed(False)  # (options): goals are moved off their places at random
    spans: Callable[[Any, Any, bool], bool | None] = fixed(None)  # (options, space, a goal at each state): rank is S

    def width(self, options: Any) -> float | Mapping[str, float] | None:
        """How wide goals are; None where they have no width, or where none is said."""
        return None if self.width_option is None else getattr(options, self.width_option)


class MakeRewards(Protocol):
    """A reward kind in a finite world: its Rewards, for goals at states int [G], points [G, d], or nowhere (None)."""

    def __call__(self, options: Any, space: Any, at: Any, seed: int, /) -> Any: ...


# --- agents ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class AgentTraits(Traits):
    """What an agent's options say of its values. Its options have a `discount`."""

    values: Callable[[Any], Values]  # (options): how good they are
    learns: bool = False  # whether it is trained, which takes long and has checkpoints
    acts: bool = True  # whether it needs a world to act in
    is_conditional: Callable[[Any], bool] = always  # (options): its policy depends on the goal
    discounts: Callable[[Any], int] = fixed(1)  # (options): how many
    policies: Callable[[Any], int] = fixed(1)  # (options): how many
    epsilon: Callable[[Any], float | None] = fixed(None)  # (options): how far values are off, in l1 over goals
    goals_between_states: bool = False  # whether goals may lie between the cells of a map
    encoding: Callable[[Any], Encoding] = fixed("raw")  # (options): how it reads goals in a continuous world
    keeps_transitions: bool = False  # whether a training in a continuous world can keep some of what it sees
    together: Callable[..., Any] | None = None  # (options, worlds, goals, seeds, **hooks): several seeds at once


class MakeAgent(Protocol):
    """An agent kind: what an agent knows of a world and its goals.

    `world` is a FiniteWorld with Goals or a ContinuousWorld with a GoalSet; of an agent that does not act, the space.
    Hooks, by name: `at` int [G] or None, the goals' states in a finite world; `files`, the arrays of an agent from
    elsewhere; and of a training `keep`, `transitions`, `resume`, `save` and
    `progress`. What is not known is to be ignored.
    It gives a FiniteView, or (Grid, Q) in a continuous world; a training LearnedValues, or a Trained.
    """

    def __call__(self, options: Any, world: Any, goals: Any, seed: int, /) -> Any: ...


# --- extractions -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class ExtractionTraits(Traits):
    """What a method assumes of the model. Options of a method for finite worlds extend `extraction.options.Common`."""

    model_is_deterministic: Callable[[Any], bool] = fixed(False)  # (options): its models have one successor each
    stays_in_simplex: Callable[[Any], bool] = fixed(False)  # (options): it knows that probabilities sum to one
    sparse_support: Callable[[Any], int | None] = fixed(None)  # (options): the most successors, not known which
    random_numbers: Callable[[Any, int], int] = fixed(0)  # (options, d): in each next state of its models
    members: Callable[[Any], int] = fixed(1)  # (options): how many models an ensemble of its has
    tables: int = 0  # [S, A, K] of a number for each candidate K of every state and action, that it holds at once
    descends_on_tables: bool = False  # gradient descent over the kernel itself, of which Theorem 1 speaks


class Extract(Protocol):
    """An extraction kind: a model from a view alone, a FiniteView or a ContinuousView; in a continuous world hooks
    `resume`, `save` and `progress` come by name."""

    def __call__(self, view: Any, options: Any, seed: int, /) -> Any: ...


# --- solvers -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class SolverTraits(Traits):
    """What a solver's options speak of."""

    of_models: tuple[str, ...] = ()  # options that mean nothing where a plan is made in the true world


class Solve(Protocol):
    """A solver kind: a plan for one unseen goal, made in a model and followed in the true world, where there is one.

    `model` is a Kernel or Dynamics, `world` a FiniteWorld or ContinuousWorld, `task` says what to reach, `starts` where
    from (a distribution [S], or states [n, d]), `start` from where the way of a finite plan is drawn, and `key` is for
    the chance on a continuous way.
    """

    def __call__(
        self,
        options: Any,
        model: Any,
        world: Any,
        task: Any,
        starts: Any,
        /,
        *,
        space: Any,
        discount: float,
        start: int | None,
        key: Any,
    ) -> Any: ...
