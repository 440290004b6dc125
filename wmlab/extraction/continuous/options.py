"""What a spec may say of a model that is fitted to an agent's values in a continuous world."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from wmlab.core.continuous.space import ContinuousSpace, check_ranges
from wmlab.errors import suggest
from wmlab.registry import Finding, Scope, by_world, option
from wmlab.registry.options import PAIRS

FOUND: Literal["found"] = "found"  # rates that are not said beforehand


@dataclass(frozen=True)
class Model:
    """The family of world models: next state = state + a change."""

    family: Literal["residual", "affine", "additive", "gaussian"] = option(
        "residual",
        doc="The change as a network of state and action (`residual`), as a matrix times the state plus a vector per"
        " action (`affine`), as a network of the state plus a vector per action (`additive`), or normally distributed,"
        " with a network for its mean and standard deviation (`gaussian`). Of actions from a box the components are"
        " read: a matrix times them takes the place of a vector per action.",
    )
    depth: int = option(2, at_least=1, doc="Hidden layers; an affine model has none.")
    width: int = option(by_world(quick=64, otherwise=256), at_least=1, doc="Units in each hidden layer.")
    activation: Literal["tanh", "relu", "silu"] = option("tanh", doc="The nonlinearity of the hidden layers.")
    norm: Literal["none", "layer"] = option("none", doc="Layer normalisation before each activation, or none.")
    skip: bool = option(
        False,
        doc="Whether a matrix takes the inputs straight to the output, beside the hidden layers: what grows with a"
        " variable then goes on growing where no state was drawn.",
    )
    scale: Literal["range", "none"] = option(
        "range",
        doc="What the network gives: the change in units of each variable's range, or the change as it is.",
    )
    init: Literal["normal", "orthogonal"] = option(
        "normal",
        doc="How weights start: as normals that keep the variance of what passes through, or as orthogonal matrices,"
        " times √2 in hidden layers.",
    )
    init_scale: float = option(
        0.01,
        above=0,
        doc="Size of the last layer's first weights: a small one starts from a world where nothing moves.",
    )
    init_sd: float = option(
        0.02, above=0, doc="gaussian: the first standard deviation, as a fraction of each variable's range."
    )
    encoding: Literal["raw", "normalised", "sincos"] = option(
        by_world(quick="normalised", otherwise="raw"),
        doc="How a state is written for the model: `raw` numbers, numbers `normalised` to [-1, 1] by their ranges, or"
        " these with `sincos` of periodic variables.",
    )
    bounded: bool = option(False, doc="Whether next states are held at the bounds of the variables that have them.")
    rates: dict[str, str] | Literal["found"] = option(
        {},
        doc="Variable: its rate, another variable. What is known beforehand of how a world moves, as of an angle and"
        " its speed: the variable changes by its rate's next value (wrapped, and held at its bounds with `bounded`)"
        " times one number, the same everywhere, which is all that is fitted of it. `found`: a first reading, one"
        " step ahead, says which. Where one number times what another variable is next makes more than half of a"
        " variable's motion there, the reading that is asked for takes that one for its rate.",
        static=False,  # a model has their columns
        example={"theta": "omega"},
    )


@dataclass(frozen=True)
class FitOptimiser:
    """How the weights follow the gradient."""

    kind: Literal["adam", "radam"] = option("adam", doc="Adam, or Adam with a rectified variance.")
    rate: float = option(by_world(quick=3e-3, otherwise=1e-4), above=0, doc="The learning rate at the first update.")
    decay: Literal["cosine", "linear", "constant"] = option(
        "cosine", doc="How the learning rate falls to 0 over the updates; `constant` keeps it."
    )
    clip: float | None = option(None, above=0, doc="Greatest global norm of a gradient; null clips nothing.")


@dataclass(frozen=True)
class HorizonSchedule:
    """A horizon that changes as the fit goes on."""

    from_: int = option(1, at_least=1, doc="Steps at the first update.")
    to: int = option(10, at_least=1, doc="Steps at the end.")
    over: float = option(0.5, above=0, at_most=1, doc="The part of the updates over which it changes, evenly.")
    beside: tuple[int, ...] = option((), doc="Further horizons that every update is fitted at, each as heavy.")


Horizon = int | HorizonSchedule | tuple[int, ...]
HORIZON_DOC = (
    "Steps that the model is unrolled under the agent's own policy before its value is taken: a number, `{from, to,"
    " over}` to lengthen it as the fit goes on, or a list to fit several at once. 1 is the paper's."
)


@dataclass(frozen=True)
class FitOptions:
    """The options of P-learning with a network."""

    preset: Literal["quick"] | None = option(
        None,
        doc="`quick`: a first look in less than a minute, by other defaults here and of the solver's grid;"
        " `plan --resolved` shows them.",
    )
    estimator: Literal["deterministic", "score", "reparameterised", "evolution"] = option(
        "deterministic",
        doc="How the gradient is found: through rewards and values at the predicted state (`deterministic`), from the"
        " log-density of two independent samples (`score`), through two independent sets of samples"
        " (`reparameterised`), or from trials around the predicted state, where rewards or values have no gradient"
        " (`evolution`).",
    )
    horizon: Horizon = option(1, doc=HORIZON_DOC, at_least=1, whole=True, example={"from": 1, "to": 10})
    model: Model = option(Model(), doc="The family of world models.")
    optimiser: FitOptimiser = option(FitOptimiser(), doc="How the weights follow the gradient.")
    independent: bool = option(
        True,
        doc="score and reparameterised: whether the two residuals that are multiplied are of samples of their own. With"
        " the same samples in both, the gradient also shrinks the variance of the model's next states.",
    )
    loss: Literal["l1", "l2", "huber"] = option(
        "l1", doc="Size of a Bellman residual. From samples only the gradient of l2 is unbiased."
    )
    huber: float = option(0.01, above=0, doc="huber: the residual at which it turns from square to linear.")
    goals: Literal["one", "all"] = option(
        by_world(quick="all", otherwise="one"), doc="Goals per sample: one at random, or all."
    )
    draws: int = option(
        1, at_least=1, doc="score, reparameterised: next states in each of the two sets. evolution: mirrored trials."
    )
    blur: float = option(
        0.0,
        at_least=0,
        doc="deterministic: how far around a predicted state the slope of the agent's values is taken, as a fraction of"
        " each variable's range; at as many places as `draws`, whose mean it is. 0 takes it at the state itself. The"
        " slopes of a network are less true than its values, and their errors shrink the motion that is found.",
    )
    spread: float = option(
        0.01, above=0, doc="evolution: size of the trials around a state, as a fraction of each variable's range."
    )
    steps: int = option(by_world(quick=1_500, otherwise=20_000), at_least=1, doc="Updates of the model.")
    batch: int = option(
        by_world(quick=256, otherwise=4096), at_least=1, doc="States (each with one action) per update."
    )
    states: Literal["uniform", "reset", "data"] = option(
        by_world(endless="reset", otherwise="uniform"),
        doc="Where states are drawn: anywhere in their ranges, where the world resets, or among the states of `data`"
        " that are not held out.",
    )
    actions: Literal["anywhere", "policy"] = option(
        "anywhere",
        doc="Where actions from a box are drawn: anywhere in it, or around what the agent does, where its values are"
        " known best. Of a list any is drawn.",
    )
    around: float = option(
        0.2,
        above=0,
        doc="policy: the standard deviation of actions around what the agent does, as a fraction of each component's"
        " range.",
    )
    agents: int = option(
        1,
        at_least=1,
        at_most=20,
        doc="How many agents are read: that of the seed, and others that were trained as it was, from seeds of their"
        " own. What is predicted is then the mean of what the models of all of them say: agents that are trained apart"
        " err in part apart. Each takes a training.",
        example=2,
    )
    bounds: dict[str, tuple[float, ...]] = option(
        {},
        doc="Variable: the range that its states are drawn from, in place of the one that `states` says.",
        schema=PAIRS,
        static=False,
        example={"omega1": [-2, 2], "omega2": [-2, 2]},
    )

    @property
    def reach(self) -> int:
        """The longest horizon of any update."""
        return max(self.lengths)

    @property
    def lengths(self) -> tuple[int, ...]:
        """Horizons of updates: all that are said."""
        if isinstance(self.horizon, HorizonSchedule):
            return (self.horizon.from_, self.horizon.to, *self.horizon.beside)
        return (self.horizon,) if isinstance(self.horizon, int) else self.horizon


def check_fit(options: FitOptions) -> Iterator[Finding]:
    """Mistakes that the options hold among themselves."""
    if min(options.lengths, default=0) < 1:
        yield Finding(("horizon",), "a horizon is a number of steps, at least 1; a list holds one or more")
        return
    sampled = options.estimator in ("score", "reparameterised")
    family = options.model.family
    if sampled and family != "gaussian":
        yield Finding(
            ("estimator",),
            f"'{options.estimator}' samples next states, but model.family {family} is deterministic",
            "set model.family: gaussian, or estimator: deterministic",
        )
    if not sampled and family == "gaussian":
        yield Finding(
            ("estimator",),
            f"'{options.estimator}' takes the next state as certain, but model.family is gaussian",
            "set estimator: reparameterised or score",
        )
    if options.estimator in ("score", "evolution") and options.reach > 1:
        yield Finding(
            ("horizon",),
            f"'{options.estimator}' looks one step ahead; {options.reach} steps need a gradient through the model",
            "set horizon: 1, or estimator: deterministic or reparameterised",
        )
    if not options.independent and not sampled:
        yield Finding(("independent",), f"'{options.estimator}' multiplies no samples", "leave it out")
    if options.blur and options.estimator != "deterministic":
        yield Finding(
            ("blur",),
            f"'{options.estimator}' draws next states by itself; only 'deterministic' takes slopes around one",
            "set blur: 0, or estimator: deterministic",
        )
    if options.estimator == "score" and options.loss != "l2":
        yield Finding(
            ("loss",), f"'score' is the gradient of the squared residual, not of {options.loss}", "set loss: l2"
        )


def check_agents(options: FitOptions, scope: Scope) -> Iterator[Finding]:
    """Several agents are those of several trainings in one world, each read at its end."""
    if options.agents == 1:
        return
    agent, goals, mdp = scope.agent, scope.goals, scope.mdp
    if agent is not None and not agent.traits.learns:
        yield Finding(("agents",), f"an agent of kind {agent.name} is the same for every seed", "leave it out")
    if (goals is not None and goals.reward.draws) or (mdp is not None and mdp.draws):
        message = "agents of other seeds would have other rewards, or live in another world"
        yield Finding(("agents",), message, "leave it out")
    if getattr(options, "when", "final") == "checkpoints":
        message = "several agents are read at the end of their trainings, not at each checkpoint"
        yield Finding(("agents",), message, "say when: final, or leave it out")


def check_rates(options: FitOptions, scope: Scope) -> Iterator[Finding]:
    """Rates are variables of the state that have no rate of their own, in a model that is certain."""
    rates, space = options.model.rates, scope.space
    if not rates or not isinstance(space, ContinuousSpace):
        return
    if options.model.family == "gaussian":
        yield Finding(("model", "rates"), "a gaussian model draws each variable by itself", "choose another family")
    if isinstance(rates, str):
        return
    for name, rate in rates.items():
        for unknown in (one for one in (name, rate) if one not in space.names):
            hint = suggest(unknown, space.names) or f"say {', '.join(space.names)}"
            yield Finding(("model", "rates", name), f"'{unknown}' is not a state variable", hint, key=unknown == name)
        if rate in rates:
            what = "itself" if rate == name else f"'{rate}', which moves by a rate of its own"
            yield Finding(("model", "rates", name), f"'{name}' cannot move by {what}")


def check_states(options: FitOptions, scope: Scope) -> Iterator[Finding]:
    """States can be drawn anywhere only where every variable has a range, its own or a given one."""
    space = scope.space
    if not isinstance(space, ContinuousSpace):
        return
    yield from check_ranges(options.bounds, space)
    if options.states == "data":
        if scope.data is None:
            yield Finding(("states",), "there is no `data` to draw states from", "say uniform or reset, or give data")
        if options.bounds:
            yield Finding(("bounds",), "logged states are taken as they are", "leave it out", key=True)
    if options.actions == "policy" and not space.in_box:
        yield Finding(("actions",), "this world has a list of actions, of which any is drawn", "leave it out")
    if space.in_box and scope.agent is not None and scope.agent.get("actor") is None:
        asked = {"actions": options.actions == "policy", "horizon": options.reach > 1}
        for name in (name for name, wanted in asked.items() if wanted):
            message = "needs what the agent does, and the agent comes without an actor"
            yield Finding((name,), message, "say agent.actor, or leave it out")
    if options.states == "uniform":
        for name in space.endless:
            if name not in options.bounds:
                hint = f"say reset, or bounds: {{{name}: [low, high]}}"
                yield Finding(("states",), f"uniform over {name}, which has no range", hint)
