"""Findings: what the numbers of a run say of its own reading, in plain words, whether it has claims or not.

A finding has an id, a severity and a sentence. `failed`: what was read is not a model of the world. `doubtful`: it may
not be, or a number beside it is not what it seems. `note`: what a reader has to know.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wmlab.registry import as_data
from wmlab.results.certainty import CERTAINTY
from wmlab.results.point_facts import PointFacts, Severity, Sign
from wmlab.results.signs import SIGNS

SEVERITIES: tuple[Severity, ...] = ("failed", "doubtful", "note")
FIRST = ("not_identified",)  # said before all else: what else there is to say may follow from it


@dataclass(frozen=True)
class RunFinding:
    """One thing that speaks against a reading, told of the point where it is worst."""

    id: str
    severity: Severity
    sentence: str
    where: Mapping[str, Any]  # the point that the sentence speaks of
    points: int = 1  # at how many points it is so
    of: int = 1  # among how many


def findings(facts: Sequence[PointFacts]) -> list[dict[str, Any]]:
    """Everything that the signs say at all points of a study, what explains the rest and then the worst first, each
    once; as JSON."""
    seen: dict[str, list[tuple[PointFacts, Sign]]] = {}
    for point in facts:
        for sign in (sign for look in (*SIGNS, *CERTAINTY) for sign in look(point)):
            seen.setdefault(sign.id, []).append((point, sign))
    found = [gathered(each, len(facts)) for each in seen.values()]
    ordered = sorted(found, key=lambda one: (one.id not in FIRST, SEVERITIES.index(one.severity)))
    return [as_data(one) for one in ordered]


def gathered(seen: Iterable[tuple[PointFacts, Sign]], of: int) -> RunFinding:
    """One finding for the same sign at several points, or of several goals: the worst of them stands for all."""
    ordered = sorted(seen, key=lambda pair: (SEVERITIES.index(pair[1].severity), -pair[1].badness))
    point, sign = ordered[0]
    at = ", ".join(f"{axis} = {label}" for axis, label in point.where.items())
    sentence = f"At {at}: {sign.sentence}" if at and not sign.everywhere else sign.sentence
    if len(ordered) > 1 and not sign.everywhere:
        sentence += f" It is the worst of {len(ordered)} such cases."
    points = {id(facts) for facts, _ in ordered}
    return RunFinding(sign.id, sign.severity, sentence, dict(point.where), len(points), of)
