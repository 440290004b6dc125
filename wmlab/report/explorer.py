"""The explorer as it stands in a page: its data, and the script that shows them.

Maps are drawn by a script of our own: they are a few hundred rectangles that take clicks and arrow keys, and a
plotting library would bring more bytes than all else on the page.
"""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from wmlab.report.data import Explorer
from wmlab.report.scripts import embedded, script
from wmlab.report.text import plural

TYPES = {"i": "<i4", "u": "<i4", "f": "<f4"}


def explorer_context(explorer: Explorer | None) -> dict[str, Any]:
    """What the template needs; no script where there is no explorer."""
    if explorer is None:
        return {"explorer": None}
    left = plural(explorer.goals_left_out, "further goal") if explorer.goals_left_out else ""
    about = {"place": explorer.place, "left_out": left, "listed": not any(explorer.axes)}
    return {"explorer": about, "explorer_data": embedded(data_of(explorer)), "scripts": (script("explorer"),)}


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
        "marks": {name: {sort: list(part) for sort, part in each.items()} for name, each in explorer.marks.items()},
        "arrays": {name: packed(array) for name, array in explorer.arrays.items()},
    }


def packed(array: np.ndarray) -> dict[str, Any]:
    """An array for a script: its shape, whether its numbers are whole, and its bytes."""
    numbers = np.asarray(array)
    kind = TYPES[numbers.dtype.kind]
    content = np.ascontiguousarray(numbers).astype(kind).tobytes()
    return {"shape": list(numbers.shape), "type": kind, "bytes": base64.b64encode(content).decode()}
