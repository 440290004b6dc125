"""A spec as a whole, and what it asks of its results: claims, comparisons, relations and drawings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from wmlab.limits import LET_NAMES, NAME_CHARACTERS, PROFILES, SUITE_MEMBERS
from wmlab.registry import AgentChoice, ExtractionChoice, WorldChoice, by_type, by_world, option
from wmlab.sections.data import DataSection
from wmlab.sections.experiment import Evaluate, GoalsSection
from wmlab.sections.figure_style import FigureStyle
from wmlab.sections.forms import BOUND, BY, FREE, NAME, NUMBER, SEED, SEEDS, TEXT, list_of, mapping_of, named

TESTS = ("at_most", "at_least", "equals", "between")


@dataclass(frozen=True)
class ClaimBound:
    """A bound that is another result, scaled and shifted."""

    metric: str | None = None  # the claim's own by default
    by: dict[str, Any] | None = None  # the claim's own by default
    where: dict[str, Any] | None = None  # where it differs from the claim's point
    times: float | str = 1.0  # or an expression
    plus: float | str = 0.0


BoundOption = ClaimBound | int | float | str | None  # a number, an expression, or another result


@dataclass(frozen=True)
class Difference:
    """What a metric is held against, seed by seed."""

    to: dict[str, Any] = option(doc="Axis: the label at which the metric is taken off, where it differs from `where`.")


Statistic = Literal["mean", "each_seed", "ci_low", "ci_high", "iqm", "iqm_ci_low", "iqm_ci_high", "p_value"]


@dataclass(frozen=True)
class Claim:
    """What is expected of a metric, and what the paper says."""

    metric: str = option(doc="Name of a metric that this spec makes.")
    by: dict[str, Any] = option(
        {},
        doc="A part of the metric's breakdown, such as {dimension: velocity}: a label, a list of labels, or all.",
        schema=BY,
        whole=True,
    )
    where: dict[str, Any] = option({}, doc="Axis: a label, a list of labels, or all; step: final, first or all.")
    across: tuple[str, ...] = option(
        (), doc="Axes whose points count together: every run at any of them is one, and intervals draw within points."
    )
    difference: Difference | None = option(
        None, doc="Tests the metric here less the metric there, seed by seed: {to: {variant: plain}}."
    )
    statistic: Statistic = option(
        "mean",
        doc="What of the runs is tested: their mean, each_seed by itself, ends of the mean's 95 % interval (ci_low,"
        " ci_high), the inter-quartile mean (iqm) and the ends of its interval, or the p_value of a difference.",
    )
    at_most: BoundOption = option(None, doc="Holds when the metric is no greater.", schema=BOUND)
    at_least: BoundOption = option(None, doc="Holds when the metric is no less.", schema=BOUND)
    equals: BoundOption = option(None, doc="Holds when the metric is this.", schema=BOUND)
    within: float = option(0.0, doc="How far from `equals` still holds.", at_least=0)
    between: tuple[BoundOption, ...] | None = option(
        None, doc="Holds when the metric lies in this closed range.", schema=list_of(BOUND, minItems=2, maxItems=2)
    )
    paper: float | None = option(None, doc="What the paper reports; shown beside the measurement.")
    paper_interval: tuple[float, ...] | None = option(
        None,
        doc="The interval that the paper gives around its figure; shown beside ours.",
        schema=list_of(NUMBER, minItems=2, maxItems=2),
    )
    source: str = option("", doc="Where the paper says so, or `ours`.")

    @property
    def tests(self) -> dict[str, Any]:
        """The bound of each test that the claim has: of one, or of none."""
        bounds = {test: getattr(self, test) for test in TESTS}
        return {test: bound for test, bound in bounds.items() if bound is not None}

    @property
    def of_runs(self) -> bool:
        """Whether more is asked than a result has by itself: of several points, a difference, another statistic."""
        plain = ("mean", "each_seed", "ci_low", "ci_high")
        return bool(self.across) or self.difference is not None or self.statistic not in plain

    @property
    def step(self) -> str | int:
        step: str | int = self.where.get("step", "final")
        return step

    @property
    def labels(self) -> dict[str, Any]:
        """Axis: a label, a list of them, or all."""
        return {axis: wanted for axis, wanted in self.where.items() if axis != "step"}


@dataclass(frozen=True)
class Compare:
    """The distance between this spec's model and another's; seeds pair."""

    with_: str = option(doc="The other spec, a path relative to this one.")
    distance: Literal["nmse", "mse", "tv"] = option(
        by_world(continuous="nmse", finite="mse"), doc="Measure of distance."
    )
    states: Literal["all", "uniform", "reset"] = option(
        by_world(endless="reset", otherwise="uniform"), doc="States that it is taken over."
    )
    samples: int = option(10_000, doc="How many states are sampled in a continuous world.", at_least=1)


@dataclass(frozen=True)
class Bootstrap:
    """A confidence interval by resampling."""

    resample: Literal["points", "seeds", "both"] = option(
        "points",
        doc="What is drawn with replacement: whole points with their means over seeds, the seeds within each point, or"
        " points and then the seeds of each.",
    )
    method: Literal["percentile", "bca"] = option(
        "percentile", doc="How ends are taken: as percentiles of the draws, or corrected for bias and acceleration."
    )
    resamples: int = option(2_000, doc="How often.", at_least=10)
    level: float = option(0.95, doc="Level of the interval.", above=0, below=1)
    seed: int = option(0, doc="Seed of the draws.", at_least=0)


CORRELATIONS = ("spearman", "pearson", "kendall")  # what there is a partial form of


@dataclass(frozen=True)
class Relate:
    """A correlation or slope across the points of a sweep."""

    x: str = option(doc="A metric, or axis.<name>.")
    y: str = option(doc="A metric, or axis.<name>.")
    across: tuple[str, ...] = option(doc="The axes whose points are related.")
    statistics: tuple[Literal["spearman", "pearson", "kendall", "slope", "loglog_slope"], ...] = option(
        doc="What is computed."
    )
    where: dict[str, Any] = option({}, doc="Labels of the other axes; step: final, first or all.")
    over: Literal["points", "training"] = option(
        "points",
        doc="Points beside each other; or, within each point, its checkpoints, and the mean of that over points.",
    )
    given: str | None = option(None, doc="A metric that is held fixed: correlations are partial ones.")
    bootstrap: Bootstrap | None = option(None, doc="A confidence interval by resampling.")

    @property
    def quantities(self) -> tuple[str, ...]:
        """The metrics and axes that it reads."""
        return (self.x, self.y) if self.given is None else (self.x, self.y, self.given)


@dataclass(frozen=True)
class CurvesSection:
    """Metrics against training steps."""

    metrics: tuple[str, ...] = option(doc="One panel each.")
    one_line_per: str | None = option(None, doc="The axis whose labels are lines.")
    slices: tuple[dict[str, Any], ...] = option((), doc="Which points: labels of the other axes.")


@dataclass(frozen=True)
class Maps:
    """Values over the map, with the optimal and the model's way."""

    where: dict[str, Any] = option({}, doc="The point to draw: a label for each axis.")
    goals: tuple[str, ...] = option((), doc="Which unseen goals; all by default.")
    errors: Literal["drawn", "every_point"] = option(
        "drawn", doc="Where models of a continuous world are wrong: at the point drawn, or at every point side by side."
    )


