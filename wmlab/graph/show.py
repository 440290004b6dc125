"""The plan for people and programs: a text tree, Mermaid, Graphviz and JSON.

A sweep of thousands stays readable: stages of one kind are one line or one box, unless `verbose` asks for them all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import networkx as nx

from wmlab.graph.key import Key
from wmlab.graph.stage import Stage
from wmlab.graph.why import Reason

_MOST_REASONS = 3
_COLOURS = {"cached": "#d9e8f5", "will run": "#fbe3c5", "mixed": "#f2f2f2"}


@dataclass(frozen=True)
class Group:
    """Stages of one kind, in the order of the plan."""

    kind: str
    stages: tuple[str, ...]  # ids


@dataclass(frozen=True)
class Box:
    """What a drawing shows of a stage or of a group."""

    name: str  # n0, n1, …: safe in every language
    lines: tuple[str, ...]
    state: str  # cached, will run, mixed


def as_text(graph: nx.DiGraph, reasons: Mapping[str, Reason], keys: Mapping[str, Key], *, verbose: bool = False) -> str:
    """The plan as a tree of kinds, each under the deepest kind it needs; `verbose` lists every stage."""
    tree, groups = _kinds(graph), _groups(graph)
    parents = _parents(tree)
    children: dict[str | None, list[str]] = {}
    for kind in groups:
        children.setdefault(parents[kind], []).append(kind)

    def branch(kind: str, indent: str, last: bool) -> Iterator[str]:
        root = parents[kind] is None
        others = sorted(set(tree.predecessors(kind)) - {parents[kind]})
        also = f"  ← also {', '.join(others)}" if others else ""
        yield f"{indent}{'' if root else '└─ ' if last else '├─ '}{_headline(groups[kind], reasons)}{also}"
        below = indent if root else indent + ("   " if last else "│  ")
        if verbose:
            for identity in groups[kind].stages:
                bar = "│ " if children.get(kind) else "  "
                yield f"{below}{bar}  {_stage_line(graph, identity, reasons, keys)}"
        inner = children.get(kind, [])
        for position, child in enumerate(inner):
            yield from branch(child, below, position == len(inner) - 1)

    lines = [_totals(reasons)]
    for kind in children.get(None, []):
        lines.extend(branch(kind, "", True))
    return "\n".join(lines) + "\n"


def as_mermaid(graph: nx.DiGraph, reasons: Mapping[str, Reason], *, verbose: bool = False) -> str:
    """The plan as a Mermaid flowchart."""
    boxes, edges = _drawing(graph, reasons, verbose)
    lines = ["flowchart TD"]
    for box in boxes:
        label = "<br/>".join(_mermaid_text(line) for line in box.lines)
        lines.append(f'  {box.name}["{label}"]:::{box.state.replace(" ", "_")}')
    lines += [f"  {start} --> {end}" for start, end in edges]
    lines += [f"  classDef {state.replace(' ', '_')} fill:{fill},stroke:#666" for state, fill in _COLOURS.items()]
    return "\n".join(lines) + "\n"


def as_dot(graph: nx.DiGraph, reasons: Mapping[str, Reason], *, verbose: bool = False) -> str:
    """The plan in Graphviz's language."""
    boxes, edges = _drawing(graph, reasons, verbose)
    lines = ["digraph plan {", '  node [shape=box, style="rounded,filled", fontname="sans-serif"];']
    for box in boxes:
        label = r"\n".join(_dot_text(line) for line in box.lines)
        lines.append(f'  {box.name} [label="{label}", fillcolor="{_COLOURS[box.state]}"];')
    lines += [f"  {start} -> {end};" for start, end in edges]
    return "\n".join([*lines, "}"]) + "\n"


def as_json(graph: nx.DiGraph, reasons: Mapping[str, Reason], keys: Mapping[str, Key]) -> dict[str, Any]:
    """The plan as JSON data: every stage, inputs first. Inputs are named by the id of their stage."""
    stages = [
        {
            "id": identity,
            "label": _stage(graph, identity).label,
            "kind": _stage(graph, identity).kind,
            "key": keys[identity].hash,
            "state": reasons[identity].state,
            "why": list(reasons[identity].why),
            "inputs": dict(_stage(graph, identity).inputs),
        }
        for identity in nx.topological_sort(graph)
    ]
    cached = sum(reason.cached for reason in reasons.values())
    return {"stages": stages, "cached": cached, "will_run": len(reasons) - cached}


