"""Small results, and a claim judged on them."""

from __future__ import annotations

import json

from wmlab.registry import build
from wmlab.results.cases import ClaimContext
from wmlab.results.claims import evaluate_claims
from wmlab.results.collect import collect
from wmlab.sections.spec import Claim

GOALS = [{"goals": goals} for goals in (5, 20, 68)]


EXPRESSIONS = {
    "0.1": lambda where: 0.1,
    "1/5": lambda where: 1 / 5,
    "goals / 10": lambda where: where["goals"] / 10,
    "goals / 100": lambda where: where["goals"] / 100,
}


def lets(text, where):
    return EXPRESSIONS[text](where)


def judge(claim, metrics, points=GOALS, seeds=(0, 1)):
    [found] = evaluate_claims({"c": build(Claim, claim)}, metrics, ClaimContext(points, list(seeds), lets))
    json.dumps(found, allow_nan=False)
    return found


def made(*rows, metric="wm.mse", points=GOALS):
    """Results of one metric: a row of seeds for each point; None is a failed seed, a list is a curve."""

    def output(cell):
        if cell is None:
            return None
        return {metric: {"value": cell[-1], "curve": cell} if isinstance(cell, list) else {"value": cell}}

    return collect(points, range(len(rows[0])), [[output(cell) for cell in row] for row in rows])


PLAIN = made([0.4, 0.6], [0.1, 0.3], [0.0, 0.1])
