"""Signs that a reading failed: each is a function of the numbers at one point, and a line in SIGNS."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from wmlab.results.statistics import mean
from wmlab.sections.experiment import ExperimentSpec

Severity = Literal["failed", "doubtful", "note"]

HARDLY = 0.5  # of what standing still leaves, in a model that is hardly better
GAIN = 0.05  # of the greater return: an agent that gains no more over acting at random has hardly learnt
NOWHERE = 0.05  # of R*: a plan that attains less gets nowhere
GRID = 0.05  # by how much R* may change on a grid half as fine
COARSE = 0.1  # of how much values vary, that their grid gets wrong
BEYOND = 1.02  # of R*, which no plan can exceed
FALLING = 0.1  # of the loss, in the last fifth of a fit
MOVING = 1e-6  # of a probability, in a last step of descent
LEFT, MUCH_LEFT = 0.2, 0.5  # of how much values vary, that a model leaves unexplained
OPEN = 0.01  # width of an identified interval


@dataclass(frozen=True)
class Sign:
    """Something that speaks against the reading at a point."""

    id: str
    severity: Severity
    sentence: str
    badness: float = 0.0  # to tell the worst of several
    everywhere: bool = False  # it is said of the spec, not of a point


@dataclass(frozen=True)
class PointFacts:
    """One point of a study: what was asked there, and the numbers that its seeds gave."""

    where: Mapping[str, Any]
    experiment: ExperimentSpec
    seeds: Sequence[int]
    metrics: Mapping[str, float | None]  # means over seeds
    measured: Sequence[Mapping[str, Any]]  # what the stage `measure`, or failing that `extract`, says: for each seed
    plans: Mapping[str, Sequence[Mapping[str, Any]]]  # goal: what its plan says, for each seed

    def metric(self, name: str) -> float | None:
        return self.metrics.get(name)

    def yardstick(self, name: str) -> float | None:
        """Mean over seeds of what a metric is held against."""
        return mean_number(each.get("yardsticks") or {} for each in self.measured)(name)

    def extraction(self, name: str) -> float | None:
        """Mean over seeds of what an extraction says of itself."""
        return mean_number(each.get("extraction") or {} for each in self.measured)(name)


def mean_number(parts: Iterator[Mapping[str, Any]]) -> Callable[[str], float | None]:
    """Of several mappings, the mean of what stands under a name, as far as it is a finite number."""
    known = list(parts)

    def of(name: str) -> float | None:
        values = [part.get(name) for part in known]
        return mean([value for value in values if isinstance(value, (int, float)) and math.isfinite(value)])

    return of


# --- the model --------------------------------------------------------------------------------------------------


def standing_still(facts: PointFacts) -> Iterator[Sign]:
    """A model that is no better than one in which nothing moves."""
    name = "wm.tv" if facts.experiment.mdp.sort == "finite" else "wm.delta_nmse"
    error, still = facts.metric(name), facts.yardstick("standing_still")
    if error is None or still is None or still <= 0 or error < HARDLY * still:
        return
    failed = error >= still
    words = "no better" if failed else "hardly better"
    sentence = (
        f"The model is {words} than standing still: {name} is {shown(error)}, "
        f"and a model in which nothing moves has {shown(still)}."
    )
    yield Sign("standing_still", "failed" if failed else "doubtful", sentence, error / still)


def fits_no_world(facts: PointFacts) -> Iterator[Sign]:
    """Values that no world was found to explain."""
    left = facts.extraction("unexplained")
    if left is None or left < LEFT:
        return
    sentence = (
        "No world was found that explains the agent's values: what is left of the Bellman equation is "
        f"{percent(left)} of how much the values vary."
    )
    yield Sign("fits_no_world", "failed" if left >= MUCH_LEFT else "doubtful", sentence, left)


def prior_rules_out(facts: PointFacts) -> Iterator[Sign]:
    """A support that leaves no kernel which explains exact values: then the prior is wrong, and here is where."""
    agent, extract = facts.experiment.agent, facts.experiment.extract
    moved = agent.get("approximate") is not None
    if extract is None or not extract.prior or moved:
        return
    if agent.traits.values(agent.options) not in ("exact", "of another world"):
        return
    for seed, measured in zip(facts.seeds, facts.measured, strict=True):
        misfit = (measured.get("extraction") or {}).get("misfit")
        if misfit and misfit["pairs"]:
            worst = misfit["worst"]
            sentence = (
                f"seed {seed}: extract.prior.support rules out every kernel that explains the values at "
                f"{misfit['pairs']} of {misfit['of']} pairs of state and action; the worst is {worst['state']}, "
                f"{worst['action']} (residual {worst['residual']:.2g})"
            )
            yield Sign("prior_rules_out", "failed", sentence, float(misfit["pairs"]))


def not_settled(facts: PointFacts) -> Iterator[Sign]:
    """An extraction that was still under way when its budget was spent."""
    move, fall = facts.extraction("last_move"), facts.extraction("still_falling")
    if move is not None and move > MOVING:
        sentence = f"The extraction has not settled: its last step still moved a probability by {shown(move)};"
        yield Sign("not_settled", "doubtful", f"{sentence} give it more extract.steps.", move)
    elif fall is not None and fall > FALLING:
        sentence = f"The extraction has not settled: its loss fell by {percent(fall)} in the last fifth of its updates;"
        yield Sign("not_settled", "doubtful", f"{sentence} give it more extract.steps.", fall)


def fits_many(facts: PointFacts) -> Iterator[Sign]:
    """Values that several worlds explain as well."""
    width, extract = facts.metric("ident.width"), facts.experiment.extract
    if width is not None:
        if width > OPEN:
            sentence = (
                "The values fit many worlds: a transition probability may lie anywhere in an interval of "
                f"{shown(width)} and explain them as well (ident.width)."
            )
            yield Sign("fits_many", "doubtful", sentence, width)
        return
    dimensions = facts.metric("ident.simplex_nullity")
    assumed = extract is not None and (extract.prior or extract.traits.model_is_deterministic(extract.options))
    if dimensions and not assumed:
        sentence = (
            f"The values may fit many worlds: they leave {shown(dimensions)} directions of next-state probabilities "
            "open (ident.simplex_nullity); evaluate.identify.width says how far."
        )
        yield Sign("fits_many", "note", sentence, dimensions)


# --- the agent and the plans ------------------------------------------------------------------------------------


def hardly_trained(facts: PointFacts) -> Iterator[Sign]:
    """An agent, trained here or elsewhere, that gains next to nothing over acting at random."""
    gained, chance = facts.metric("agent.return"), facts.yardstick("acting_at_random")
    traits = facts.experiment.agent.traits
    if gained is None or chance is None or not (traits.learns or not traits.acts):
        return
    scale = max(abs(gained), abs(chance))
    if gained - chance > GAIN * scale:
        return
    sentence = f"The agent is hardly trained: its return is {shown(gained)}, and acting at random gets {shown(chance)}."
    yield Sign("hardly_trained", "failed", sentence, (chance - gained) / scale if scale else 0.0)


def unseen_goals(facts: PointFacts) -> Iterator[Sign]:
    """Goals that nobody can reach, plans that get nowhere, and an R* that its grid holds down."""
    for goal in facts.plans:
        best, attained = (facts.metric(f"unseen.{goal}.{name}") for name in ("r_star", "r_wm"))
        if best is None or attained is None:
            continue
        if best <= 0:
            sentence = f"The goal {goal} is out of reach: R* is {shown(best)} from every start, so there is no ratio."
            yield Sign("out_of_reach", "doubtful", sentence)
            continue
        if attained < NOWHERE * best:
            sentence = f"The plan for {goal} gets nowhere: it attains {shown(attained)} of R* = {shown(best)}."
            yield Sign("plan_gets_nowhere", "failed", sentence, 1 - attained / best)
        yield from limited_by_grid(facts, goal, best, attained)


def limited_by_grid(facts: PointFacts, goal: str, best: float, attained: float) -> Iterator[Sign]:
    """An R* that another grid would change: a plan beats it, or a grid half as fine gives another."""
    if facts.experiment.mdp.sort == "finite":
        return
    cure = "make evaluate.unseen.solver.grid finer"
    if attained > BEYOND * best:
        sentence = f"R* of {goal} is limited by its grid: a plan made in the model attains {shown(attained)}, more than"
        yield Sign("grid_limited", "doubtful", f"{sentence} R* = {shown(best)}; {cure}.", attained / best - 1)
        return
    grids = [plan["coarser"] for plan in facts.plans[goal] if plan.get("coarser")]
    coarse = mean_number(iter(grids))("r_star")
    if coarse is None or abs(best - coarse) <= GRID * abs(best):
        return
    sizes = [" x ".join(map(str, shape)) for shape in (facts.plans[goal][0].get("shape"), grids[0]["shape"]) if shape]
    sentence = f"R* of {goal} is limited by its grid: it is {shown(best)} on {sizes[0]} points and {shown(coarse)} on"
    yield Sign("grid_limited", "doubtful", f"{sentence} {sizes[-1]}; {cure}.", abs(best - coarse) / abs(best))


def values_on_a_grid(facts: PointFacts) -> Iterator[Sign]:
    """Values that are held against those of a grid which is itself far from right."""
    error, grid = facts.metric("q.nmse"), facts.metric("q.grid_nmse")
    if grid is None or grid <= COARSE:
        return
    sure = not facts.experiment.mdp.get("noise") and facts.experiment.agent.get("policy") != "uniform"
    what = "q.max_error is" if sure or error is None else f"q.max_error and q.nmse ({shown(error)}) are"
    sentence = (
        f"{what} limited by a grid, which gets the values of the agent's own policy wrong by {shown(grid)} of their "
        "variance (q.grid_nmse); make evaluate.value_error.grid finer."
    )
    yield Sign("values_on_a_grid", "note" if sure else "doubtful", sentence, grid)


def without_truth(facts: PointFacts) -> Iterator[Sign]:
    """What a reader must know where nobody says what actions do: nothing was held against a true world."""
    if not facts.experiment.mdp.knows_truth:
        sentence = (
            "mdp.kind is unknown: nothing here is held against a true world, so there is no wm.*, q.*, agent.return, "
            "r_star, r_wm or ratio. fit.* says how well some world explains the values, ident.* how many do, and "
            "r_believed what plans are worth in the extracted model, not what they would attain."
        )
        yield Sign("without_truth", "note", sentence, everywhere=True)


SIGNS: tuple[Callable[[PointFacts], Iterator[Sign]], ...] = (
    prior_rules_out,
    hardly_trained,
    standing_still,
    fits_no_world,
    unseen_goals,
    values_on_a_grid,
    not_settled,
    fits_many,
    without_truth,
)


def shown(number: float) -> str:
    """A number in three digits."""
    return f"{number:.3g}"


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"