# --- grouping --------------------------------------------------------------------------------------------------


def _stage(graph: nx.DiGraph, identity: str) -> Stage:
    return graph.nodes[identity]["stage"]


def _groups(graph: nx.DiGraph) -> dict[str, Group]:
    members: dict[str, list[str]] = {}
    for identity in nx.topological_sort(graph):
        members.setdefault(_stage(graph, identity).kind, []).append(identity)
    return {kind: Group(kind, tuple(stages)) for kind, stages in members.items()}


def _kinds(graph: nx.DiGraph) -> nx.DiGraph:
    """Which kind needs which. Edges go to later kinds only, for kinds may alternate along a path of stages."""
    order = {kind: position for position, kind in enumerate(_groups(graph))}
    tree = nx.DiGraph()
    tree.add_nodes_from(order)
    for start, end in graph.edges:
        before, after = _stage(graph, start).kind, _stage(graph, end).kind
        if order[before] < order[after]:
            tree.add_edge(before, after)
    return tree


def _parents(tree: nx.DiGraph) -> dict[str, str | None]:
    depth: dict[str, int] = {}
    parents: dict[str, str | None] = {}
    for kind in tree.nodes:  # in plan order: a kind's inputs have their depth already
        parents[kind] = max(tree.predecessors(kind), key=lambda other: (depth[other], other), default=None)
        parent = parents[kind]
        depth[kind] = 0 if parent is None else depth[parent] + 1
    return parents


# --- words -----------------------------------------------------------------------------------------------------


def _totals(reasons: Mapping[str, Reason]) -> str:
    cached = sum(reason.cached for reason in reasons.values())
    noun = "stage" if len(reasons) == 1 else "stages"
    return f"{len(reasons)} {noun}: {cached} cached, {len(reasons) - cached} will run"


def _headline(group: Group, reasons: Mapping[str, Reason]) -> str:
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


def _stage_line(graph: nx.DiGraph, identity: str, reasons: Mapping[str, Reason], keys: Mapping[str, Key]) -> str:
    reason = reasons[identity]
    why = f": {'; '.join(reason.why)}" if reason.why else ""
    return f"{keys[identity].hash[:12]}  {_stage(graph, identity).label}  ({reason.state}{why})"


# --- drawings --------------------------------------------------------------------------------------------------


def _drawing(
    graph: nx.DiGraph, reasons: Mapping[str, Reason], verbose: bool
) -> tuple[list[Box], list[tuple[str, str]]]:
    if verbose:
        names = {identity: f"n{position}" for position, identity in enumerate(nx.topological_sort(graph))}
        boxes = []
        for identity, name in names.items():
            stage, reason = _stage(graph, identity), reasons[identity]
            boxes.append(Box(name, (stage.label or stage.kind, reason.text or "cached"), reason.state))
        return boxes, [(names[start], names[end]) for start, end in graph.edges]
    groups, tree = _groups(graph), _kinds(graph)
    names = {kind: f"n{position}" for position, kind in enumerate(groups)}
    boxes = []
    for kind, group in groups.items():
        members = [reasons[identity] for identity in group.stages]
        states = {reason.state for reason in members}
        head = f"{kind} × {len(members)}" if len(members) > 1 else kind
        boxes.append(Box(names[kind], (head, _summary(members)), states.pop() if len(states) == 1 else "mixed"))
    return boxes, [(names[start], names[end]) for start, end in tree.edges]


def _mermaid_text(text: str) -> str:
    """Text inside a quoted Mermaid label: entities are written #name; and backquotes would start Markdown."""
    escapes = {"#": "#35;", '"': "#quot;", "<": "#lt;", ">": "#gt;", "&": "#amp;", "`": "#96;", "\n": " "}
    return "".join(escapes.get(character, character) for character in text)


def _dot_text(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
