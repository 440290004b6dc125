"""Which run of a study a report draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wmlab.graph.compile import Run
    from wmlab.spec.compose.resolve import Resolved


def asked_maps(resolved: Resolved) -> Mapping[str, Any]:
    """What a spec says under `report.maps`."""
    found: Mapping[str, Any] = resolved.data.get("report", {}).get("maps", {})
    return found


def drawn_run(resolved: Resolved, runs: Sequence[Run]) -> int | None:
    """The position of the run that is drawn: the first seed at the labels that `report.maps` asks for, as far as this
    profile has them, and the last of the rest."""
    labels = {axis.name: axis.labels for axis in resolved.axes}
    asked = asked_maps(resolved).get("where", {})
    wanted = {axis: label for axis, label in asked.items() if label in labels.get(axis, ())}
    first = resolved.seeds[0]
    fitting = [i for i, run in enumerate(runs) if run.seed == first and wanted.items() <= run.point.where.items()]
    return fitting[-1] if fitting else None
