"""Figures of one's own that cannot be drawn: each mistake at its line, before anything runs."""

from __future__ import annotations

import math
from collections.abc import Iterator

from wmlab.errors import SpecError
from wmlab.sections.spec import AskedFigure
from wmlab.spec.check.claim_scope import ClaimScope
from wmlab.spec.check.claims import never_made, unknown_axis_errors
from wmlab.spec.yaml.node import Node

MOST_PANELS = 24


def figure_errors(node: Node, name: str, figure: AskedFigure, scope: ClaimScope) -> Iterator[SpecError]:
    """What is wrong with one figure of `report.figures`."""
    path = f"report.figures.{name}"
    for key, metric in (("metric", figure.metric), ("against", figure.against)):
        if metric is None or scope.known is None:
            continue
        if metric not in scope.known:
            yield SpecError(node.near([key]).source, f"{path}.{key}", *never_made(metric, scope.known))
        elif metric in scope.across:
            message = f"{metric} is one number over all points, so there is no axis to draw it over"
            yield SpecError(node.near([key]).source, f"{path}.{key}", message)
    yield from parts_errors(node, path, figure)
    unknown = False
    for key, axis in (("over", figure.over), ("by", figure.by)):
        if axis is not None and axis not in scope.axes:
            unknown = True
            yield from unknown_axis_errors(node.near([key]), [axis], ("report", "figures", name, key), scope)
    for place, axis in enumerate(figure.facets):
        if axis not in scope.axes:
            unknown = True
            where = ("report", "figures", name, "facets", place)
            yield from unknown_axis_errors(node.near(["facets", place]), [axis], where, scope)
    if not unknown:
        yield from axis_errors(node, path, figure, scope)


def parts_errors(node: Node, path: str, figure: AskedFigure) -> Iterator[SpecError]:
    """Parts that a sort of figure needs, or has no use for."""
    if figure.as_ == "scatter":
        if figure.against is None:
            message = "a scatter is of one metric against another"
            yield SpecError(node.near(["as"]).source, f"{path}.as", message, "say against: a metric")
        if figure.over is not None:
            message = "a scatter has a metric across, and no axis"
            yield SpecError(node.near(["over"]).source, f"{path}.over", message, "say by, for an axis in colours")
        return
    if figure.over is None:
        yield SpecError(node.source, path, "over which axis?", "say over: an axis of the sweep")
    if figure.against is not None:
        message = f"a {figure.as_} is over an axis, and against no metric"
        yield SpecError(node.near(["against"]).source, f"{path}.against", message, "say as: scatter, or leave it out")
    if figure.as_ == "heatmap" and figure.by is None:
        message = "a heatmap is over two axes"
        yield SpecError(node.near(["as"]).source, f"{path}.as", message, "say by: the axis of its rows")
    if figure.as_ == "heatmap" and figure.across != "even":
        message = "cells of a heatmap stand side by side"
        yield SpecError(node.near(["across"]).source, f"{path}.across", message, "leave it out")


def axis_errors(node: Node, path: str, figure: AskedFigure, scope: ClaimScope) -> Iterator[SpecError]:
    """Axes that are named twice, or that have no place in the figure; labels without numbers; too many panels."""
    named = [axis for axis in (figure.over, figure.by, *figure.facets) if axis is not None]
    twice = [axis for axis in dict.fromkeys(named) if named.count(axis) > 1]
    if twice:
        yield SpecError(node.source, path, f"axis {twice[0]} has two places in the figure")
    if figure.as_ != "scatter":
        for axis in scope.axes.values():
            if axis.name not in named and len(axis.labels) > 1:
                message = f"axis {axis.name} has {len(axis.labels)} labels and no place in the figure"
                yield SpecError(node.source, path, message, f"say by: {axis.name}, or facets: [{axis.name}]")
    panels = math.prod(len(scope.axes[axis].labels) for axis in figure.facets)
    if panels > MOST_PANELS:
        message = f"{panels} panels cannot be told apart; there is room for {MOST_PANELS}"
        yield SpecError(node.near(["facets"]).source, f"{path}.facets", message)
    if figure.over is not None and figure.across != "even":
        least = 0 if figure.across == "log" else -math.inf
        labels = scope.axes[figure.over].labels
        wrong = next((one for one in labels if not is_above(one, least)), None)
        if wrong is not None:
            kind = "number above 0" if figure.across == "log" else "number"
            message = f"label {wrong} of axis {figure.over} is no {kind}"
            yield SpecError(node.near(["across"]).source, f"{path}.across", message, "say even, or leave it out")


def is_above(label: object, least: float) -> bool:
    """Whether a label is a number, and greater than another."""
    return isinstance(label, int | float) and not isinstance(label, bool) and label > least