@dataclass(frozen=True)
class Heatmaps:
    """Metrics over two axes."""

    metrics: tuple[str, ...] = option(doc="One panel each.")
    rows: str = option(doc="An axis.")
    columns: str = option(doc="Another axis.")


@dataclass(frozen=True)
class Scatters:
    """Relations drawn point by point, with correlations and intervals; over training where they are taken there."""

    relations: tuple[str, ...] = option(doc="Names in `relate`.")
    colours: tuple[str, ...] = option((), doc="Axes whose labels are colours, a figure each; the first one by default.")


@dataclass(frozen=True)
class AskedFigure:
    """A figure of one's own: a metric over an axis of the sweep, as one chooses."""

    metric: str = option(doc="What is drawn.")
    over: str | None = option(None, doc="The axis whose labels stand side by side; a scatter has none.")
    as_: Literal["line", "bar", "heatmap", "scatter", "distribution"] = option(
        "line", doc="How: distribution shows each seed; scatter shows each point of the sweep against another metric."
    )
    by: str | None = option(None, doc="An axis whose labels are lines, bars, rows of a heatmap, or colours.")
    against: str | None = option(None, doc="Of a scatter: the metric across.")
    facets: tuple[str, ...] = option((), doc="Axes with a panel for each combination of their labels.")
    scale: Literal["linear", "log"] = option("linear", doc="Of the metric.")
    across: Literal["even", "linear", "log"] = option(
        "even",
        doc="Where the labels of `over` stand: side by side, or by their numbers. Of a scatter: its other metric.",
    )
    title: str = option("", doc="A sentence in place of the figure's name.")


