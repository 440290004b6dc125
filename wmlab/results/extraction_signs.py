"""Signs in what an extraction says of itself: a bad fit, not settled, a choice among equals, no world; and rates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from wmlab.results.point_facts import PointFacts, Sign, percent, shown

FALLING = 0.1  # of the loss, in the last fifth of a fit
LEFT, MUCH_LEFT = 0.2, 0.5  # of how much values vary, that a model leaves unexplained
OFF = 0.01  # of a probability: what an unfinished descent may still be off by, or a pseudo-world leaves the simplex by


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
    extract = facts.experiment.extract
    if extract is None or not extract.prior or not has_exact_values(facts):
        return
    for seed, notes in facts.notes():
        misfit = notes.get("misfit")
        if misfit and misfit["pairs"]:
            sentence = f"seed {seed}: extract.prior.support rules out every kernel that explains the values at "
            yield Sign("prior_rules_out", "failed", sentence + where_worst(misfit), float(misfit["pairs"]))


def assumed_too_much(facts: PointFacts) -> Iterator[Sign]:
    """A method for worlds of few successors, before exact values that no such world explains."""
    extract = facts.experiment.extract
    if extract is None or extract.prior or not has_exact_values(facts):
        return
    one, few = extract.traits.model_is_deterministic(extract.options), extract.traits.sparse_support(extract.options)
    if not one and few is None:
        return
    misfits = [notes["misfit"] for _, notes in facts.notes() if notes.get("misfit")]
    worst = max(misfits, key=lambda misfit: float(misfit["pairs"]), default=None)
    if worst is not None and worst["pairs"]:
        assumed = "one successor" if one else f"at most {few} successors"
        sentence = f"{extract.name} looks for {assumed} each, and nothing of the kind explains the exact values at "
        yield Sign("assumed_too_much", "doubtful", f"{sentence}{where_worst(worst)}.", float(worst["pairs"]))


def has_exact_values(facts: PointFacts) -> bool:
    agent = facts.experiment.agent
    return agent.get("approximate") is None and agent.traits.values(agent.options) in ("exact", "of another world")


def where_worst(misfit: Mapping[str, Any]) -> str:
    """At how many pairs a model does not fit, and at which it fits worst."""
    worst = misfit["worst"]
    return (
        f"{misfit['pairs']} of {misfit['of']} pairs of state and action; the worst is {worst['state']}, "
        f"{worst['action']} (residual {worst['residual']:.2g})"
    )


def not_settled(facts: PointFacts) -> Iterator[Sign]:
    """An extraction that was still under way when its budget was spent."""
    notes, fall = facts.worst("may_be_off"), facts.extraction("still_falling")
    if notes and notes["may_be_off"] > OFF:
        off, sentence = float(notes["may_be_off"]), "The extraction has not settled: "
        if notes.get("diverged"):
            sentence += "it diverges; take extract.step_size below 1."
        else:
            moved = f"the last of {notes['steps']} steps still moved a probability by {shown(notes['last_move'])}"
            cure = "give it more extract.steps, or take a method that needs none"
            sentence += f"{moved}, so that some may be off by {shown(off)}; {cure}."
        yield Sign("not_settled", "doubtful", sentence, off)
    elif fall is not None and fall > FALLING:
        sentence = f"The extraction has not settled: its loss fell by {percent(fall)} in the last fifth of its updates;"
        yield Sign("not_settled", "doubtful", f"{sentence} give it more extract.steps.", fall)


CHOICES = {  # what a note counts: what is said of it
    "ties": "several successors explain the values equally well, and the first was taken",
    "pairs_with_another_kernel": "another choice of successors explains the values as well, and the first was taken",
    "moved_by_tie_break": "several kernels explain the values equally well, and that nearest to uniform was taken",
    "left_at_a_vertex": "rounding hid which of several kernels is nearest to uniform, and a vertex was taken",
}


def had_a_choice(facts: PointFacts) -> Iterator[Sign]:
    """Pairs of state and action at which another model would have done as well: what was taken is convention."""
    for name, said in CHOICES.items():
        notes = facts.worst(name)
        if notes and notes[name] > 0:
            of = (notes.get("misfit") or {}).get("of")
            pairs = f"{notes[name]} of {of}" if of else f"{notes[name]}"
            sentence = f"The model is not the only one: at {pairs} pairs of state and action {said}."
            yield Sign("had_a_choice", "doubtful", sentence, float(notes[name]))


def off_the_simplex(facts: PointFacts) -> Iterator[Sign]:
    """A pseudo-world: probabilities below 0, or that do not sum to one."""
    low, sums = facts.worst("least_probability", least=True), facts.worst("greatest_deviation_of_a_sum_from_one")
    below = -min(0.0, float(low.get("least_probability", 0.0)))
    beside = float(sums.get("greatest_deviation_of_a_sum_from_one", 0.0))
    if max(below, beside) <= OFF:
        return
    parts = [f"a probability is {shown(-below)}"] if below > OFF else []
    parts += [f"those of a state and action sum to one but for {shown(beside)}"] if beside > OFF else []
    sentence = f"The model is no world: {' and '.join(parts)}. Plans are made in it with its probabilities set right."
    yield Sign("off_the_simplex", "doubtful", sentence, max(below, beside))


def rates_found(facts: PointFacts) -> Iterator[Sign]:
    """What a first reading found to move by what, and a second was held to."""
    found: dict[str, list[int]] = {}
    for seed, notes in facts.notes():
        if "rates" in notes:
            pairs = [f"{name} by {rate}" for name, rate in notes["rates"].items()]
            found.setdefault(", ".join(pairs) or "none", []).append(seed)
    if not found:
        return
    parts = [f"{rates} (seeds {', '.join(map(str, seeds))})" for rates, seeds in found.items()]
    said = next(iter(found)) if len(found) == 1 else "; ".join(parts)
    held = "." if set(found) == {"none"} else "; the second was held to them."
    yield Sign("rates_found", "note", f"Rates that the first reading found: {said}{held}")


EXTRACTION_SIGNS: tuple[Callable[[PointFacts], Iterator[Sign]], ...] = (
    prior_rules_out,
    fits_no_world,
    assumed_too_much,
    off_the_simplex,
    not_settled,
    had_a_choice,
    rates_found,
)
