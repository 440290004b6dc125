"""The rooms of wmlab as a picture: drawn from the imports, so that it cannot be out of date.

`python -m tests.architecture.picture` writes docs/architecture.svg anew.
"""

from __future__ import annotations

import ast
import itertools
from dataclasses import dataclass

import networkx as nx

from tests.architecture.imports import MODULES, ROOT, room_graph, room_of

FILE = ROOT / "docs" / "architecture.svg"
WIDTH, HEIGHT, GAP_X, GAP_Y, MARGIN = 130, 46, 22, 44, 16
LEFT_OUT = ("__main__", "errors", "limits")  # everybody's, or nobody's: their arrows would say nothing


@dataclass(frozen=True, order=True)
class Bend:
    """Where an arrow passes a row that it does not end in."""

    start: str
    end: str
    row: int


Spot = str | Bend


def depths(graph: nx.DiGraph) -> dict[str, int]:
    """The row of each room: below every room that imports it, and as low as those that it imports allow."""
    depth: dict[str, int] = {}
    for room in nx.lexicographical_topological_sort(graph):
        depth[room] = max((depth[other] + 1 for other in graph.predecessors(room)), default=0)
    for room in reversed(list(nx.lexicographical_topological_sort(graph))):
        depth[room] = min((depth[other] - 1 for other in graph.successors(room)), default=max(depth.values()))
    return depth


def ways_of(arrows: nx.DiGraph, depth: dict[str, int]) -> list[list[Spot]]:
    """Each arrow as the spots that it passes, one a row."""
    return [
        [start, *(Bend(start, end, row) for row in range(depth[start] + 1, depth[end])), end]
        for start, end in sorted(arrows.edges)
    ]


def ordered_rows(ways: list[list[Spot]], depth: dict[str, int]) -> list[list[Spot]]:
    """Rows whose spots stand near those that they are joined to: sweeps down and up, by the mean of the neighbours."""
    rows: list[list[Spot]] = [[] for _ in range(max(depth.values()) + 1)]
    joined = nx.Graph()
    for spot in sorted({spot for way in ways for spot in way} | set(depth), key=str):
        rows[spot.row if isinstance(spot, Bend) else depth[spot]].append(spot)
        joined.add_node(spot)
    joined.add_edges_from(pair for way in ways for pair in itertools.pairwise(way))
    for sweep in range(24):
        place = {spot: x for row in rows for spot, x in zip(row, middles(row), strict=True)}
        number = range(1, len(rows)) if sweep % 2 == 0 else range(len(rows) - 2, -1, -1)
        for row in number:
            beside = set(rows[row - 1 if sweep % 2 == 0 else row + 1])
            pull = {spot: [place[other] for other in joined[spot] if other in beside] for spot in rows[row]}
            rows[row].sort(key=lambda spot: sum(pull[spot]) / len(pull[spot]) if pull[spot] else place[spot])
            place |= dict(zip(rows[row], middles(rows[row]), strict=True))
    return rows


def width_of(spot: Spot) -> int:
    return WIDTH if isinstance(spot, str) else 4


def middles(row: list[Spot]) -> list[float]:
    """Where the spots of a row stand, around 0."""
    ends = list(itertools.accumulate(width_of(spot) + GAP_X for spot in row))
    return [end - (width_of(spot) + GAP_X) / 2 - ends[-1] / 2 for spot, end in zip(row, ends, strict=True)]


def describe(room: str) -> str:
    """What stands at the head of a room."""
    tree = ast.parse(MODULES[f"wmlab.{room}"].read_text(encoding="utf-8"))
    return (ast.get_docstring(tree) or "").split("\n")[0]


def draw() -> str:
    """The picture as SVG: a box for each room with its number of modules, an arrow to each room that it needs.

    An arrow is left out where others lead the same way by another room.
    """
    graph = room_graph()
    graph.remove_nodes_from([room for room in LEFT_OUT if room in graph])
    depth = depths(graph)
    ways = ways_of(nx.transitive_reduction(graph), depth)
    rows = ordered_rows(ways, depth)
    span = max(sum(width_of(spot) + GAP_X for spot in row) for row in rows)
    spots = {
        spot: (MARGIN + span / 2 + x, MARGIN + number * (HEIGHT + GAP_Y))
        for number, row in enumerate(rows)
        for spot, x in zip(row, middles(row), strict=True)
    }
    size = (span + 2 * MARGIN, 2 * MARGIN + len(rows) * (HEIGHT + GAP_Y) - GAP_Y)
    body = [arrow([spots[spot] for spot in way]) for way in ways]
    body += [box(room, *spots[room]) for room in sorted(depth)]
    return "\n".join([*head(*size), *body, "</svg>", ""])


def head(width: float, height: float) -> list[str]:
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" font-family="sans-serif" '
        'role="img" aria-label="The rooms of wmlab; arrows lead to the rooms that a room imports">',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0L8 4L0 8z" fill="#667"/></marker></defs>',
        f'<rect width="{width:g}" height="{height:g}" fill="#fff"/>',
    ]


def arrow(points: list[tuple[float, float]]) -> str:
    """From the foot of the first room, past bends, to the head of the last."""
    path = f"M{points[0][0]:.1f} {points[0][1] + HEIGHT:.1f}"
    for (x1, y1), (x2, y2) in itertools.pairwise(points):
        foot, top = y1 + HEIGHT, y2 - (1 if (x2, y2) == points[-1] else 0)
        path += (
            f"L{x1:.1f} {foot:.1f}C{x1:.1f} {foot + GAP_Y / 2:.1f} {x2:.1f} {top - GAP_Y / 2:.1f} {x2:.1f} {top:.1f}"
        )
    return f'<path d="{path}" fill="none" stroke="#99a" stroke-width="1.2" marker-end="url(#tip)"/>'


def box(room: str, x: float, y: float) -> str:
    count = sum(room_of(name) == room for name in MODULES)
    frame = (
        f'x="{x - WIDTH / 2:.1f}" y="{y:.1f}" width="{WIDTH}" height="{HEIGHT}" rx="6" fill="#eef3fb" stroke="#4a6fa5"'
    )
    name = f'<text x="{x:.1f}" y="{y + 20:.1f}" text-anchor="middle" font-size="15" fill="#123">{room}</text>'
    size = f"{count} module{'s' if count > 1 else ''}"
    small = f'<text x="{x:.1f}" y="{y + 37:.1f}" text-anchor="middle" font-size="11" fill="#567">{size}</text>'
    return f"<g><title>{describe(room)}</title><rect {frame}/>{name}{small}</g>"


if __name__ == "__main__":
    FILE.write_text(draw(), encoding="utf-8")
