"""Signs that a reading failed: each is a function of the numbers at one point, and a line in SIGNS."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from wmlab.measure.chance import bend, hidden
from wmlab.results.extraction_signs import EXTRACTION_SIGNS
from wmlab.results.identified import not_identified
from wmlab.results.point_facts import PointFacts, Sign, mean_number, shown

HARDLY = 0.5  # of what standing still leaves, in a model that is hardly better
GAIN = 0.05  # of the greater return: an agent that gains no more over acting at random has hardly learnt
NOWHERE = 0.05  # of R*: a plan that attains less gets nowhere
GRID = 0.05  # by how much R* may change on a grid half as fine
COARSE = 0.1  # of how much values vary, that their grid gets wrong
BEYOND = 1.02  # of R*, which no plan can exceed
PAID = 1e-3  # by which rewards may differ from what was logged, on average
OPEN = 0.01  # width of an identified interval


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
    dimensions, lost = facts.metric("ident.simplex_nullity"), facts.metric("ident.nullity")
    if extract is not None and lost and dimensions == 0 and not extract.traits.stays_in_simplex(extract.options):
        sentence = (
            f"M has not full rank (ident.nullity is {shown(lost)}), so that {extract.name} may miss. One kernel alone "
            "whose probabilities sum to one explains the values (ident.simplex_nullity is 0): lp finds it."
        )
        yield Sign("rank_lost", "doubtful", sentence, lost)
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


def chance_unseen(facts: PointFacts) -> Iterator[Sign]:
    """A spread of next states that values are not good enough to show, in a model that has one."""
    error, ratio = facts.metric("agent.td_error"), facts.metric("wm.sd_ratio")
    bent = bend(facts.experiment) if error is not None and ratio is not None else None
    if error is not None and bent is not None and (sentence := hidden(bent, error)):
        yield Sign("chance_unseen", "doubtful", sentence, error / bent.most)


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
    if facts.experiment.mdp.knows_truth:
        return
    if facts.experiment.against_data:
        sentence = (
            "mdp.kind is unknown: wm.* is held against logged transitions alone, and says nothing of states and "
            "actions that were never logged; there is no q.*, agent.return, r_star, r_wm or ratio, and r_believed is "
            "what plans are worth in the extracted model, not what they would attain."
        )
        yield Sign("without_truth", "note", sentence, everywhere=True)
    else:
        sentence = (
            "mdp.kind is unknown: nothing here is held against a true world, so there is no wm.*, q.*, agent.return, "
            "r_star, r_wm or ratio. fit.* says how well some world explains the values, ident.* how many do, and "
            "r_believed what plans are worth in the extracted model, not what they would attain."
        )
        yield Sign("without_truth", "note", sentence, everywhere=True)


def rewards_differ(facts: PointFacts) -> Iterator[Sign]:
    """Goals that do not pay what was logged: then M is that of other goals than the agent's."""
    off = facts.metric("data.reward_error")
    if off is not None and off > PAID:
        sentence = (
            f"The goals of this spec do not pay what was logged: the difference is {shown(off)} on average "
            "(data.reward_error). Radius, scale and sign of the reward decide what values mean."
        )
        yield Sign("rewards_differ", "doubtful", sentence, off)


SIGNS: tuple[Callable[[PointFacts], Iterator[Sign]], ...] = (
    not_identified,
    rewards_differ,
    hardly_trained,
    standing_still,
    *EXTRACTION_SIGNS,
    unseen_goals,
    values_on_a_grid,
    chance_unseen,
    fits_many,
    without_truth,
)
