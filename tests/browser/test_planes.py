"""The explorer of a continuous world in a real browser: controls change the picture, numbers are the stored ones."""

from __future__ import annotations

import numpy as np
import pytest

from tests.browser import pages
from tests.browser.pages import EVIL

pytestmark = pytest.mark.browser
HALF = 2.0**-10  # of a number, as pages keep it
ENTER, LEFT, UP, RIGHT, DOWN = "\ue007", "\ue012", "\ue013", "\ue014", "\ue015"  # keys, as a driver is told


@pytest.fixture
def shown(tab, tmp_path_factory):
    made = pages.planes()
    tab.open(pages.write_report(tmp_path_factory.mktemp("planes"), made))
    return made


def read(tab):
    """The numbers at the chosen place, by side."""
    cells = tab.all("#x-facts td")
    return {cell.get_attribute("data-side"): float(cell.get_attribute("data-value")) for cell in cells}


def go_to(tab, across, up):
    """Move to a cell by keyboard: to the corner first, wherever one stands."""
    panel = tab.all("#x-panels svg")[0]
    panel.send_keys(*[LEFT, DOWN] * 8, *[RIGHT] * across, *[UP] * up)


def slide(tab, selector, value):
    script = "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input'))"
    tab.run(script, tab.find(selector), str(value))


def pixels(tab, panel=0):
    """The colours of one panel's canvas."""
    script = (
        "const one = document.querySelectorAll('#x-panels canvas')[arguments[0]];"
        "return Array.from(one.getContext('2d').getImageData(0, 0, one.width, one.height).data)"
    )
    return tab.run(script, panel)


def picture(tab):
    """All that is drawn: colours of every panel, what lies upon them, and their scales."""
    count = len(tab.all("#x-panels canvas"))
    upon = tab.run("return document.getElementById('x-panels').innerHTML")
    return (*(tuple(pixels(tab, place)) for place in range(count)), upon)


def near(told, stored):
    return told == pytest.approx(float(stored), rel=HALF)


def test_numbers_at_a_place_are_those_of_the_stored_arrays(tab, shown):
    grid = {name: array.reshape(*array.shape[:-1], 5, 7, 3) for name, array in shown.arrays.items() if "way" not in name
            and array.ndim and array.shape[-1] == 105}  # fmt: skip
    tab.choose("#x-goal", "1")
    tab.choose("#x-action", "0")
    slide(tab, "#x-at-2", 2)
    at = (3, 6, 2)
    go_to(tab, *at[:2])
    expected = {
        "v": (grid["exact/v"][(1, *at)], grid["v"][(1, *at)]),
        "q": (grid["exact/q"][(1, 0, *at)], grid["q"][(1, 0, *at)]),
        "td": (grid["td/truth"][(1, 0, *at)], grid["td/model"][(1, 0, *at)]),
    }
    for name, (truth, model) in expected.items():
        tab.choose("#x-show", name)
        told = read(tab)
        assert near(told["truth"], truth) and near(told["model"], model)
        assert told["difference"] == pytest.approx(told["model"] - told["truth"])
    tab.choose("#x-show", "move/2")
    truth, error = grid["move/truth"][(0, 2, *at)], grid["move/error"][(0, 2, *at)]
    told = read(tab)
    assert near(told["truth"], truth) and near(told["difference"], error)
    assert told["model"] == pytest.approx(float(truth + error), rel=4 * HALF)
    tab.choose("#x-show", "size")
    usual = np.sqrt(((grid["move/error"][(0, slice(None), *at)] / 0.05) ** 2).mean())
    assert read(tab)["difference"] == pytest.approx(float(usual), rel=4 * HALF)
    assert tab.complaints() == []


def test_every_control_changes_what_is_drawn(tab, shown):
    options = [one.get_attribute("value") for one in tab.all("#x-show option")]
    assert options == ["move/0", "move/1", "move/2", "move/3", "size", "v", "q", "td", "visits"]
    seen = []
    for value in options:
        tab.choose("#x-show", value)
        seen.append(picture(tab))
    assert len({*seen}) == len(seen)
    tab.choose("#x-show", "q")
    acts = {
        "goal": lambda: tab.choose("#x-goal", "1"),
        "action": lambda: tab.choose("#x-action", "0"),
        "slider": lambda: slide(tab, "#x-at-2", 0),
        "colours": lambda: tab.choose("#x-scale", "all"),
        "difference": lambda: tab.choose("#x-apart", "same"),
        "arrows": lambda: tab.find("#x-arrows").send_keys(" "),
        "across": lambda: tab.choose("#x-across", "2"),
        "up": lambda: tab.choose("#x-up", "0"),
        "place": lambda: go_to(tab, 1, 1),
        "start": lambda: tab.all("#x-panels svg")[1].send_keys(ENTER),
        "step": lambda: slide(tab, "#x-step", 3),
        "clear": lambda: tab.find("#x-clear").send_keys(ENTER),
    }
    for name, act in acts.items():
        before = picture(tab)
        act()
        assert picture(tab) != before, name
    assert [one for one in tab.complaints() if "willReadFrequently" not in one] == []  # the test itself reads often


