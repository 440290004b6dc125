"""Differences as people and tools read them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from wmlab.app.diff import Difference, Stages
from wmlab.graph.why import shorten

MOST = 3  # reasons that are shown for stages of one kind
NOTHING = "–"


def show_difference(found: Difference, format: str = "text") -> str:
    if format == "json":
        return json.dumps(asdict(found), indent=1, ensure_ascii=False)
    return "\n".join([f"{found.one} → {found.other}", *(["no difference"] if found.empty else sections(found))])


def sections(found: Difference) -> Iterator[str]:
    if found.values:
        yield "values"
        rows = [(value.path, side(value.one, value.one_source), side(value.other, value.other_source))
                for value in found.values]  # fmt: skip
        widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
        yield from (f"  {path:<{widths[0]}}  {left:<{widths[1]}}  → {right}" for path, left, right in rows)
    if found.stages:
        yield f"plan: {tally(found.stages)}"
        yield from (line for row in found.stages if (line := stage_line(row)))
    if found.metrics or found.same_metrics:
        yield f"metrics: {found.same_metrics} the same, {len(found.metrics)} not"
        width = max((len(row.name) for row in found.metrics), default=0)
        yield from (f"  {row.name:<{width}}  {number(row.one)} → {number(row.other)}" for row in found.metrics)
    elif found.stages:
        yield "metrics: none that both have; run both to compare them"


def side(value: Any, source: str | None) -> str:
    return NOTHING if source is None and value is None else f"{shorten(value)} ({source or 'there'})"


def tally(rows: Sequence[Stages]) -> str:
    """How many stages are the same and how many are not, and those that one side alone has where there are such."""
    same, differ, one, other = (
        sum(getattr(row, part) for row in rows) for part in ("same", "differ", "only_one", "only_other")
    )
    alone = [f"{count} only in {name}" for count, name in ((one, "A"), (other, "B")) if count]
    return ", ".join([f"{same} stages the same", f"{differ} not", *alone])


def stage_line(row: Stages) -> str:
    parts = [f"{row.differ} differ in {', '.join(row.why[:MOST])}"] if row.differ else []
    if row.differ and len(row.why) > MOST:
        parts[-1] += f" and {len(row.why) - MOST} more"
    parts += [f"{row.only_one} only in A"] if row.only_one else []
    parts += [f"{row.only_other} only in B"] if row.only_other else []
    return f"  {row.role}: {'; '.join(parts)}" if parts else ""


def number(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.6g}"
