"""No cycle among modules or rooms, and a picture of the rooms that is up to date."""

from __future__ import annotations

import networkx as nx

from tests.architecture.imports import MODULES, ROOT, module_graph, room_graph, room_of
from tests.architecture.picture import FILE, draw


def cycles(graph: nx.DiGraph) -> list[list[str]]:
    return [sorted(group) for group in nx.strongly_connected_components(graph) if len(group) > 1]


def test_no_module_imports_itself_by_way_of_others():
    assert cycles(module_graph()) == []


def test_no_room_imports_itself_by_way_of_others():
    assert cycles(room_graph()) == []


def test_a_cycle_would_be_seen():
    assert cycles(nx.DiGraph([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")])) == [["a", "b", "c"]]


def test_the_picture_of_the_rooms_is_drawn_from_the_imports():
    assert FILE.read_text(encoding="utf-8") == draw(), "run `make schemas` and commit docs/architecture.svg"


def test_every_room_says_what_it_is_and_the_page_names_it():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    for room in {room_of(name) for name in MODULES if name != "wmlab"} - {"__main__"}:
        assert f"`{room}`" in page, f"docs/architecture.md says nothing of {room}"
