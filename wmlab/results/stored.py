"""Whether what a stage's entry holds is of the shape that results are made of."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any


def flaw(data: Mapping[str, Any]) -> str | None:
    """What is wrong with what results are made of in an entry, in a few words; None for nothing."""
    try:
        return _first_flaw(data)
    except RecursionError:
        return "it is nested too deeply"


def _first_flaw(data: Mapping[str, Any]) -> str | None:
    metrics, curves = data.get("metrics"), data.get("curves")
    if metrics is not None and not _by_name(metrics, _is_metric):
        return "its metrics are none"
    if curves is not None and not _by_name(curves, lambda curve: bool(curve) and _is_list(curve)):
        return "its curves are none"
    if not _is_list(data.get("steps", [])):
        return "its steps are none"
    if not _by_name(data.get("yardsticks") or {}, _is_number):
        return "its yardsticks are none"
    notes = data.get("extraction") or {}
    if not _by_name(notes, lambda value: True):
        return "its notes on the extraction are none"
    misfit = notes.get("misfit")
    if misfit is not None and not (_by_name(misfit, lambda value: True) and _is_misfit(misfit)):
        return "its misfit is none"
    coarser = data.get("coarser")
    if coarser is not None and not (_by_name(coarser, lambda value: True) and _is_list(coarser.get("shape", []))):
        return "its coarser grid is none"
    if not _is_ranking(data) or not isinstance(data.get("goals", []), list) or not _is_number(data.get("slack_needed")):
        return "its goals are none"
    return None


def _is_ranking(data: Mapping[str, Any]) -> bool:
    """Goals that could be added, each with what it is worth; or nothing of the kind."""
    ranking = data.get("ranking", [])
    return isinstance(ranking, list) and isinstance(data.get("now", 0.0), Real) and all(map(_is_ranked, ranking))


def _is_ranked(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], Real)


def _by_name(value: Any, holds: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(name, str) and holds(each) for name, each in value.items())


def _is_metric(value: Any) -> bool:
    if value is None:
        return True
    if not isinstance(value, Mapping) or not _is_number(value.get("value")):
        return False
    curve = value.get("curve")
    return (curve is None or _is_list(curve)) and _is_breakdown(value.get("by"))


def _is_breakdown(value: Any) -> bool:
    if isinstance(value, Mapping):
        return _by_name(value, _is_breakdown)
    return _is_number(value) or isinstance(value, str) or _is_list(value)


def _is_misfit(misfit: Mapping[str, Any]) -> bool:
    pairs, worst = misfit.get("pairs"), misfit.get("worst")
    if not isinstance(pairs, int):
        return False
    return not pairs or ("of" in misfit and isinstance(worst, Mapping) and _is_number(worst.get("residual", "")))


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_number, value))


def _is_number(value: Any) -> bool:
    return value is None or isinstance(value, Real)
