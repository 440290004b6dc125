"""Pages in a real browser: no error, no request, controls change what is drawn, and numbers are the stored ones."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from tests.browser import pages
from tests.browser.pages import EVIL

pytestmark = pytest.mark.browser
WHOLE = ("runs", "diff", "experiment", "suite")  # sorts of pages that are written in one piece
SIZES = [(width, look) for width in (400, 1600) for look in ("light", "dark")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where pages are written; WMLAB_SCREENSHOTS names a folder for pictures of them."""
    return tmp_path_factory.mktemp("pages")


@pytest.mark.parametrize(("width", "look"), SIZES)
@pytest.mark.parametrize("sort", ["runs", "diff", "report", "planes", "experiment", "suite"])
def test_a_page_opens_without_complaint_or_request_and_fits_its_window(tab, folder, sort, width, look):
    made = pages.write_report(folder, pages.planes() if sort == "planes" else pages.explorer())
    page = getattr(pages, f"write_{sort}")(folder) if sort in WHOLE else made
    tab.open(page, width, look)
    if os.environ.get("WMLAB_SCREENSHOTS"):
        tab.picture(Path(os.environ["WMLAB_SCREENSHOTS"]) / f"{sort}-{width}-{look}.png")
    assert tab.complaints() == []
    beside = {"runs": {(folder / "figures" / "map.svg").as_uri()}}
    assert {name for name in tab.requests() if not name.startswith("data:")} <= beside.get(sort, set())
    assert not tab.overflows() and tab.driver.title != "run"
    assert tab.all("img[src='x']") == []
    if sort == "runs":
        assert tab.run("return document.querySelector('td img').naturalWidth") > 0  # the policy lets pictures in
    if sort in ("experiment", "suite"):
        assert tab.all("figure svg")  # with its figures


@pytest.mark.parametrize(("width", "across"), [(1600, 3), (400, 1)])
def test_the_sides_of_a_diff_stand_beside_each_other_equally_wide(tab, folder, width, across):
    tab.open(pages.write_diff(folder), width)
    boxes = [figure.rect for figure in tab.all(".beside")[0].find_elements("css selector", "figure")]
    assert len(boxes) == 3 and len({box["x"] for box in boxes}) == across
    assert len({round(box["width"]) for box in boxes}) == 1
    assert EVIL in tab.find("#claims").text and EVIL in tab.find("#values").text  # names stay text


# --- all runs -----------------------------------------------------------------------------------------------------


def shown_ids(tab):
    """The ids of the runs that are to be seen, in their order."""
    rows = "[...document.querySelectorAll('tbody tr:not([hidden]) td:last-child')]"
    return tab.run(f"return {rows}.map((cell) => cell.dataset.key)")


def test_runs_are_searched_by_any_of_their_words(tab, folder):
    tab.open(pages.write_runs(folder))
    assert len(shown_ids(tab)) == 30 and shown_ids(tab)[0] == "run0000"
    box = tab.find("#search")
    box.send_keys("LAPTOP spec3")
    found = shown_ids(tab)
    assert found == ["run0010"] and tab.find("#counted").text == "1 of 30"
    box.clear()
    box.send_keys("img src=x")
    assert shown_ids(tab) == ["run0005"]


def test_runs_are_sorted_by_any_column_both_ways_and_what_is_missing_comes_last(tab, folder):
    tab.open(pages.write_runs(folder))
    took = next(button for button in tab.all("thead button") if button.text.startswith("Took"))
    read = "return [...document.querySelectorAll('tbody tr')].map((row) => row.cells[7].dataset.key)"
    took.send_keys("\n")  # by keyboard
    first = tab.run(read)
    assert first[-1] == "" and [float(text) for text in first[:-1]] == sorted(float(text) for text in first[:-1])
    took.click()
    second = tab.run(read)
    assert second[-1] == "" and second[0] == max(first[:-1], key=float)
    assert took.find_element("xpath", "..").get_attribute("aria-sort") == "descending"


# --- the explorer -------------------------------------------------------------------------------------------------


@pytest.fixture
def open_explorer(tab, folder):
    shown = pages.explorer()
    tab.open(pages.write_report(folder, shown))
    return shown


def number(element, name="value"):
    return np.float32(element.get_attribute(f"data-{name}"))


def drawn(tab):
    """What the map looks like: its colours and all that lies upon it."""
    return tab.run("return document.getElementById('x-map').innerHTML")


