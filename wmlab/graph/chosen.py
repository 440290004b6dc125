"""A part of a sweep: the points that `--points 'depth=2,width=*'` names, and the stages that they need."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from wmlab.errors import UsageError, suggest, visible
from wmlab.graph.experiment import Run
from wmlab.graph.study import Study
from wmlab.spec.compose.axes import Axis, Label, identity, number_or_text

EVERY, OR = "*", "|"
MOST_LABELS = 12  # in a message

Choice = Mapping[str, frozenset[int]]  # axis: positions of its labels


def choose_points(study: Study, texts: Sequence[str] | None) -> Study:
    """A study of which only some points are asked for, and the rest of which a report still shows."""
    if not texts:
        return study
    if study.is_suite:
        members = ", ".join(dict.fromkeys(plan.resolved.name or "" for plan in study.plans))
        raise UsageError(f"--points names points of one sweep, and {study.name} is a suite; run one of {members}")
    (plan,) = study.plans
    axes = {axis.name: axis for axis in plan.resolved.axes}
    choices = [_parse(text, axes, study.name) for text in texts]
    chosen = tuple(run for run in plan.runs if any(_matches(run, choice, axes) for choice in choices))
    return replace(study, chosen=chosen)


def _matches(run: Run, choice: Choice, axes: Mapping[str, Axis]) -> bool:
    return all(axes[name].index(run.point.where[name]) in labels for name, labels in choice.items())


def _parse(text: str, axes: Mapping[str, Axis], spec: str) -> Choice:
    """What a text names; an axis that it does not name is taken whole."""
    flag = f"--points {visible(text)}"
    if not axes:
        raise UsageError(f"{flag}: {spec} has no sweep and no variants, so there is one point; leave --points out")
    choice: dict[str, frozenset[int]] = {}
    for part in text.split(","):
        name, equals, labels = (piece.strip() for piece in part.partition("="))
        if not equals or not name or not labels:
            raise UsageError(f"{flag}: '{visible(part.strip())}' is no axis=label; write it as {_example(axes)}")
        if name not in axes:
            hint = suggest(name, axes) or f"the axes of {spec} are {', '.join(axes)}"
            raise UsageError(f"{flag}: there is no axis '{visible(name)}' in {spec}; {hint}")
        if name in choice:
            raise UsageError(f"{flag}: {name} stands twice; write several labels as {name}={_several(axes[name])}")
        choice[name] = frozenset(_positions(labels, axes[name], flag))
    return choice


def _positions(text: str, axis: Axis, flag: str) -> Iterable[int]:
    """The positions of the labels that a text names: *, one of them, or several."""
    whole = _position(text, axis)
    if whole is not None:  # a label may hold the sign for several
        return [whole]
    found: list[int] = []
    for word in map(str.strip, text.split(OR)):
        position = _position(word, axis)
        if position is not None:
            found.append(position)
        elif word == EVERY:
            found += range(len(axis.labels))
        else:
            known = [_spelt(label) for label in axis.labels]
            more = f" and {len(known) - MOST_LABELS} more" if len(known) > MOST_LABELS else ""
            hint = suggest(word, known) or f"it has {', '.join(known[:MOST_LABELS])}{more}, and * for all"
            raise UsageError(f"{flag}: {axis.name} has no label '{visible(word)}'; {visible(hint)}")
    return found


def _position(word: str, axis: Axis) -> int | None:
    """The position of a label, written as text or as another spelling of the same number."""
    for position, label in enumerate(axis.labels):
        if word == _spelt(label):
            return position
    number = number_or_text(word)
    return None if isinstance(number, str) else axis.index(number)


def _spelt(label: Label) -> str:
    kind, value = identity(label)
    return str(value).lower() if kind else str(value)


def _example(axes: Mapping[str, Axis]) -> str:
    first, *others = axes.values()
    return ",".join([f"{first.name}={_spelt(first.labels[0])}", *(f"{axis.name}={EVERY}" for axis in others)])


def _several(axis: Axis) -> str:
    return OR.join(_spelt(label) for label in axis.labels[:2])


def chosen_text(study: Study) -> str:
    """How many of a study's points are asked for: '4 of 16 points'; empty where it is all of them."""
    if study.chosen is None:
        return ""
    points = {id(run.point) for run in study.chosen}
    everything = {id(run.point) for plan in study.plans for run in plan.runs}
    return f"{len(points)} of {len(everything)} points"
