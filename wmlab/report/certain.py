"""What is certain and what is possible of returns, over one axis or goal by goal, as a figure shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wmlab.report.data import Results
from wmlab.report.series import return_of
from wmlab.report.text import compact, number

RETURNS = {  # metric: what it is called in a figure
    "r_certain": "certain",
    "r_possible": "possible",
    "r_star": "R*, optimal policy",
    "r_cautious": "the cautious policy attains",
    "r_wm": "Rᵂᴹ, planned in one model",
}


@dataclass(frozen=True)
class CertainReturns:
    """Between which bounds returns lie at each place, and what policies attain there; means over seeds."""

    goal: str  # empty where places are goals
    x_label: str
    labels: tuple[str, ...]
    returns: Mapping[str, tuple[float | None, ...]]  # metric: at each place; only those that were measured


def certain_returns(results: Results) -> list[CertainReturns]:
    """A figure for each unseen goal over the only axis, or one of all goals where there is none."""
    metrics = dict.fromkeys(str(entry.get("metric")) for entry in (results.get("metrics") or {}).values())
    goals = [name.split(".")[1] for name in metrics if name.startswith("unseen.") and name.endswith(".r_certain")]
    goals = [goal for goal in goals if goal != "mean"]
    axes = results.get("axes") or {}
    if len(axes) > 1 or not goals:
        return []
    if not axes:
        return [_figure(results, "", "unseen goal", [(goal, goal, {}) for goal in goals])]
    axis, described = next(iter(axes.items()))
    return [
        _figure(results, goal, str(axis), [(compact(at), goal, {axis: at}) for at in described["values"]])
        for goal in goals
    ]


def _figure(
    results: Results, title: str, x_label: str, places: Sequence[tuple[str, str, Mapping[str, Any]]]
) -> CertainReturns:
    """`places` are labels, goals and points."""
    known = {
        name: tuple(return_of(results, f"unseen.{goal}.{name}", where)[0] for _, goal, where in places)
        for name in RETURNS
    }
    measured = {name: values for name, values in known.items() if any(value is not None for value in values)}
    return CertainReturns(title, x_label, tuple(label for label, _, _ in places), measured)


def describe(figure: CertainReturns) -> str:
    """The figure in a sentence, for those who do not see it."""
    parts = [
        f"{label}: " + ", ".join(f"{RETURNS[name]} {number(values[place])}" for name, values in figure.returns.items())
        for place, label in enumerate(figure.labels)
    ]
    goal = f" on {figure.goal}" if figure.goal else ""
    return f"Returns{goal} by {figure.x_label}. " + "; ".join(parts) + "."
