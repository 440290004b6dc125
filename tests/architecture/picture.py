"""The rooms of wmlab as a picture: drawn from the imports, so that it cannot be out of date.

`python -m tests.architecture.picture` writes docs/architecture.svg anew.
"""

from __future__ import annotations

import ast

import networkx as nx

from tests.architecture.imports import MODULES, ROOT, room_graph, room_of

FILE = ROOT / "docs" / "architecture.svg"
WIDTH, HEIGHT, GAP_X, GAP_Y, MARGIN = 150, 46, 18, 40, 16
LEFT_OUT = ("__main__", "errors")  # everybody's, or nobody's: their arrows would say nothing


def levels(graph: nx.DiGraph) -> list[list[str]]:
    """Rooms in rows: each below every room that imports it."""
    depth: dict[str, int] = {}
    for room in nx.topological_sort(graph):
        depth[room] = max((depth[other] + 1 for other in graph.predecessors(room)), default=0)
    for room in reversed(list(nx.topological_sort(graph))):  # as low as those below it allow
        below = [depth[other] for other in graph.successors(room)]
        depth[room] = min(below) - 1 if below else max(depth.values())
    rows: list[list[str]] = [[] for _ in range(max(depth.values()) + 1)]
    for room in sorted(depth):
        rows[depth[room]].append(room)
    return [row for row in rows if row]


def describe(room: str) -> str:
    """What stands at the head of a room."""
    tree = ast.parse(MODULES[f"wmlab.{room}"].read_text(encoding="utf-8"))
    return (ast.get_docstring(tree) or "").split("\n")[0]


def draw() -> str:
    """The picture as SVG: a box for each room with its number of modules, an arrow to each room that it needs."""
    graph = room_graph()
    graph.remove_nodes_from([room for room in LEFT_OUT if room in graph])
    arrows = nx.transitive_reduction(graph)
    rows = levels(graph)
    span = max(len(row) for row in rows) * (WIDTH + GAP_X) - GAP_X
    corner: dict[str, tuple[float, float]] = {}
    for number, row in enumerate(rows):
        left = MARGIN + (span - len(row) * (WIDTH + GAP_X) + GAP_X) / 2
        for position, room in enumerate(row):
            corner[room] = (left + position * (WIDTH + GAP_X), MARGIN + number * (HEIGHT + GAP_Y))
    size = (span + 2 * MARGIN, 2 * MARGIN + len(rows) * (HEIGHT + GAP_Y) - GAP_Y)
    body = [arrow(corner[room], corner[other]) for room, other in sorted(arrows.edges)]
    body += [box(room, *corner[room]) for room in sorted(corner)]
    return "\n".join([*head(*size), *body, "</svg>", ""])


def head(width: float, height: float) -> list[str]:
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" font-family="sans-serif" '
        'role="img" aria-label="The rooms of wmlab; arrows lead to the rooms that a room imports">',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0L8 4L0 8z" fill="#667"/></marker></defs>',
        f'<rect width="{width:g}" height="{height:g}" fill="#fff"/>',
    ]


def arrow(start: tuple[float, float], end: tuple[float, float]) -> str:
    x1, y1, x2, y2 = start[0] + WIDTH / 2, start[1] + HEIGHT, end[0] + WIDTH / 2, end[1] - 1
    bend = max(GAP_Y, (y2 - y1) / 2)
    path = f"M{x1:g} {y1:g}C{x1:g} {y1 + bend:g} {x2:g} {y2 - bend:g} {x2:g} {y2:g}"
    return f'<path d="{path}" fill="none" stroke="#99a" stroke-width="1.2" marker-end="url(#tip)"/>'


def box(room: str, x: float, y: float) -> str:
    count = sum(room_of(name) == room for name in MODULES)
    middle, frame = x + WIDTH / 2, f'width="{WIDTH}" height="{HEIGHT}" rx="6" fill="#eef3fb" stroke="#4a6fa5"'
    name = f'<text x="{middle:g}" y="{y + 20:g}" text-anchor="middle" font-size="15" fill="#123">{room}</text>'
    size = f"{count} module{'s' if count > 1 else ''}"
    small = f'<text x="{middle:g}" y="{y + 37:g}" text-anchor="middle" font-size="11" fill="#567">{size}</text>'
    return f'<g><title>{describe(room)}</title><rect x="{x:g}" y="{y:g}" {frame}/>{name}{small}</g>'


if __name__ == "__main__":
    FILE.write_text(draw(), encoding="utf-8")
