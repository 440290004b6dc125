"""Explanations as people and tools read them."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wmlab.errors import visible
from wmlab.explain.explain import Explanation, explain
from wmlab.explain.plain import terms_in, together
from wmlab.explain.premises import UNTOLD
from wmlab.results.names import point_text

if TYPE_CHECKING:
    from wmlab.graph.study import Study

Measured = Mapping[
    tuple[str, str], str
]  # spec and point: what a run found; empty where one will say what is certain, and none has
NOTHING: Measured = {}
NOT_YET = (
    "not measured yet: how much of the return is certain (`wmlab run` says it), and which goal would help most "
    "(`wmlab design` says it before anything is trained)"
)
MARKS = {"met": "✓", "not met": "✗", UNTOLD: "?"}
WIDTH = 110


@dataclass(frozen=True)
class Group:
    """Points of a spec of which the same is to be said, but for numbers."""

    spec: str
    points: tuple[Mapping[str, Any], ...]
    explanations: tuple[Explanation, ...]

    @property
    def where(self) -> str:
        """Several points in a line: goals = 1, 2; variant = windy."""
        axes: dict[str, list[str]] = {}
        for point in self.points:
            for axis, label in point.items():
                if str(label) not in axes.setdefault(axis, []):
                    axes[axis].append(str(label))
        return "; ".join(f"{axis} = {', '.join(labels)}" for axis, labels in axes.items())


def explain_study(study: Study) -> list[Group]:
    """The points of each spec, in groups of the same statement and the same premises met."""
    found: list[Group] = []
    for plan in study.plans:
        groups: dict[tuple[Any, ...], list[tuple[Mapping[str, Any], Explanation]]] = {}
        for point in plan.resolved.points:
            one = explain(point.experiment)
            groups.setdefault(shape_of(one, point.where), []).append((point.where, one))
        found += [Group(plan.resolved.name or "", *zip(*members, strict=True)) for members in groups.values()]
    return found


def shape_of(one: Explanation, where: Mapping[str, Any]) -> tuple[Any, ...]:
    """An explanation without its numbers; variants stay apart, for they are different questions."""
    statement = one.statement
    premises = () if statement is None else tuple((premise.says, premise.status) for premise in statement.premises)
    further = tuple(other.name for other in one.further if other.promises != "bound")
    return where.get("variant"), statement and statement.name, premises, further, one.warnings


def show_explanation(study: Study, format: str = "text", measured: Measured = NOTHING) -> str:
    """The explanations of a study: the short answer first, then what theory says, premises, warnings, and terms.

    `measured` are sentences on what a run found, by the name of the spec and the point.
    """
    groups = explain_study(study)
    if format == "json":
        rows = [
            {"spec": group.spec, "where": dict(point), **one.as_json(), **told_json(measured, group.spec, point)}
            for group in groups
            for point, one in zip(group.points, group.explanations, strict=True)
        ]
        return json.dumps(rows, indent=1)
    blocks = []
    for group in groups:
        head = ": ".join(part for part in (group.spec if study.is_suite else "", group.where) if part)
        lines = [*([head] if head else []), *lines_of(group), *told_lines(measured, group)]
        blocks.append("\n".join(map(visible, lines)))
    text = "\n\n".join(blocks)
    return "\n".join([text, *glossary(text)])


def glossary(text: str) -> Iterator[str]:
    """The terms of a text, explained once below it."""
    terms = list(terms_in(text))
    if terms:
        room = max(len(term) for term, _ in terms)
        yield "\nterms:"
        yield from (f"  {term:<{room}}  {sense}" for term, sense in terms)


def lines_of(group: Group) -> Iterator[str]:
    first = group.explanations[0]
    yield from wrapped(first.answer, "")
    yield from wrapped(f"asked of {together([one.setting for one in group.explanations])}", "  ")
    yield from wrapped(first.verdict, "  ")
    for point, one in list(zip(group.points, group.explanations, strict=True))[1:]:
        if one.missing != first.missing:
            yield from wrapped(f"likewise at {place(point)}: {'; '.join(one.missing)}", "  ")
    yield from premises_of(group)
    for other in first.further:
        if other.promises in ("limit", "any values"):  # bounds and impossibilities are in the verdict
            yield from wrapped(f"{other.name} applies, too: {other.conclusion}.", "  ")
    for warning in first.warnings:
        yield from wrapped(f"mind: {warning}", "  ")


def told_lines(measured: Measured, group: Group) -> Iterator[str]:
    """What a run found to be certain at the points of a group, or that none has looked yet."""
    known = {place(point): measured.get((group.spec, point_text(point))) for point in group.points}
    for at, sentence in known.items():
        if sentence:
            yield from wrapped(f"measured{f' at {at}' if at and len(known) > 1 else ''}: {sentence}", "  ")
    if "" in known.values():
        yield from wrapped(NOT_YET, "  ")


def told_json(measured: Measured, spec: str, point: Mapping[str, Any]) -> dict[str, str]:
    sentence = measured.get((spec, point_text(point)))
    return {"measured": sentence} if sentence else {}


def place(point: Mapping[str, Any]) -> str:
    return ", ".join(f"{axis} = {label}" for axis, label in point.items() if axis != "variant")


def premises_of(group: Group) -> Iterator[str]:
    """Each premise once; where the points of a group differ in what they have, all of it."""
    checked = [one.statement for one in group.explanations if one.statement is not None]
    if not checked:
        return
    yield f"  premises of {checked[0].name} (in the paper: {checked[0].where}):"
    for premises in zip(*(statement.premises for statement in checked), strict=True):
        found = joined([premise.found for premise in premises])
        told = " [only a run can tell]" if premises[0].status == UNTOLD else ""
        needs = {premise.need for premise in premises}
        need = needs.pop() if len(needs) == 1 else ""  # told point by point above
        shown = f" ({found})" if found and found.split()[1:] != premises[0].says.split()[1:] else ""
        line = f"{MARKS[premises[0].status]} {premises[0].says}{shown}{told}"
        yield from wrapped(line + (f"; needed: {need}" if need else ""), "    ")


def joined(texts: Sequence[str]) -> str:
    different = list(dict.fromkeys(text for text in texts if text))
    return different[0] + f" to {different[-1]}" * (len(different) > 1) if different else ""


def wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent + "  ", break_long_words=False)
