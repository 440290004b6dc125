"""What an extraction says of itself stands on the screen, at the head of the page, and in results.json."""

from __future__ import annotations

import pytest

from wmlab.app.page_makers import draw_page

WORLD = """
wmlab: 1
name: noted
mdp: {kind: gridworld, map: "........", slip: {straight: 0.5, stay: 0.5}, actions: [left, right]}
goals: {reward: {kind: indicator}, at: all}
agent: {kind: exact, discount: 0.99}
evaluate: {model_error: {}}
"""
# extraction and goals: the finding that a run ends with
NOTED = {
    "extract: {kind: pseudo_inverse}\nvariants: {few: {goals: {at: [[0, 3], [0, 5]]}}}": "off_the_simplex",
    "extract: {kind: column_matching}\nvariants: {few: {goals: {at: [[0, 3]]}}}": "had_a_choice",
    "extract: {kind: column_matching}": "assumed_too_much",
    "extract: {kind: sparse_lp, size: 2}\nvariants: {few: {goals: {at: [[0, 3]]}}}": "had_a_choice",
    "extract: {kind: lp, tie_break: least_norm}\nvariants: {few: {goals: {at: [[0, 3]]}}}": "had_a_choice",
}


@pytest.mark.parametrize("written", NOTED)
def test_what_an_extraction_notes_reaches_the_screen(terminal, written):
    (terminal.folder / "noted.yaml").write_text(WORLD + written)
    terminal.run("noted.yaml")
    found = {one["id"]: one for one in terminal.report("noted", "full")["findings"]}
    assert NOTED[written] in found
    assert f"{found[NOTED[written]]['severity']}: {found[NOTED[written]]['sentence']}" in terminal.out


def test_an_exact_reading_ends_with_no_finding(terminal):
    (terminal.folder / "noted.yaml").write_text(WORLD + "extract: {kind: lp}")
    terminal.run("noted.yaml")
    assert terminal.report("noted", "full")["findings"] == []


def test_a_projected_run_that_had_not_converged_says_so_on_the_screen_and_on_its_page(terminal, monkeypatch):
    monkeypatch.setattr("wmlab.app.page_makers.draw_page", draw_page)
    written = "extract: {kind: tabular_p_learning, projected: true, steps: 300}"
    (terminal.folder / "noted.yaml").write_text(WORLD + written)
    terminal.run("noted.yaml")
    results = terminal.report("noted", "full")
    assert results["metrics"]["wm.tv"]["mean"] > 0.27
    (said,) = (one["sentence"] for one in results["findings"] if one["id"] == "not_settled")
    assert f"doubtful: {said}" in terminal.out
    assert said in (terminal.folder / "reports" / "noted" / "full" / "index.html").read_text()
