"""What a spec says of one experiment: its world, goals, agent and extraction, and what is measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from wmlab.registry import (
    AgentChoice,
    ExtractionChoice,
    RewardChoice,
    SolverChoice,
    WorldChoice,
    budget,
    by_type,
    by_world,
    option,
)
from wmlab.sections.data import DataSection
from wmlab.sections.explorer import Explore, automatic_explorer
from wmlab.sections.forms import GOALS_AT, NUMBER, POINT, STATES, list_of, mapping_of, words_or_count


@dataclass(frozen=True)
class Ending:
    """The episode ends near the goal, where a condition holds, or in states that a table lists."""

    within: float | None = option(None, doc="An episode ends nearer to the goal than this distance.", above=0)
    when: str | None = option(
        None,
        doc="A condition on the state's variables that ends an episode; goal(v) is the goal's value of v.",
        schema={"type": "string", "x-wmlab": "condition"},
    )
    table: Any = option(
        None,
        doc="goal: [states that end an episode], in a finite world; goals left out never end one.",
        schema=mapping_of(list_of(by_type(string={}, integer={}, array=list_of({"type": "integer"})))),
        whole=True,
    )


@dataclass(frozen=True)
class GoalsSection:
    """What the agent was trained to want."""

    reward: RewardChoice = option(doc="What a goal pays for arriving in a state.")
    at: Any = option(
        None,
        doc="Which goals: a list is these points, a mapping a product, {first: n} the first n states, or all.",
        schema=GOALS_AT,
        whole=True,
    )
    terminate: Literal["on_arrival", "never"] | Ending = option(
        by_world(nowhere="never", otherwise="on_arrival"), doc="When a goal ends an episode."
    )


@dataclass(frozen=True)
class Return:
    """The agent's own return, in the true world."""

    starts: Any = option(
        by_world(continuous="reset", finite="all"), doc="Where evaluation starts.", schema=words_or_count(*STATES)
    )


@dataclass(frozen=True)
class ModelError:
    """The extracted model against the true dynamics, or against logged transitions."""

    against: Literal["world", "data"] = option(
        "world",
        doc="`world`: the true dynamics, at states that are drawn. `data`: the held-out transitions of `data`, as they"
        " are (`states`, `samples` and `draws` have no say then); where chance had a hand in them, it counts as error.",
    )
    states: Literal["all", "uniform", "reset"] = option(
        by_world(endless="reset", continuous="uniform", finite="all"), doc="States that the error is taken over."
    )
    samples: int = option(10_000, doc="How many states are sampled in a continuous world.", at_least=1)
    draws: int = option(64, doc="Draws per state where the world or the model is stochastic.", at_least=1)


@dataclass(frozen=True)
class Disagreement:
    """How far the members of an ensemble are apart: error bars that need no truth."""

    states: Literal["all", "uniform", "reset"] = option(
        by_world(endless="reset", continuous="uniform", finite="all"), doc="States that the members are compared at."
    )
    samples: int = option(10_000, doc="How many states are sampled.", at_least=1)


@dataclass(frozen=True)
class ValueError_:
    """The agent's values against the exact values of its own policy, and of the best one."""

    states: Literal["all", "uniform", "reset"] = option(
        by_world(continuous="uniform", finite="all"),
        doc="States at which values are held against those of the agent's own policy: `uniform` over the box that the"
        " grid covers, or where episodes start.",
    )
    samples: int = option(
        1_000, doc="How many states are sampled in a continuous world, each with one action in turn.", at_least=2
    )
    grid: int = option(
        by_world(continuous=budget("points", 10_000, at_most=50), finite=50),
        doc="Points per axis in a continuous world: of the optimal values that q.max_error is held against; and, in a"
        " stochastic world or under a policy that draws its actions, of those of the agent's own policy.",
        at_least=2,
    )
    quadrature: int | None = option(
        by_world(continuous=budget("true outcomes", 32, at_most=5), finite=None),
        doc="Nodes for each random number of a stochastic world.",
        at_least=1,
        at_most=64,
    )


@dataclass(frozen=True)
class FitSection:
    """The Bellman residual that the extracted model leaves: it needs no truth."""


@dataclass(frozen=True)
class Width:
    """The identified set: the least and the greatest probability among all kernels that fit."""

    slack: float = option(1e-9, doc="How much more than the least l1 residual still counts as a fit.", at_least=0)


