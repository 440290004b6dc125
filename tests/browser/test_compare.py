"""Comparing a page with other stored results in a browser: only what differs, two or more sides, one scale."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.browser import pages
from tests.browser.pages import EVIL

pytestmark = pytest.mark.browser


@pytest.fixture
def shown(tab, tmp_path):
    tab.open(pages.write_compared(tmp_path))
    return pages.sweep()["metrics"]


def tick(tab, place):
    tab.all(".c-other")[place].send_keys(" ")


def row(tab, name):
    lines = tab.all("[aria-label='Metrics that differ'] tbody tr")
    return next(line for line in lines if line.find_element("css selector", "th").text == name)


def dots(tab, side):
    return [float(dot.get_attribute("data-value")) for dot in tab.all(f"#c-drawn circle[data-side='{side}']")]


def test_nothing_is_shown_until_something_is_chosen_and_nothing_is_asked_for(tab, shown):
    assert len(tab.all(".c-other")) == 2
    assert tab.find("#c-shown").text == "" and not tab.find("#c-chart").is_displayed()
    assert tab.complaints() == [] and tab.requests() == [] and tab.driver.title.startswith("</script>")


def test_one_that_is_chosen_shows_only_what_differs_with_its_chance(tab, shown):
    tick(tab, 0)
    text = tab.find("#c-shown").text
    assert "11 the same" in text and "maze.yaml:6" in text and "--set agent.discount=…" in text
    assert EVIL in tab.find("[aria-label='Claims that differ'] tbody").text  # names stay text
    changed = [name for name in shown if name.endswith("wm.tv")]
    assert len(tab.all("[aria-label='Metrics that differ'] tbody tr")) == len(changed)
    cell = row(tab, changed[0]).find_elements("css selector", "td")[1]
    assert cell.get_attribute("data-chance") == "beyond chance" and "[0.1000, 0.4000]" in cell.text
    tick(tab, 0)
    assert tab.find("#c-shown").text == ""


def test_two_others_stand_side_by_side_and_on_one_scale(tab, shown):
    tick(tab, 0)
    tick(tab, 1)
    first = next(name for name in shown if name.endswith("wm.tv"))
    cells = row(tab, first).find_elements("css selector", "td")
    assert [cell.get_attribute("data-chance") for cell in cells] == [None, "beyond chance", "cannot be told"]
    last = [name for name in shown if name.endswith("wm.tv")][-1]
    assert row(tab, last).find_elements("css selector", "td")[2].text == "as A"
    tab.choose("#c-metric", last)
    curve = shown[last]["curve"]["mean"]
    assert dots(tab, "A") == pytest.approx(curve, rel=1e-5)
    assert dots(tab, "B") == pytest.approx([value + 0.25 for value in curve], rel=1e-5)
    assert dots(tab, "C") == pytest.approx(curve, rel=1e-5)
    heights = {side: float(tab.find(f"#c-drawn circle[data-side='{side}']").get_attribute("cy")) for side in "ABC"}
    assert heights["A"] == heights["C"] > heights["B"]  # the same scale: more is higher
    assert tab.complaints() == []


def test_every_control_changes_what_is_drawn_and_has_a_name(tab, shown):
    acts = [lambda: tick(tab, 0), lambda: tick(tab, 1), lambda: tab.choose("#c-metric", [*shown][-2])]
    for act in acts:
        before = tab.find("#c-view").screenshot_as_png
        act()
        assert tab.find("#c-view").screenshot_as_png != before
    assert all(control.accessible_name for control in tab.all("#c-view input, #c-view select"))


@pytest.mark.parametrize("look", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1600])
def test_it_can_be_read_on_a_phone_and_on_a_desk(tab, tmp_path, width, look):
    tab.open(pages.write_compared(tmp_path), width, look)
    tick(tab, 0)
    tick(tab, 1)
    assert not tab.overflows()
    if os.environ.get("WMLAB_SCREENSHOTS"):
        tab.run("document.getElementById('compare').scrollIntoView({behavior: 'instant'})")
        tab.picture(Path(os.environ["WMLAB_SCREENSHOTS"]) / f"compare-{width}-{look}.png")
        tab.run("document.getElementById('c-chart').scrollIntoView({behavior: 'instant', block: 'end'})")
        tab.picture(Path(os.environ["WMLAB_SCREENSHOTS"]) / f"compare-chart-{width}-{look}.png")