def test_numbers_of_a_state_and_action_are_those_of_the_stored_arrays(tab, open_explorer):
    arrays = open_explorer.arrays
    for state, action in ((0, 0), (3, 2), (6, 3)):
        tab.choose("#x-state", str(state))
        tab.all("#x-actions button")[action].click()
        following, facts, values, plans = tab.all("#x-facts table")
        kept = [place for place in range(3) if arrays["next"][state, action, place] >= 0]
        rows = following.find_elements("css selector", "tbody tr")
        assert len(rows) == len(kept)
        for row, place in zip(rows, kept, strict=True):
            name, model, truth, interval = row.find_elements("css selector", "th, td")
            at = (state, action, place)
            assert name.get_attribute("textContent") == open_explorer.states[arrays["next"][at]]
            assert (number(model), number(truth)) == (arrays["model"][at], arrays["truth"][at])
            assert (number(interval, "low"), number(interval, "high")) == (arrays["low"][at], arrays["high"][at])
        told = [number(cell) for cell in facts.find_elements("css selector", "td")]
        assert told[:3] == [arrays[name][state, action] for name in ("tv", "residual", "nullity")]
        assert told[3] == arrays["visits"][state]
        told = [number(cell) for cell in values.find_elements("css selector", "td")]
        assert told == [x for g in range(2) for x in (arrays["q"][g, state, action], arrays["v"][g, state])]
        step = plans.find_elements("css selector", "td")[1].text
        assert step == open_explorer.actions[arrays[f"plan/{EVIL}/step"][state]]
    assert tab.complaints() == []


def test_every_control_changes_what_is_drawn(tab, open_explorer):
    seen = [drawn(tab)]
    options = [one.get_attribute("value") for one in tab.all("#x-show option")]
    assert {"v", "q", "tv", "residual", "nullity", "open", "visits", f"plan/{EVIL}", f"oracle/{EVIL}"} == {*options}
    for value in [one for one in options if one != "tv"]:
        tab.choose("#x-show", value)
        seen.append(drawn(tab))
    tab.choose("#x-show", "q")
    for act in (
        lambda: tab.choose("#x-goal", "1"),
        lambda: tab.choose("#x-state", "4"),
        lambda: tab.all("#x-actions button")[2].click(),
    ):
        before = drawn(tab)
        act()
        assert drawn(tab) != before
    assert len({*seen}) == len(seen)
    before = tab.find("#x-map").screenshot_as_png
    tab.choose("#x-show", "visits")
    assert tab.find("#x-map").screenshot_as_png != before  # pixels, too


def test_the_map_shows_the_chosen_quantity_in_each_cell(tab, open_explorer):
    tab.choose("#x-show", "v")
    tab.choose("#x-goal", "1")
    cells = [np.float32(cell.get_attribute("data-value")) for cell in tab.all("#x-map .cell")]
    assert np.array_equal(cells, open_explorer.arrays["v"][1])
    tab.choose("#x-show", "tv")
    means = [float(cell.get_attribute("data-value")) for cell in tab.all("#x-map .cell")]
    assert np.allclose(means, open_explorer.arrays["tv"].mean(axis=1), rtol=1e-6)
    assert not tab.find("#x-goal").is_enabled()


def test_goals_of_the_training_are_marked_and_of_a_plan_its_own(tab, open_explorer):
    def signs():
        return sorted(sign.get_attribute("textContent") for sign in tab.all("#x-map .marks text"))

    tab.choose("#x-show", "tv")
    assert signs() == ["☆"] * 3
    tab.choose("#x-show", "v")
    tab.choose("#x-goal", "0")
    (sign,) = tab.all("#x-map .marks text")
    row, column = open_explorer.cells[2]
    assert (float(sign.get_attribute("x")), float(sign.get_attribute("y"))) == (column + 0.5, row + 0.5)
    tab.choose("#x-goal", "1")
    assert signs() == ["☆"] * 2
    tab.choose("#x-show", f"plan/{EVIL}")
    assert signs() == ["★", "✕"]


def test_cells_take_clicks_and_arrow_keys_move_over_walls(tab, open_explorer):
    from selenium.webdriver.common.keys import Keys

    chosen = "return document.getElementById('x-state').value"
    tab.all("#x-map .cell")[2].click()
    assert tab.run(chosen) == "2"
    plane = tab.find("#x-map")
    for key, state in ((Keys.UP, "0"), (Keys.UP, "0"), (Keys.RIGHT, "1"), (Keys.DOWN, "3"), (Keys.DOWN, "5")):
        plane.send_keys(key)
        assert tab.run(chosen) == state


def test_an_error_that_is_the_same_everywhere_is_not_what_the_explorer_opens_on(tab, folder):
    shown = pages.explorer()
    shown.arrays["tv"][:] = 0.0
    tab.open(pages.write_report(folder, shown))
    assert tab.find("#x-show").get_attribute("value") == "v"
    shown.arrays["tv"][0] = 0.5
    tab.open(pages.write_report(folder, shown))
    assert tab.find("#x-show").get_attribute("value") == "tv"


def test_every_control_has_a_name(tab, open_explorer):
    for control in tab.all("#explore select, #explore button, #explore svg[tabindex]"):
        assert control.accessible_name


@pytest.mark.parametrize("sort", ["explorer", "planes"])
def test_without_a_script_the_page_says_so_and_shows_the_rest(tab, folder, sort):
    page = pages.write_report(folder, getattr(pages, sort)())
    tab.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        tab.open(page)
        assert not tab.find("#explore").is_displayed()
        assert tab.find("noscript").get_attribute("textContent").strip().startswith("The explorer needs JavaScript")
    finally:
        tab.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
