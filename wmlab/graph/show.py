"""The plan for people and programs: a text tree, Mermaid, Graphviz and JSON.

A sweep of thousands stays readable: stages of one kind are one line or one box, unless `verbose` asks for them all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from wmlab.errors import visible
from wmlab.graph.key import Key
from wmlab.graph.stage import Stages
from wmlab.graph.why import Reason

_MOST_REASONS = 3
_COLOURS = {"cached": "#d9e8f5", "will run": "#fbe3c5", "mixed": "#f2f2f2"}


@dataclass(frozen=True)
class KindGroup:
    """Stages of one kind, in the order of the plan."""

    kind: str
    stages: tuple[str, ...]  # ids


@dataclass(frozen=True)
class PlanBox:
    """What a drawing shows of a stage or of a group."""

    name: str  # n0, n1, …: safe in every language
    lines: tuple[str, ...]
    state: str  # cached, will run, mixed


def as_text(stages: Stages, reasons: Mapping[str, Reason], keys: Mapping[str, Key], *, verbose: bool = False) -> str:
    """The plan as a tree of kinds, each under the deepest kind it needs; `verbose` lists every stage."""
    needs, groups = _needs(stages), _groups(stages)
    parents = _parents(needs)
    children: dict[str | None, list[str]] = {}
    for kind in groups:
        children.setdefault(parents[kind], []).append(kind)

    def branch(kind: str, indent: str, last: bool) -> Iterator[str]:
        root = parents[kind] is None
        others = sorted(needs[kind] - {parents[kind]})
        also = f"  ← also {', '.join(others)}" if others else ""
        yield f"{indent}{'' if root else '└─ ' if last else '├─ '}{_headline(groups[kind], reasons)}{also}"
        below = indent if root else indent + ("   " if last else "│  ")
        if verbose:
            for identity in groups[kind].stages:
                bar = "│ " if children.get(kind) else "  "
                yield f"{below}{bar}  {_stage_line(stages[identity].label, reasons[identity], keys[identity])}"
        inner = children.get(kind, [])
        for position, child in enumerate(inner):
            yield from branch(child, below, position == len(inner) - 1)

    lines = [_totals(reasons)]
    for kind in children.get(None, []):
        lines.extend(branch(kind, "", True))
    return "\n".join(map(visible, lines)) + "\n"


def as_mermaid(stages: Stages, reasons: Mapping[str, Reason], *, verbose: bool = False) -> str:
    """The plan as a Mermaid flowchart."""
    boxes, edges = _boxes(stages, reasons, verbose)
    lines = ["flowchart TD"]
    for box in boxes:
        label = "<br/>".join(_mermaid_text(line) for line in box.lines)
        lines.append(f'  {box.name}["{label}"]:::{box.state.replace(" ", "_")}')
    lines += [f"  {start} --> {end}" for start, end in edges]
    lines += [f"  classDef {state.replace(' ', '_')} fill:{fill},stroke:#666" for state, fill in _COLOURS.items()]
    return "\n".join(lines) + "\n"


def as_dot(stages: Stages, reasons: Mapping[str, Reason], *, verbose: bool = False) -> str:
    """The plan in Graphviz's language."""
    boxes, edges = _boxes(stages, reasons, verbose)
    lines = ["digraph plan {", '  node [shape=box, style="rounded,filled", fontname="sans-serif"];']
    for box in boxes:
        label = r"\n".join(_dot_text(line) for line in box.lines)
        lines.append(f'  {box.name} [label="{label}", fillcolor="{_COLOURS[box.state]}"];')
    lines += [f"  {start} -> {end};" for start, end in edges]
    return "\n".join([*lines, "}"]) + "\n"


def as_json(stages: Stages, reasons: Mapping[str, Reason], keys: Mapping[str, Key]) -> dict[str, Any]:
    """The plan as JSON data: every stage, inputs first. Inputs are named by the id of their stage."""
    rows = [
        {
            "id": identity,
            "label": stages[identity].label,
            "kind": stages[identity].kind,
            "key": keys[identity].hash,
            "state": reasons[identity].state,
            "why": list(reasons[identity].why),
            "inputs": dict(stages[identity].inputs),
        }
        for identity in _by_depth(stages)
    ]
    cached = sum(reason.cached for reason in reasons.values())
    return {"stages": rows, "cached": cached, "will_run": len(reasons) - cached}


# --- grouping --------------------------------------------------------------------------------------------------


def _by_depth(stages: Stages) -> list[str]:
    """Stages that need nothing first, then those that need only these, and so on."""
    depth: dict[str, int] = {}
    for identity, stage in stages.items():
        depth[identity] = 1 + max((depth[other] for other in stage.inputs.values()), default=0)
    return sorted(stages, key=depth.__getitem__)