@dataclass(frozen=True)
class Identify:
    """How much of the world the values pin down."""

    rank_tolerance: float = option(
        by_world(continuous=1e-3, finite=1e-9),
        doc="Singular values below this fraction count as 0: of the largest one of M; in a continuous world of the"
        " largest one of its slopes, mean over states.",
        above=0,
    )
    states: Literal["uniform", "reset"] | None = option(
        by_world(endless="reset", continuous="uniform", finite=None),
        doc="Next states at which the slopes of M are taken, in a continuous world.",
    )
    samples: int | None = option(by_world(continuous=4_000, finite=None), doc="How many of them.", at_least=1)
    width: Width | None = option(None, doc="Ask for the identified set (many linear programs).")
    bounds: tuple[Literal["theorem_2b", "theorem_3c"], ...] = option(
        (), doc="Theorems whose bounds are evaluated for this agent."
    )
    when: Literal["final", "checkpoints"] = option("final", doc="At the final agent, or at each checkpoint.")


@dataclass(frozen=True)
class UnseenGoal:
    """A goal that the agent never saw."""

    reach: Any = option(None, doc="The state or cell to reach, or values of named variables.", schema=POINT, whole=True)
    reach_any: Any = option(None, doc="Several of them; any will do.", schema=list_of(POINT, minItems=1), whole=True)
    within: Any = option(
        None,
        doc="States nearer than this count as reached, in a continuous world.",
        schema=by_type(number=NUMBER, string=NUMBER, object=mapping_of(NUMBER)),
    )
    avoid: Any = option(
        None,
        doc="Cells, states or a region (an expression) that end the episode with no reward.",
        schema=by_type(string={"x-wmlab": "condition"}, array=list_of(POINT), object=mapping_of(NUMBER)),
        whole=True,
    )

    wraps: bool = option(
        True,
        doc="Whether distances of periodic variables go the short way round; false measures them along their ranges,"
        " as if these ended where they begin anew.",
    )
    watch: tuple[str, ...] = option(
        (),
        doc="Variables of a continuous world whose greatest size on the best way, if nothing had to be avoided, is told"
        " (unseen.<goal>.free_peak.<variable>).",
    )

    @property
    def targets(self) -> list[Any]:
        """What to reach: any of these will do."""
        return [self.reach] if self.reach is not None else list(self.reach_any)


@dataclass(frozen=True)
class GuaranteeSection:
    """Plan over every kernel that explains the values: the return that is certain, and the one that is possible."""

    slack: float = option(
        1e-9,
        doc="How much more than the least l1 residual still counts as a fit. What is certain holds in the true world "
        "where that fits, too: exact values need rounding, values that are off by ε in l1 over goals (1 + γ m) ε.",
        at_least=0,
    )


@dataclass(frozen=True)
class Unseen:
    """Plan in the extracted model for goals that the agent never saw, act in the true world."""

    goals: dict[str, UnseenGoal] = option(doc="Name: what to reach and what to avoid.")
    solver: SolverChoice = option(
        by_world(
            wide={"kind": "sampling"},
            continuous={"kind": "grid_value_iteration"},
            finite={"kind": "value_iteration"},
        ),
        doc="How plans are made.",
    )
    starts: Any = option(
        by_world(continuous="reset", finite="all"), doc="Where plans are tried from.", schema=words_or_count(*STATES)
    )
    when: Literal["final", "checkpoints"] = option("final", doc="With the final agent's model, or at each checkpoint.")
    discount: float | None = option(None, doc="Discount of the return; the agent's by default.", at_least=0, below=1)
    guarantee: GuaranteeSection | None = option(
        None, doc="Ask for the returns that are certain and possible over all kernels that fit, in a finite world."
    )


@dataclass(frozen=True)
class Design:
    """Which goal to add: candidates ranked by what exact values of them would tell, before anything is trained."""

    candidates: Any = option(
        "all",
        doc="The goals that could be added, as under goals.at; those that are there count no more.",
        schema=GOALS_AT,
        whole=True,
    )
    by: Literal["guarantee", "width"] | None = option(
        None,
        doc="guarantee: the certain return, mean over the unseen goals. width: the widest interval of a probability, "
        "mean over states and actions. By default guarantee where there are unseen goals.",
    )
    using: Literal["truth", "model", "prior"] | None = option(
        None,
        doc="The world whose exact values are taken: the true one (the default where it is known), the extracted model,"
        " or worlds that extract.prior.support allows, drawn at random, others for each seed, whose mean counts: no"
        " values and no truth are needed for that.",
    )
    worlds: int = option(8, doc="prior: how many worlds are drawn.", at_least=1, at_most=100)
    slack: float = option(1e-9, doc="How much more than the least l1 residual still counts as a fit.", at_least=0)


