"""What a spec may say of an agent from elsewhere: the file that holds its values, and how it is read."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Literal

from wmlab.agents.pqn.options import Limits
from wmlab.registry import by_type, option
from wmlab.registry.options import PAIRS

FILE = {"type": "string", "x-wmlab": "file", "x-endings": [".npz", ".safetensors", ".csv"]}
AXES = {"type": "array", "items": {"type": "string"}, "minItems": 1}
COUNT = {"type": ["integer", "string"], "minimum": 1, "x-wmlab": "number"}
TABLE_AXES = ("state", "action", "goal")


@dataclass(frozen=True)
class ExternalNetwork:
    """A multilayer perceptron: hidden layers of one activation, then a linear layer.

    Its tensors are called layer0.weight, layer0.bias, …, output.weight, output.bias, and with layer normalisation
    layer0.scale and layer0.shift, …, unless `tensors` says otherwise.
    """

    depth: int = option(doc="Number of hidden layers.", at_least=1, at_most=1_000)
    width: int | tuple[int, ...] = option(
        doc="Units in each hidden layer: one number, or one for each layer.",
        schema=by_type(integer=COUNT, string=COUNT, array={"items": COUNT, "minItems": 1}),
    )
    norm: Literal["layer", "none"] = option("none", doc="Layer normalisation beside each activation, or none.")
    epsilon: float = option(
        1e-6, doc="Added to the variance in a layer normalisation: 1e-6 in Flax, 1e-5 in PyTorch.", above=0
    )
    norm_place: Literal["before", "after"] = option("before", doc="Whether it stands before or after the activation.")
    activation: Literal["relu", "silu", "tanh", "elu", "gelu", "gelu_tanh"] = option(
        "relu",
        doc="The nonlinearity of the hidden layers; `gelu` is the exact one, `gelu_tanh` what Flax means by gelu.",
    )
    output: Literal["bounded", "linear"] | Limits = option(
        "linear",
        doc="`linear` gives values as they are; `{low, high}` scales a sigmoid to these limits, and `bounded` to the "
        "range of values that rewards, discount and termination imply.",
        whole=True,
    )
    goal: Literal["input", "head"] = option(
        "head",
        doc="`head`: outputs are goal by goal, the actions of each side by side. `input`: the network reads the goal.",
    )
    inputs: tuple[Literal["state", "goal", "achieved", "action"], ...] = option(
        ("state", "goal"),
        doc="With `goal: input`, what is read in which order; `achieved` is the goal that the state itself reaches. A"
        " critic of actions from a box also reads `action`: [state, goal, action], or [state, action] with heads.",
    )
    observation: tuple[str, ...] | None = option(
        None,
        doc="In a continuous world: the variables that it reads, in their order; derived ones too.",
        example=["position", "velocity"],
    )
    wanted: tuple[str, ...] | None = option(
        None, doc="With `goal: input`, the goal's variables in the order in which they are read; needed for several."
    )
    encoding: Literal["one_hot", "raw", "normalised", "sincos"] = option(
        "raw",
        doc="How states and goals are written for the network: `raw` numbers, numbers `normalised` from their ranges"
        " to [-1, 1], these with `sincos` of periodic ones, or `one_hot` in a finite world.",
    )
    action_encoding: Literal["normalised", "raw"] = option(
        "normalised",
        doc="How a critic reads the components of an action from a box: taken from their ranges to [-1, 1], or raw.",
    )
    layout: Literal["in_out", "out_in"] = option(
        "in_out", doc="Axes of a weight: [inputs, outputs] as in Flax, or [outputs, inputs] as in PyTorch."
    )
    tensors: dict[str, str] | None = option(
        None,
        doc="layer0.weight: the name that the file has for it; likewise for any other tensor.",
        whole=True,
        example={"layer0.weight": "q_network.network.0.weight"},
    )

    @property
    def widths(self) -> tuple[int, ...]:
        return (self.width,) * self.depth if isinstance(self.width, int) else self.width

    @property
    def blocks(self) -> tuple[str, ...]:
        """What the first layer reads, in order."""
        return self.inputs if self.goal == "input" or "action" in self.inputs else ("state",)

    def name_of(self, tensor: str) -> str:
        """The file's name of one of our tensors."""
        return (self.tensors or {}).get(tensor, tensor)

    @property
    def form(self) -> ExternalNetwork:
        """The same network without the file's names for its tensors: equal forms hash alike."""
        return dataclasses.replace(self, tensors=None)


@dataclass(frozen=True)
class Critics:
    """Several critics of one form, trained side by side."""

    count: int = option(doc="How many; their tensors are called critic0.layer0.weight, …", at_least=1, at_most=100)
    combine: Literal["min", "mean", "first"] = option(
        "min",
        doc="What V is made of: the least of them, as in TD3 and SAC, their mean, or the first. Q is the mean of them,"
        " or the first.",
    )


