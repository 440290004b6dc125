"""What the explorer of a page keeps, and how much of it a page has room for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from wmlab.registry import option
from wmlab.sections.forms import NUMBER, mapping_of

EXPLORER_BYTES = 4_000_000  # of a page, of which the rest are figures and tables
AUTOMATIC_BYTES = 2_500_000  # where nobody says how much
AUTOMATIC_STATES = 2_000  # of a finite world: models of larger ones may take gigabytes side by side
MOST_VARIABLES = 4  # that can be chosen; more of them leave too few points along each
FINEST = {2: 61, 3: 21, 4: 13}  # points along each of so many variables; odd, so that the middle is one of them
COARSEST = 5
HALF, LETTERS = 2, 4 / 3  # bytes of a number as pages keep it, letters for each of them


@dataclass(frozen=True)
class Explore:
    """What the explorer of a page keeps of one run: each state of a finite world, or a grid of a continuous one."""

    goals: int = option(32, doc="Training goals whose values are kept, the first so many.", at_least=1, at_most=1000)
    successors: int = option(
        12,
        doc="In a finite world: next states of a state and an action that are kept, the likeliest first.",
        at_least=1,
        at_most=1000,
    )
    over: tuple[str, ...] | None = option(
        None,
        doc="In a continuous world: the two to four state variables that can be chosen; the first four by default.",
        whole=True,
    )
    at: dict[str, Any] | None = option(
        None,
        doc="In a continuous world: where the other variables stand; midway among the starts by default.",
        schema=mapping_of(NUMBER),
    )
    points: int | dict[str, int] | None = option(
        None,
        doc="In a continuous world: points along each of these variables, one number or a mapping by name; by default "
        "as many as a page has room for.",
        at_least=3,
        at_most=201,
    )

    def most_bytes(self, states: int, actions: int) -> int:
        """What a page would take for it in a finite world, at most: 4 bytes a number, 4 letters for each 3 of them."""
        numbers = states * actions * (5 * min(self.successors, 3 * states) + self.goals + 4)
        return numbers * 4 * 4 // 3


class NothingToExplore(Exception):
    """There is no explorer of a world where nobody asked for one; the message says why."""


def automatic_explorer(space: Any, exact: bool, acts: bool) -> Explore:
    """What is kept where nobody says: as much as fits into a part of a page, of a FiniteSpace or ContinuousSpace.

    exact: whether exact values stand beside the agent's; acts: whether it is known what the agent does.
    """
    return _of_grid(space, exact, acts) if hasattr(space, "variables") else _of_states(space)


def _of_states(space: Any) -> Explore:
    states, actions = space.size, len(space.actions)
    if states > AUTOMATIC_STATES:
        raise NothingToExplore(f"{states:_} states are too many for a page".replace("_", " "))
    for successors in (12, 8, 4, 2, 1):
        for goals in (32, 16, 8, 4, 2, 1):
            explore = Explore(goals=goals, successors=successors)
            if explore.most_bytes(states, actions) <= AUTOMATIC_BYTES:
                return explore
    raise NothingToExplore(f"{states} states with {actions} actions each are too many for a page")


def _of_grid(space: Any, exact: bool, acts: bool) -> Explore:
    if space.size < 2:
        raise NothingToExplore("it draws over two variables, and this world has one")
    if not acts:
        raise NothingToExplore("the agent comes without an actor, and nobody knows what it does")
    for variables in range(min(space.size, MOST_VARIABLES), 1, -1):
        for goals in (8, 4, 2, 1):
            numbers = numbers_at(space, goals, exact)
            points = fitting(variables, numbers, AUTOMATIC_BYTES)
            if page_bytes((points,) * variables, numbers) <= AUTOMATIC_BYTES:
                return Explore(goals=goals, over=space.names[:variables], points=points)
    raise NothingToExplore(f"{len(space.actions)} actions are too many for a page")


# --- how much a grid takes ----------------------------------------------------------------------------------------


def numbers_at(space: Any, goals: int, exact: bool) -> int:
    """Numbers at one point of the grid: values, what goals end, and under each action moves and TD errors."""
    actions = len(space.actions)
    values = goals * (actions + 1) * (2 if exact else 1)
    return values + goals + actions * 2 * (space.size + goals)


def page_bytes(sizes: tuple[int, ...], numbers: int) -> float:
    """What a page takes for a grid with so many numbers at each point."""
    return math.prod(sizes) * numbers * HALF * LETTERS


def fitting(variables: int, numbers: int, room: int = EXPLORER_BYTES) -> int:
    """As many points along each variable as there is room for, an odd number; never fewer than the coarsest."""
    size = FINEST[variables]
    while size > COARSEST and page_bytes((size,) * variables, numbers) > room:
        size -= 2
    return size