@dataclass(frozen=True)
class Regression:
    """A model fitted to transitions that the agent saw in its training: what the data could have given."""

    transitions: int = option(
        100_000,
        doc="How many transitions of a training are kept, evenly over it. Asking for another number trains anew.",
        at_least=1,
        at_most=10_000_000,
    )


@dataclass(frozen=True)
class Combination:
    """Acting on the linear combination of the trained values whose rewards come nearest to those of an unseen goal."""


@dataclass(frozen=True)
class Baselines:
    """What the extracted model is to be seen beside."""

    regression: Regression | None = option(None, doc="wm.regression_*, unseen.<goal>.r_regression: of a trained agent.")
    combination: Combination | None = option(
        None, doc="unseen.<goal>.r_combined: successor features would act so, if they were enough."
    )


@dataclass(frozen=True)
class Look:
    """What a report draws over two variables of a continuous world: values, what an action does, and ways."""

    across: tuple[str, ...] | None = option(None, doc="Two state variables; the first two by default.", whole=True)
    at: dict[str, Any] = option(
        {}, doc="Where the other variables stand; midway among the starts by default.", schema=mapping_of(NUMBER)
    )
    goal: int = option(0, doc="The training goal whose values and ways are drawn, by its position.", at_least=0)
    action: str | None = option(None, doc="The action whose displacements are drawn; the last by default.")
    starts: int = option(4, doc="Starts from which ways in the world and in the model are drawn.", at_least=1)


@dataclass(frozen=True)
class Evaluate:
    """What is measured."""

    return_: Return | None = option(None, doc="agent.return")
    model_error: ModelError | None = option(None, doc="wm.*: needs true dynamics.")
    disagreement: Disagreement | None = option(
        None, doc="wm.disagreement: of an ensemble (extract.ensemble), or of several agents; needs no truth."
    )
    value_error: ValueError_ | None = option(None, doc="q.*: needs true dynamics.")
    fit: FitSection | None = option(None, doc="fit.*: needs no truth.")
    identify: Identify | None = option(None, doc="ident.* and bound.*: needs no truth, but for the bounds.")
    unseen: Unseen | None = option(None, doc="unseen.<goal>.*")
    design: Design | None = option(None, doc="design.*: which goal to add; in a finite world.")
    baselines: Baselines | None = option(None, doc="What else could be had: from the data, and from the values alone.")
    look: Look | None = option(None, doc="Figures of one run: values, displacements and ways beside the truth.")
    explore: Literal["auto", "off"] | Explore = option(
        "auto",
        doc="The explorer of the page: states and actions of one run to look at, model and truth side by side."
        " `auto`: as much as the page has room for. `off`: none.",
    )


@dataclass(frozen=True)
class ExperimentSpec:
    """One experiment of a study: what a spec says at a point, once everything is resolved."""

    mdp: WorldChoice
    goals: GoalsSection
    agent: AgentChoice
    data: DataSection | None = None
    extract: ExtractionChoice | None = None
    evaluate: Evaluate = Evaluate()

    @property
    def against_data(self) -> bool:
        """Whether the model is held against logged transitions."""
        error = self.evaluate.model_error
        return error is not None and error.against == "data"

    @property
    def explorer(self) -> Explore | None:
        """What the explorer of a page keeps; None where none is wanted, NothingToExplore where there can be none."""
        asked = self.evaluate.explore
        if isinstance(asked, Explore):
            return asked
        if asked == "off":
            return None
        space = self.mdp.space
        acts = not getattr(space, "in_box", False) or self.agent.get("actor") is not None
        return automatic_explorer(space, self.mdp.knows_truth and self.evaluate.value_error is not None, acts)

    @property
    def plan_discount(self) -> float | None:
        """The discount that plans for unseen goals are judged by; the agent's own where none is said."""
        unseen = self.evaluate.unseen
        said = None if unseen is None else unseen.discount
        return self.agent.options.discount if said is None else said

    @property
    def ranks_by(self) -> str | None:
        """What candidates for a further goal are ranked by; None where nobody asks."""
        design, unseen = self.evaluate.design, self.evaluate.unseen
        if design is None:
            return None
        return design.by or ("guarantee" if unseen is not None and unseen.goals else "width")