@dataclass(frozen=True)
class TableCell:
    """What a table of a suite says in one place, and the claims that bear it out."""

    says: str = option(doc="The words of the cell.")
    source: str = option("", doc="Where they come from.")
    claims: tuple[str, ...] = option((), doc="Claims of members, as spec.claim: their measurements stand in the cell.")


@dataclass(frozen=True)
class TableRow:
    """One line of a table."""

    name: str = option(doc="What stands at its head.")
    cells: tuple[TableCell, ...] = option(doc="A cell for each column.")


@dataclass(frozen=True)
class ReportTable:
    """A table of a suite: statements, each beside what was measured of it."""

    title: str = option(doc="The heading.")
    columns: tuple[str, ...] = option(doc="The columns, in order.")
    rows: tuple[TableRow, ...] = option(doc="The lines, in order.")
    caption: str = option("", doc="A sentence above the table.")


@dataclass(frozen=True)
class Report:
    """What to draw; it is in no stage's key."""

    curves: CurvesSection | None = option(None, doc="Metrics against training steps.")
    maps: Maps | None = option(None, doc="Values over the map.")
    heatmaps: Heatmaps | None = option(None, doc="Metrics over two axes.")
    scatters: Scatters | None = option(None, doc="Relations across points, each point with its errors.")
    figures: dict[str, AskedFigure] | None = option(
        None, doc="Name: a figure of one's own, of any metric over any axis.", schema=None
    )
    style: FigureStyle | None = option(None, doc="How figures look, all of a page alike.")
    tables: tuple[ReportTable, ...] = option((), doc="Of a suite: statements, each beside what was measured of it.")


@dataclass(frozen=True)
class Spec:
    """A wmlab spec: one experiment, or a suite of them."""

    wmlab: Literal[1] = option(doc="Version of the language.")
    name: str | None = option(
        None,
        doc="Identity of the experiment; a file without one is a fragment.",
        schema={"type": "string", "pattern": NAME, "maxLength": NAME_CHARACTERS},
    )
    title: str = option("", doc="What is asked, in a sentence.")
    extends: Any = option(
        None,
        doc="The spec that this one builds on, or a list of them, laid over each other in this order: relative paths.",
        schema=by_type(string={}, array=list_of(TEXT, minItems=1, uniqueItems=True)),
    )
    let: dict[str, Any] = option(
        {},
        doc="Named numbers, in order; later ones may use earlier ones.",
        schema={**mapping_of(NUMBER), "maxProperties": LET_NAMES},
    )
    mdp: WorldChoice | None = option(None, doc="The world.")
    goals: GoalsSection | None = option(None, doc="What the agent was trained to want.")
    agent: AgentChoice | None = option(None, doc="Whose values are inverted.")
    data: DataSection | None = option(None, doc="Logged transitions, where nobody has a simulator, or beside one.")
    extract: ExtractionChoice | None = option(None, doc="How the world model is read out.")
    evaluate: Evaluate = option({}, doc="What is measured.")
    compare: dict[str, Compare] = option({}, doc="Distances to other specs' models.")
    relate: dict[str, Relate] = option({}, doc="Correlations and slopes across points.")
    sweep: Any = option(
        {},
        doc="Axis: {path: values}; axes multiply, paths inside one axis move together.",
        schema=mapping_of(
            {
                **mapping_of(by_type(array={"minItems": 1}, object={"minProperties": 1})),
                "minProperties": 1,
                "x-whole": True,
            },
            NAME,
        ),
    )
    variants: Any = option({}, doc="Name: overlay; one axis called variant.", schema=mapping_of(FREE, NAME))
    seeds: Any = option(
        1,
        doc="How many runs, or which seeds.",
        schema=by_type(integer=SEEDS, string=SEEDS, array=list_of(SEED, minItems=1, uniqueItems=True)),
    )
    claims: dict[str, Claim] = option({}, doc="What is expected, beside what the paper says.")
    assumptions: dict[str, str] = option({}, doc="Path: what the paper leaves open and what was taken.")
    report: Report = option({}, doc="What to draw.")
    profiles: Any = option(
        {},
        doc="Name: overlay on the same question with another budget.",
        schema=mapping_of(FREE, NAME) | named(NAME, PROFILES),
    )
    default_profile: str | None = option(None, doc="The profile that `wmlab run` takes when none is named.")
    suite: tuple[str, ...] | None = option(
        None,
        doc="Specs that make up a suite: paths relative to this one.",
        schema=list_of(TEXT, minItems=1, maxItems=SUITE_MEMBERS, uniqueItems=True),
    )