def test_colours_are_made_so_that_a_truth_beside_a_model_far_off_can_still_be_read(tab, shown):
    truth = np.array(pixels(tab, 0)).reshape(-1, 4)[:, :3]
    model = np.array(pixels(tab, 1)).reshape(-1, 4)[:, :3]
    assert len(np.unique(truth, axis=0)) > 5  # though its numbers are within a fiftieth of the model's
    ends = {(0, 68, 107), (122, 53, 0)}
    assert np.mean([tuple(colour) in ends for colour in model.tolist()]) < 0.25  # and hardly any lies at an end
    scales = tab.run("return [...document.querySelectorAll('.bar .marks')].map((bar) => bar.textContent)")
    assert scales[0] == scales[1] and "steps that widen" in tab.find("#x-caption").text


def test_pointing_reads_and_clicking_sets_out_from_the_nearest_start(tab, shown):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.support.wait import WebDriverWait

    panel = tab.all("#x-panels svg")[0]
    tab.run("arguments[0].scrollIntoView({block: 'center'})", panel)
    stored = shown.arrays["move/truth"].reshape(3, 4, 5, 7, 3)[2, 0, 4, 6, 1]

    def point(nudge=0):
        wide, high = panel.size["width"], panel.size["height"]
        place = (0.9 * wide - wide / 2 - nudge, 0.05 * high - high / 2)  # the last column, the topmost row
        return ActionChains(tab.driver).move_to_element_with_offset(panel, *map(int, place))

    def reads(_):
        point(1).perform()  # a pointer that is there already is not told of: it comes from beside
        point().perform()
        return near(read(tab)["truth"], stored)

    WebDriverWait(tab.driver, 10).until(reads)  # a browser tells of a pointer with the next picture that it draws
    point().click().perform()
    start = 2 * 3 + 2  # the last along both
    told = tab.find("#x-told").text
    assert f"the episode is over after {shown.arrays['steps/truth'][0, start]} steps" in told
    assert "in the model it is not over within 100 steps" in told
    drawn = tab.find("#x-panels .ways path.world").get_attribute("d")
    first = [float(part) for part in drawn[1:].split("L")[0].split("M")[0].split(",")]
    angle, other = shown.arrays["way/truth"][0, start, 0, :2]
    expected = [100 * (angle + np.pi) / (2 * np.pi), 100 - 100 * (other + 2) / 4]
    assert first == pytest.approx(expected, abs=0.2)
    slide(tab, "#x-step", 2)
    assert tab.find("#x-count").text == "step 40"


def test_a_way_is_cut_where_an_angle_goes_round(tab, shown):
    ways = shown.arrays["way/truth"][0, :, :, 0]
    rounds = [int((np.abs(np.diff(way)) > np.pi).sum()) for way in ways]
    for across in (0, 2, 4):
        go_to(tab, across, 0)
        tab.all("#x-panels svg")[0].send_keys(ENTER)
        start = int((across + 0.5) / 5 * 3) * 3
        assert tab.find("#x-panels .ways path.world").get_attribute("d").count("M") == 1 + rounds[start]


def test_choosing_the_other_axis_swaps_the_two(tab, shown):
    tab.choose("#x-across", "1")
    assert tab.find("#x-up").get_attribute("value") == "0"
    assert tab.find(".along .name").get_attribute("textContent") == EVIL
    sliders = [line.is_displayed() for line in tab.all("#x-sliders p")]
    assert sliders == [False, False, True]


def test_every_control_has_a_name_and_is_reached_by_keyboard(tab, shown):
    controls = tab.all("#explore select, #explore button, #explore input, #explore svg[tabindex]")
    assert len(controls) >= 14
    for control in controls:
        assert control.accessible_name or not control.is_displayed()


@pytest.mark.parametrize("name", ["v", "visits"])
def test_where_a_goal_ends_an_episode_is_hatched_on_every_picture(tab, shown, name):
    tab.choose("#x-show", name)
    paths = tab.run("return [...document.querySelectorAll('#x-panels .ends')].map((one) => one.getAttribute('d'))")
    assert paths and all(paths)
    assert "ends an episode is hatched." in tab.find("#x-caption").text
