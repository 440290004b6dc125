"""Which wiring gives the values of a probe: the orders of inputs and actions, and a few things beside, are tried.

Shapes: N rows, A actions.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from wmlab.agents.external.expect import Mismatch
from wmlab.agents.external.in_numpy import ACTIVATIONS
from wmlab.agents.external.probe import Rows, Wired

TRIALS = 3_000  # wirings, at most
NOTHING = (
    "no order of inputs or actions gives them: were observations normalised or rewards scaled in training"
    " (wmlab import --normalise, --reward-scale), or is the file another agent's?"
)


def hold(wired: Wired, actions: Sequence[str], within: float) -> None:
    """Mismatch where values of the wired network are not those of its own library, with the wiring that fits.

    `actions` are the names of the outputs, in their order.
    """
    rows = wired.probe.rows
    places = [actions.index(name) for name in wired.space.actions]  # of the world's actions among the outputs
    found = wired.values()
    if agrees(found, rows, places, within):
        return
    raise Mismatch(difference(found, rows, places, within), "file", hint=fitting(wired, actions, within))


def hold_table(table: np.ndarray, rows: Rows, actions: Sequence[str], within: float) -> None:
    """Mismatch where values [N, A] of a table, in the world's order of actions, are not those of its own library."""
    places = list(range(len(actions)))
    if not agrees(table, rows, places, within):
        order = actions_that_fit(table, rows, len(actions), within)
        hint = None if order is None else f"they agree with {said(actions=in_order(actions, order))}"
        raise Mismatch(
            difference(table, rows, places, within), "file", hint=hint or "another agent's, or other states?"
        )


def agrees(found: np.ndarray, rows: Rows, places: Sequence[int], within: float) -> bool:
    return bool((gaps(found, rows, places) <= within * rows.scale).all())


def gaps(found: np.ndarray, rows: Rows, places: Sequence[int]) -> np.ndarray:
    """How far apart values are in each row [N]."""
    return np.abs(found[np.arange(len(found)), np.array(places)[rows.action]] - rows.value)


def difference(found: np.ndarray, rows: Rows, places: Sequence[int], within: float) -> str:
    apart = gaps(found, rows, places)
    worst = int(apart.argmax())
    ours = found[worst, places[rows.action[worst]]]
    count = int((apart > within * rows.scale).sum())
    most = f"row {worst} says {rows.value[worst]:.6g}, and here it is {ours:.6g}"
    return f"{count} of {len(apart)} values are not those of the agent's own library; {most}"


def actions_that_fit(found: np.ndarray, rows: Rows, count: int, within: float) -> list[int] | None:
    """The output of each of the world's actions, where each has one of its own; None where not."""
    apart = np.abs(found - rows.value[:, None])  # [N, A]
    worst = np.stack([apart[rows.action == action].max(axis=0) for action in range(count)])  # [A, A]
    places = worst.argmin(axis=1)
    fits = (worst[np.arange(count), places] <= within * rows.scale).all() and len({*places.tolist()}) == count
    return places.tolist() if fits else None


def in_order(actions: Sequence[str], places: Sequence[int]) -> list[str]:
    """The names of actions by their outputs."""
    return [actions[places.index(output)] for output in range(len(actions))]


def fitting(wired: Wired, actions: Sequence[str], within: float) -> str:
    """What to change so that values agree, or that nothing of what was tried does it."""
    own = [actions.index(name) for name in wired.space.actions]
    for changes in itertools.islice(wirings(wired), TRIALS):
        trial = wired.having(**changes)
        places = actions_that_fit(trial.values(), wired.probe.rows, len(own), within)
        if places is not None:
            listed = {name: list(each) if isinstance(each, tuple) else each for name, each in changes.items()}
            more = {} if places == own else {"actions": in_order(wired.space.actions, places)}
            return f"they agree with {said(**listed, **more)}"
    return scale_that_fits(wired, own, within) or NOTHING


def wirings(wired: Wired) -> Iterator[dict[str, Any]]:
    """Changes of the network's options: none, one kind of order, all of them together, then other arithmetic."""
    network, probe = wired.network, wired.probe
    orders: dict[str, list[tuple[str, ...]]] = {}
    if network.goal == "input" or "action" in network.inputs:
        orders["inputs"] = permutations(network.inputs)
    if probe.named:
        orders["observation"] = permutations(network.observation or wired.space.names)
    if probe.wanted_named:
        orders["wanted"] = permutations(wired.wanted)
    yield {}
    for name, choices in orders.items():
        yield from ({name: choice} for choice in choices[1:])
    for activation in ACTIVATIONS:
        for place in ("before", "after") if network.norm == "layer" else (network.norm_place,):
            change = {"activation": activation, "norm_place": place}
            yield {name: value for name, value in change.items() if value != getattr(network, name)}
    for together in itertools.product(*(choices for choices in orders.values())):
        changed = dict(zip(orders, together, strict=True))
        yield {name: order for name, order in changed.items() if order != orders[name][0]}


def permutations(words: Sequence[str]) -> list[tuple[str, ...]]:
    """The orders of some words, the own one first; of many words only exchanges of two."""
    own = tuple(words)
    if len(own) <= 5:
        return list(itertools.permutations(own))
    swaps = []
    for one, two in itertools.combinations(range(len(own)), 2):
        order = list(own)
        order[one], order[two] = order[two], order[one]
        swaps.append(tuple(order))
    return [own, *swaps]


def scale_that_fits(wired: Wired, own: Sequence[int], within: float) -> str | None:
    """A factor between the values here and there, where there is one."""
    rows = wired.probe.rows
    found = wired.values()
    ours = found[np.arange(len(found)), np.array(own)[rows.action]]
    factor = float(ours @ rows.value / (rows.value @ rows.value)) if rows.value.any() else 0.0
    if factor > 0 and agrees(found / factor, rows, own, within):
        return f"they agree when divided by {factor:.6g}: wmlab import --reward-scale {factor:.6g}"
    return None


def said(**options: Any) -> str:
    """'inputs: [state, goal] and actions: [left, right]'."""
    words = [
        f"{name}: [{', '.join(each)}]" if isinstance(each, list) else f"{name}: {each}"
        for name, each in options.items()
    ]
    return " and ".join(words) or "what is said"
