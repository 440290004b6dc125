"""The plan drawn small: one box for each kind of stage, however many stages there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from wmlab.report.data import KindEdge, PlanRows, StageRow

BOX = (132, 46)  # width, height
GAP = (44, 22)
MARGIN = 8
STATES = ("done", "failed", "skipped", "not run")
TROUBLE = ("failed", "skipped")
MOST_ROWS = 200  # a longer list of stages is cut to what a reader looks for


@dataclass(frozen=True)
class KindSummary:
    """The stages of one kind."""

    kind: str
    total: int
    words: str  # how many stages are in which state
    failed: bool  # whether a stage failed or could not start
    seconds: float
    slowest: StageRow
    feeds: str  # the kinds that use results of this one


@dataclass(frozen=True)
class KindBox:
    """A kind and its place in the drawing."""

    summary: KindSummary
    x: float
    y: float


@dataclass(frozen=True)
class PlanDrawing:
    """Boxes from left to right, and arrows as SVG paths."""

    width: float
    height: float
    boxes: tuple[KindBox, ...]
    arrows: tuple[tuple[str, KindEdge], ...]


def summaries(plan: PlanRows) -> list[KindSummary]:
    """One summary for each kind, in order of first appearance."""
    kinds: dict[str, list[StageRow]] = {}
    for stage in plan.stages:
        kinds.setdefault(stage.kind, []).append(stage)
    rows = []
    for kind, stages in kinds.items():
        states = Counter(stage.state for stage in stages)
        words = ", ".join(f"{states[state]} {state}" for state in STATES if states[state])
        slowest = max(stages, key=lambda stage: stage.seconds or 0.0)
        seconds = sum(stage.seconds or 0.0 for stage in stages)
        feeds = ", ".join(dict.fromkeys(edge.target for edge in plan.edges if edge.source == kind))
        failed = any(states[state] for state in TROUBLE)
        rows.append(KindSummary(kind, len(stages), words, failed, seconds, slowest, feeds))
    return rows


def layers(kinds: Sequence[str], edges: Iterable[KindEdge]) -> dict[str, int]:
    """The longest way from a start to each kind; kinds that feed each other share no order and stay finite."""
    depth = dict.fromkeys(kinds, 0)
    links = [edge for edge in edges if edge.source != edge.target and edge.source in depth and edge.target in depth]
    for _ in kinds:
        for edge in links:
            depth[edge.target] = max(depth[edge.target], min(depth[edge.source] + 1, len(depth) - 1))
    return depth


def draw(plan: PlanRows) -> PlanDrawing:
    """The kinds of a plan as boxes and arrows."""
    kinds = summaries(plan)
    depth = layers([summary.kind for summary in kinds], plan.edges)
    columns: dict[int, list[KindSummary]] = {}
    for summary in kinds:
        columns.setdefault(depth[summary.kind], []).append(summary)
    tallest = max((len(column) for column in columns.values()), default=0)
    long = any(depth.get(edge.target, 0) - depth.get(edge.source, 0) > 1 for edge in plan.edges)
    top = MARGIN + (30 if long else 0)
    boxes = {}
    for column, (_, members) in enumerate(sorted(columns.items())):
        shift = (tallest - len(members)) * (BOX[1] + GAP[1]) / 2
        for row, summary in enumerate(members):
            x = MARGIN + column * (BOX[0] + GAP[0])
            boxes[summary.kind] = KindBox(summary, x, top + shift + row * (BOX[1] + GAP[1]))
    arrows = tuple(
        (_arrow(boxes[edge.source], boxes[edge.target], top), edge)
        for edge in plan.edges
        if edge.source in boxes and edge.target in boxes and depth[edge.source] < depth[edge.target]
    )
    width = 2 * MARGIN + len(columns) * BOX[0] + max(0, len(columns) - 1) * GAP[0]
    return PlanDrawing(width, top + MARGIN + tallest * (BOX[1] + GAP[1]) - GAP[1], tuple(boxes.values()), arrows)


def _arrow(source: KindBox, target: KindBox, top: float) -> str:
    """A curve between two boxes; one that skips a column runs above the boxes, not behind them."""
    x0, y0 = source.x + BOX[0], source.y + BOX[1] / 2
    x1, y1 = target.x - 5, target.y + BOX[1] / 2
    if x1 - x0 <= GAP[0]:
        middle = (x0 + x1) / 2
        return f"M{x0:g},{y0:g} C{middle:g},{y0:g} {middle:g},{y1:g} {x1:g},{y1:g}"
    lane, half = top - 18, GAP[0] / 2
    return (
        f"M{x0:g},{y0:g} C{x0 + half:g},{y0:g} {x0:g},{lane:g} {x0 + 2 * half:g},{lane:g} "
        f"H{x1 - 2 * half:g} C{x1:g},{lane:g} {x1 - half:g},{y1:g} {x1:g},{y1:g}"
    )


def worth_listing(stages: Sequence[StageRow]) -> tuple[list[StageRow], int]:
    """The stages to list and how many are left out: all, or the failed ones and then the slowest."""
    if len(stages) <= MOST_ROWS:
        return list(stages), 0
    trouble = [stage for stage in stages if stage.state in TROUBLE]
    others = [stage for stage in stages if stage.state not in TROUBLE]
    rest = sorted(others, key=lambda stage: -(stage.seconds or 0.0))
    return (trouble + rest)[:MOST_ROWS], len(stages) - MOST_ROWS
