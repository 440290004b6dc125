"""The explorer as it stands in a page: its data, and the script that shows them.

Pictures are drawn by scripts of our own: libraries were measured, and each is a megabyte and more on every page, needs
what a strict content policy forbids, and leaves most of the script to be written ("Scripts of pages are ours" in
docs/architecture.md).
"""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from wmlab.report.data import Explorer, PlaneExplorer
from wmlab.report.scripts import Script, embedded, script
from wmlab.report.text import plural

TYPES = {"i": "<i4", "u": "<i4", "f": "<f4", "b": "|u1"}
TOP = 15  # the greatest power of two that a half-precision number is sure to hold


def explorer_context(explorer: Explorer | PlaneExplorer | str) -> dict[str, Any]:
    """What the template needs; no script where there is no explorer, but why."""
    if isinstance(explorer, str):
        return {"explorer": None, "no_explorer": explorer}
    left = plural(explorer.goals_left_out, "further goal") if explorer.goals_left_out else ""
    about: dict[str, Any] = {"place": explorer.place, "left_out": left}
    if isinstance(explorer, PlaneExplorer):
        about |= {"template": "plane_explorer.html.j2", "axes": explorer.axes, "can_move": len(explorer.axes) > 2}
        about["fixed"] = ", ".join(f"{name} = {value:g}" for name, value in explorer.fixed.items())
        data = planes_of(explorer)
    else:
        about |= {"template": "explorer.html.j2", "listed": not any(explorer.axes)}
        data = data_of(explorer)
    return {"explorer": about, "no_explorer": "", "explorer_data": embedded(data)}


def explorer_scripts(context: Mapping[str, Any]) -> tuple[Script, ...]:
    """The script behind it; none where there is no explorer."""
    about = context["explorer"]
    return (script(about["template"].removesuffix(".html.j2")),) if about else ()


def planes_of(explorer: PlaneExplorer) -> dict[str, Any]:
    """Names as they are, and arrays in half precision: three digits of every number, whatever its size."""
    return {
        "axes": [asdict(axis) for axis in explorer.axes],
        "variables": list(explorer.variables),
        "actions": list(explorer.actions),
        "goals": list(explorer.goals),
        "greedy": explorer.greedy,
        "arrays": {name: packed_half(array) for name, array in explorer.arrays.items()},
    }


def packed_half(array: np.ndarray) -> dict[str, Any]:
    """As `packed`, with numbers that are not whole in half precision, as multiples of a power of two."""
    numbers = np.asarray(array)
    if numbers.dtype.kind != "f":
        return packed(numbers)
    known = np.abs(numbers[np.isfinite(numbers)])
    power = math.frexp(float(known.max(initial=0.0)))[1] - TOP
    with np.errstate(over="ignore"):
        content = np.ldexp(numbers.astype(np.float64), -power).astype("<f2").tobytes()
    text = base64.b64encode(content).decode()
    return {"shape": list(numbers.shape), "type": "<f2", "unit": 2.0**power, "bytes": text}


def data_of(explorer: Explorer) -> dict[str, Any]:
    """Names as they are, and arrays as the bytes of 32-bit numbers."""
    return {
        "states": list(explorer.states),
        "actions": list(explorer.actions),
        "cells": np.asarray(explorer.cells).tolist(),
        "shape": list(explorer.shape),
        "axes": list(explorer.axes),
        "goals": list(explorer.goals),
        "unseen": list(explorer.unseen),
        "trained": [list(states) for states in explorer.trained],
        "marks": {name: {sort: list(part) for sort, part in each.items()} for name, each in explorer.marks.items()},
        "arrays": {name: packed(array) for name, array in explorer.arrays.items()},
    }


def packed(array: np.ndarray) -> dict[str, Any]:
    """An array for a script: its shape, whether its numbers are whole, and its bytes."""
    numbers = np.asarray(array)
    kind = TYPES[numbers.dtype.kind]
    content = np.ascontiguousarray(numbers).astype(kind).tobytes()
    return {"shape": list(numbers.shape), "type": kind, "bytes": base64.b64encode(content).decode()}