def _groups(stages: Stages) -> dict[str, KindGroup]:
    members: dict[str, list[str]] = {}
    for identity in _by_depth(stages):
        members.setdefault(stages[identity].kind, []).append(identity)
    return {kind: KindGroup(kind, tuple(ids)) for kind, ids in members.items()}


def _needs(stages: Stages) -> dict[str, set[str]]:
    """Which kind needs which. Only earlier ones count, for kinds may alternate along a path of stages."""
    order = {kind: position for position, kind in enumerate(_groups(stages))}
    needs: dict[str, set[str]] = {kind: set() for kind in order}
    for stage in stages.values():
        kinds = {stages[other].kind for other in stage.inputs.values()}
        needs[stage.kind] |= {kind for kind in kinds if order[kind] < order[stage.kind]}
    return needs


def _parents(needs: Mapping[str, set[str]]) -> dict[str, str | None]:
    """The deepest kind that each kind needs."""
    depth: dict[str, int] = {}
    parents: dict[str, str | None] = {}
    for kind, needed in needs.items():  # in plan order: what a kind needs has its depth already
        parents[kind] = parent = max(needed, key=lambda other: (depth[other], other), default=None)
        depth[kind] = 0 if parent is None else depth[parent] + 1
    return parents


# --- words -----------------------------------------------------------------------------------------------------


def _totals(reasons: Mapping[str, Reason]) -> str:
    cached = sum(reason.cached for reason in reasons.values())
    noun = "stage" if len(reasons) == 1 else "stages"
    return f"{len(reasons)} {noun}: {cached} cached, {len(reasons) - cached} will run"


def _headline(group: KindGroup, reasons: Mapping[str, Reason]) -> str:
    count = f" × {len(group.stages)}" if len(group.stages) > 1 else ""
    return f"{group.kind}{count}  ({_summary([reasons[identity] for identity in group.stages])})"


def _summary(members: list[Reason]) -> str:
    """'38 cached, 2 will run: agent.discount changed: 0.99 → 0.95'; a count behind each of several reasons."""
    running = [reason.text for reason in members if not reason.cached]
    cached = len(members) - len(running)
    if not running:
        return "cached"
    several = len(members) > 1
    head = [f"{cached} cached"] if cached else []
    return ", ".join([*head, f"{len(running)} will run" if several else "will run"]) + f": {_tally(running)}"


def _tally(texts: Iterable[str]) -> str:
    counts = Counter(texts).most_common()
    if len(counts) == 1:
        return counts[0][0]
    shown = [f"{text} ({count})" for text, count in counts[:_MOST_REASONS]]
    rest = sum(count for _, count in counts[_MOST_REASONS:])
    return ", ".join(shown + ([f"other reasons ({rest})"] if rest else []))


def _stage_line(label: str, reason: Reason, key: Key) -> str:
    why = f": {'; '.join(reason.why)}" if reason.why else ""
    return f"{key.hash[:12]}  {label}  ({reason.state}{why})"


# --- drawings --------------------------------------------------------------------------------------------------


def _boxes(stages: Stages, reasons: Mapping[str, Reason], verbose: bool) -> tuple[list[PlanBox], list[tuple[str, str]]]:
    if verbose:
        names = {identity: f"n{position}" for position, identity in enumerate(_by_depth(stages))}
        boxes = []
        for identity, name in names.items():
            stage, reason = stages[identity], reasons[identity]
            boxes.append(PlanBox(name, (stage.label or stage.kind, reason.text or "cached"), reason.state))
        links = ((other, identity) for identity, stage in stages.items() for other in stage.inputs.values())
        return boxes, [(names[start], names[end]) for start, end in dict.fromkeys(links)]
    groups = _groups(stages)
    names = {kind: f"n{position}" for position, kind in enumerate(groups)}
    boxes = []
    for kind, group in groups.items():
        members = [reasons[identity] for identity in group.stages]
        states = {reason.state for reason in members}
        head = f"{kind} × {len(members)}" if len(members) > 1 else kind
        boxes.append(PlanBox(names[kind], (head, _summary(members)), states.pop() if len(states) == 1 else "mixed"))
    needs = _needs(stages)
    return boxes, [(names[start], names[end]) for start in needs for end in needs if start in needs[end]]


def _mermaid_text(text: str) -> str:
    """Text inside a quoted Mermaid label: entities are written #name; and backquotes would start Markdown."""
    escapes = {"#": "#35;", '"': "#quot;", "<": "#lt;", ">": "#gt;", "&": "#amp;", "`": "#96;"}
    return "".join(escapes.get(character, character) for character in visible(text))


def _dot_text(text: str) -> str:
    return visible(text).replace("\\", "\\\\").replace('"', '\\"')
