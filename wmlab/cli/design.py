"""`wmlab design`: which goal to add, before anything is trained."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from wmlab.cli.common import OneSpec, Profile, Seeds, Sets, TextOrJson, Trust, aligned, changes
from wmlab.cli.screen import styled
from wmlab.errors import visible

if TYPE_CHECKING:
    from wmlab.app.design import GoalRanking

SHORT_HELP = "Rank the goals that could be added, before anything is trained."
WORLDS = {
    "truth": "in the true world",
    "model": "in the extracted model",
    "prior": "on average over worlds that the prior allows",
}
CRITERIA = {"guarantee": "certain return", "width": "mean width"}


def design(
    spec: OneSpec,
    profile: Profile = None,
    seeds: Seeds = None,
    sets: Sets = None,
    most: Annotated[int, typer.Option(help="How many goals are listed at most.", min=1, max=50, metavar="N")] = 10,
    jobs: Annotated[
        int | None, typer.Option(help="Worker processes; 0 runs everything in this process.", min=0, metavar="N")
    ] = None,
    format: TextOrJson = "text",
    trust: Trust = False,
) -> None:
    """Rank the goals that could be added by what exact values of them would make certain, or by how much they would
    narrow probabilities down: as evaluate.design says, and all states where a spec does not say it. Nothing is trained,
    but where the world is unknown: its extracted model stands in for it."""
    from wmlab.app.design import open_design, rank_goals
    from wmlab.runtime.progress import show_progress
    from wmlab.runtime.store import Store

    study = open_design(spec, profile, changes(sets, seeds))
    with show_progress(styled(sys.stderr)) as listener:
        rankings = rank_goals(study, Store(), jobs, listener)
    if format == "json":
        print(json.dumps([asdict(one) for one in rankings], indent=1))
        return
    several = len({one.seed for one in rankings}) > 1
    print("\n\n".join(ranking_text(one, several, most) for one in rankings))


def ranking_text(one: GoalRanking, several: bool, most: int) -> str:
    """One ranking as a table, under what is so now."""
    place = [f"{axis} = {label}" for axis, label in one.where.items()] + ([f"seed {one.seed}"] if several else [])
    noun = CRITERIA[one.by]
    head = f"{', '.join([one.spec, *place])}: {noun} {one.now:.4g} by exact values {WORLDS[one.using]}"
    if not one.ranking:
        return visible(f"{head}; every candidate is a goal already")
    rows = [["with", noun, "change"]]
    rows += [[goal, f"{worth:.4g}", f"{worth - one.now:+.2g}"] for goal, worth in one.ranking[:most]]
    left = len(one.ranking) - most
    tail = [f"… and {left} more"] if left > 0 else []
    return "\n".join([visible(head), *(f"  {line}" for line in [*aligned(rows, (1, 2)), *tail])])
