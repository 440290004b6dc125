"""Tables over all states: what a method needs where no support says which states may follow.

Shapes: S states, A actions, K candidates.
"""

from __future__ import annotations

from collections.abc import Iterator

from wmlab.core.finite.space import FiniteSpace
from wmlab.core.memory import gib, physical_memory
from wmlab.extraction.options import Common, Prior, Support, check_common, entries
from wmlab.registry import Finding, Scope


def check_dense(options: Common, scope: Scope) -> Iterator[Finding]:
    """The check of a method that holds a probability for every candidate of every state and action."""
    wrong = list(check_common(options, scope))
    yield from wrong
    if not wrong:
        method = "this method" if scope.extract is None else scope.extract.name
        hint = "give extract.prior.support, or take another method"
        yield from check_table(method, options.prior, scope, ("prior", "support"), hint)


def check_table(
    what: str, prior: Prior | None, scope: Scope, path: tuple[str, ...], hint: str, tables: int = 1
) -> Iterator[Finding]:
    """Whether so many arrays [S, A, K] fit into this machine's memory, before anything runs."""
    space = scope.space
    if not isinstance(space, FiniteSpace):
        return
    support = prior.support if prior else None
    if support is not None and _lists_all(support, space):
        return
    states, actions, there = space.size, len(space.actions), physical_memory()
    needed = tables * 8 * states * actions * states
    if needed <= there:
        return
    lack = "without a support prior" if support is None else "with a support that leaves out states"
    shape = " x ".join(f"{count:,}".replace(",", " ") for count in (states, actions, states))
    arrays = "an array" if tables == 1 else f"{tables} arrays"
    message = f"{what} {lack} needs {arrays} of {shape} numbers ({gib(needed)} GiB, and there are {gib(there)})"
    yield Finding(path, message, hint if support is None else "list the successors of every state and action")


def _lists_all(support: Support, space: FiniteSpace) -> bool:
    """Whether a support speaks of every state and action; what a table leaves out may lead anywhere."""
    if support.kind == "neighbours":
        return True
    rows = {(space.index(state), action) for state, action, _ in entries(support.of)}
    whole = {state for state, action in rows if action is None}
    listed = sum(action is not None and state not in whole for state, action in rows)
    return len(whole) * len(space.actions) + listed == space.size * len(space.actions)