@dataclass(frozen=True)
class ValuesFile:
    """Where Q comes from: a table with declared axes, or a network's weights."""

    file: str = option(
        doc="A path relative to this file: .npz or .safetensors, or .csv with columns state, action, goal and value.",
        schema=FILE,
    )
    tensor: str | None = option(None, doc="The array in the file; null: the only one that it holds.")
    axes: tuple[str, ...] | None = option(
        None,
        doc="What each axis of a table is: state, action and goal in a finite world; in a continuous one each state "
        "variable, action and goal. With one goal, `goal` may be left out.",
        schema={**AXES, "type": ["array", "null"]},
        example=["state", "action", "goal"],
    )
    grid: dict[str, tuple[float, ...]] = option(
        {},
        doc="Variable: the first and last value along its axis, where it is not its range; points are evenly spaced."
        " On a circle the last point stands one step before the first.",
        schema=PAIRS,
    )
    network: ExternalNetwork | None = option(None, doc="The file holds the weights of this network, and no table.")
    critics: Critics | None = option(
        None, doc="The file holds several such networks: critics of actions from a box; null: one."
    )


WEIGHTS = {"type": ["string", "null"], "x-wmlab": "file", "x-endings": [".npz", ".safetensors"]}


@dataclass(frozen=True)
class Actor:
    """What an agent does with actions from a box: a network π(s, g), whose tensors are called actor.layer0.weight, …"""

    network: ExternalNetwork | None = option(
        None, doc="The network; its outputs are the components of an action. null: as the critic's, without the action."
    )
    file: str | None = option(None, doc="A path relative to this file; null: that of q.", schema=WEIGHTS)
    squash: Literal["tanh", "none"] = option(
        "tanh",
        doc="`tanh` takes outputs to [-1, 1], and this to the ranges; `none` takes them as they are, held in the box.",
    )
    noise: float = option(
        0.0,
        at_least=0,
        doc="V is the mean over normal noise on what the actor does, of this standard deviation in half ranges: TD3's"
        " target_policy_noise.",
    )
    noise_clip: float | None = option(None, above=0, doc="Where this noise is cut off: TD3's target_noise_clip.")
    deviation: bool = option(
        False,
        doc="Whether actions are drawn, as in SAC: a second network of the same form, actor_deviation.layer0.weight, …,"
        " gives the logarithm of the standard deviation before the tanh. V is then a mean over draws, and the mean is"
        " what is done.",
    )
    entropy: float = option(
        0.0, at_least=0, doc="deviation: what V adds for each unit of the draws' entropy: SAC's ent_coef."
    )


@dataclass(frozen=True)
class StateValues:
    """Values of states by themselves: a network V(s, g), whose tensors are called value.layer0.weight, …"""

    network: ExternalNetwork = option(doc="The network; it has one output for each goal.")
    file: str | None = option(None, doc="A path relative to this file; null: that of q.", schema=WEIGHTS)


@dataclass(frozen=True)
class PolicyFile:
    """A policy from a file: the one whose values these are."""

    kind: Literal["file"] = option(doc="It is in a file.")
    file: str = option(
        doc="A path relative to this file: .npz, .safetensors, or .csv with columns state, action, goal, probability.",
        schema=FILE,
    )
    tensor: str | None = option(None, doc="The array in the file; null: the only one that it holds.")
    axes: tuple[str, ...] | None = option(
        None,
        doc="Axes of its probabilities: state, action, goal. Without `action`, the array holds actions by number; "
        "without `goal`, the policy is the same for every goal.",
        schema={**AXES, "type": ["array", "null"]},
    )


@dataclass(frozen=True)
class Check:
    """Values of some rows, as the agent's own library gives them: they tell whether all is read as it was meant."""

    file: str = option(
        doc="A path relative to this file: .npz with the arrays observation, action (names) and value, a row each; with"
        " goal and achieved where goals are read, and the names of their columns as variables and wanted. Of a box,"
        " action has a column for each of components, and policy, where it is there, what the actor does.",
        schema={**FILE, "x-endings": [".npz"]},
        example="probe.npz",
    )
    within: float = option(
        1e-4, doc="How far values may be apart; of the largest value in the file, where that is above 1.", above=0
    )


@dataclass(frozen=True)
class Options:
    """Values that were learnt elsewhere."""

    q: ValuesFile = option(doc="Where Q comes from.")
    discount: float = option(doc="The discount that the values were learnt with.", at_least=0, below=1)
    policy: Literal["greedy", "uniform"] | PolicyFile = option(
        "greedy", doc="Whose values these are: greedy takes the best action, uniform any alike, or one from a file."
    )
    actor: Actor | None = option(
        None, doc="Of actions from a box: the policy whose values these are, which takes the place of `policy`."
    )
    v: StateValues | None = option(
        None, doc="Of actions from a box: V by itself, in place of Q at what the actor does."
    )
    actions: tuple[str, ...] | None = option(
        None,
        doc="The actions in the order that the files have them, or of a box the components; null: the world's order.",
    )
    check: Check | None = option(
        None, doc="Values from the agent's own library, held against those that are read here; `wmlab import` says how."
    )
