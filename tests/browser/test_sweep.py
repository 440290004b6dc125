"""Points and checkpoints in a browser: each control changes what is drawn, and numbers are those of the results."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.browser import pages
from tests.browser.pages import EVIL

pytestmark = pytest.mark.browser
ENTER = "\ue007"
LEFT, RIGHT = "\ue012", "\ue014"


@pytest.fixture
def shown(tab, tmp_path):
    results = pages.sweep()
    tab.open(pages.write_sweep(tmp_path, results))
    return results


def table(tab) -> dict[str, float]:
    read = "(button) => [button.dataset.where, Number(button.dataset.value)]"
    return dict(tab.run(f"return [...document.querySelectorAll('#s-table button')].map({read})"))


def entry(results, *place):
    return results["metrics"][f"{place}/wm.tv"]


def looks(tab) -> tuple[bytes, str]:
    return tab.find("#s-view").screenshot_as_png, tab.run("return document.getElementById('s-view').innerHTML")


def test_the_table_holds_the_means_of_the_results_and_says_why_a_cell_is_empty(tab, shown):
    drawn = table(tab)
    assert drawn == {
        f"{i},{j},0": pytest.approx(entry(shown, i, j, 0)["mean"], rel=1e-5)
        for i in range(2)
        for j in range(3)
        if (i, j) != (1, 2)
    }
    assert "not run" in tab.find("#s-table").text
    assert tab.complaints() == [] and tab.requests() == [] and not tab.overflows()
    assert tab.driver.title.startswith("</script>")  # names stay text


def test_it_opens_on_the_first_metric_that_was_followed_so_that_the_slider_moves(tab, tmp_path):
    results = pages.sweep()
    metrics = results["metrics"]
    results["metrics"] = dict(sorted(metrics.items(), key=lambda item: item[1]["metric"] == "wm.tv"))
    tab.open(pages.write_sweep(tmp_path, results))
    names = [option.get_attribute("textContent") for option in tab.all("#s-metric option")]
    assert names == [EVIL, "wm.tv"] and tab.find("#s-metric").get_attribute("value") == "1"
    assert tab.find("#s-step").is_enabled()


def test_a_cell_has_two_digits_of_its_error_and_the_mean_to_the_same_place(tab, tmp_path):
    results = pages.sweep()
    found = results["metrics"]
    for place, (mean, error) in {
        (0, 0, 0): (0.14021, 0.02749),
        (0, 1, 0): (-12.3456, 1.2),
        (0, 2, 0): (2.0, 0.0),
    }.items():
        found[f"{place}/wm.tv"] |= {"mean": mean, "se_over_seeds": error}
    tab.open(pages.write_sweep(tmp_path, results))
    told = [button.text.replace("\n", " ") for button in tab.all("#s-table button")]
    assert {"0.140 ± 0.027", "−12.3 ± 1.2", "2 ± 0"} <= {*told}


def test_errors_over_orders_of_magnitude_are_coloured_by_powers_of_ten(tab, tmp_path):
    results = pages.sweep(followed=False)
    for place, (name, found) in enumerate(results["metrics"].items()):
        if name.endswith("wm.tv"):
            found["mean"] = 10.0 ** -(place % 5)
    tab.open(pages.write_sweep(tmp_path, results))
    names = [option.get_attribute("textContent") for option in tab.all("#s-metric option")]
    tab.choose("#s-metric", str(names.index("wm.tv")))
    assert tab.find("#s-powers").is_selected() and "colours by powers of ten" in tab.find("#s-caption").text
    tab.find("#s-powers").send_keys(" ")  # a person may have it otherwise
    assert not tab.find("#s-powers").is_selected() and "powers of ten" not in tab.find("#s-caption").text
    tab.choose("#s-metric", str(1 - names.index("wm.tv")))
    assert not tab.find("#s-powers").is_selected()


def test_headings_of_columns_are_apart(tab, tmp_path):
    results = pages.sweep()
    tab.open(pages.write_sweep(tmp_path, results))
    tab.choose("#s-down", "-1")
    gap = "parseFloat(getComputedStyle(one).paddingRight)"
    assert min(tab.run(f"return [...document.querySelectorAll('.heat thead th')].map((one) => {gap})")) > 8


def test_the_slider_goes_through_the_checkpoints(tab, shown):
    slider = tab.find("#s-step")
    assert slider.get_attribute("value") == "4" and "end of training" in tab.find("#s-at").text
    for step in (3, 2, 1, 0):
        slider.send_keys(LEFT)
        expected = entry(shown, 0, 1, 0)["curve"]["mean"][step]
        assert table(tab)["0,1,0"] == pytest.approx(expected, rel=1e-5)
        assert f"checkpoint {step + 1} of 4, {shown['steps'][step]} steps" in tab.find("#s-at").text
    tab.choose("#s-metric", "1")
    assert not slider.is_enabled()  # that metric was taken at the end alone


def test_every_control_changes_what_is_drawn(tab, shown):
    tab.find("#s-table button").send_keys(ENTER)
    acts = {
        "metric": lambda: tab.choose("#s-metric", "1"),
        "back": lambda: tab.choose("#s-metric", "0"),
        "powers": lambda: tab.find("#s-powers").send_keys(" "),
        "slider": lambda: tab.find("#s-step").send_keys(LEFT),
        "other axis": lambda: tab.choose("#s-axis-2", "1"),
        "across": lambda: tab.choose("#s-across", "2"),
        "down": lambda: tab.choose("#s-down", "-1"),
        "axis that was down": lambda: tab.choose("#s-axis-1", "2"),
    }
    for name, act in acts.items():
        before = looks(tab)
        act()
        after = looks(tab)
        assert before[0] != after[0] and before[1] != after[1], name
    assert table(tab) == {
        f"0,2,{k}": pytest.approx(entry(shown, 0, 2, k)["curve"]["mean"][3], rel=1e-5) for k in range(2)
    }
    assert tab.complaints() == []


def test_choosing_the_axis_that_is_down_swaps_the_two(tab, shown):
    tab.choose("#s-across", "1")
    assert tab.find("#s-down").get_attribute("value") == "0"
    tab.choose("#s-down", "1")
    assert tab.find("#s-across").get_attribute("value") == "0"


def test_enter_on_a_cell_leads_to_the_curve_of_its_point(tab, shown):
    cells = tab.all("#s-table button")
    cells[1].send_keys(ENTER)
    where = [int(part) for part in tab.find("#s-point").get_attribute("data-where").split(",")]
    heading = tab.find("#s-point h3").text
    assert heading.startswith("wm.tv at depth = 2, width = 16") and EVIL in heading
    assert tab.run("return document.activeElement.id") == "s-point"
    drawn = [float(dot.get_attribute("data-value")) for dot in tab.all("#s-point circle")]
    assert drawn == pytest.approx(entry(shown, *where)["curve"]["mean"], rel=1e-5)
    tab.find("#s-point summary").send_keys(ENTER)
    rows = tab.all("#s-point tbody tr")
    assert len(rows) == 2
    numbers = [float(each.get_attribute("data-value")) for each in rows[0].find_elements("css selector", "td")]
    expected = entry(shown, *where)
    assert numbers == pytest.approx([expected["mean"], expected["se_over_seeds"], 2, *expected["values"]], rel=1e-5)
    for _ in range(2):
        tab.find("#s-step").send_keys(LEFT)
    assert tab.all("#s-point .now") and tab.find("#s-point details").get_attribute("open")


def test_without_checkpoints_a_click_on_a_point_shows_its_seeds(tab, tmp_path):
    results = pages.sweep(followed=False)
    tab.open(pages.write_sweep(tmp_path, results))
    assert not tab.find("#s-steps").is_displayed()
    tab.run("document.getElementById('s-table').scrollIntoView({block: 'center', behavior: 'instant'})")
    tab.find("#s-table button").click()
    drawn = [float(dot.get_attribute("data-value")) for dot in tab.all("#s-point circle")]
    assert drawn == pytest.approx(entry(results, 0, 0, 0)["values"], rel=1e-5)


@pytest.mark.parametrize("look", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1600])
def test_it_can_be_read_on_a_phone_and_on_a_desk(tab, tmp_path, width, look):
    tab.open(pages.write_sweep(tmp_path, pages.sweep()), width, look)
    tab.find("#s-table button").send_keys(ENTER)
    tab.run("document.getElementById('sweep').scrollIntoView()")
    assert not tab.overflows()
    if os.environ.get("WMLAB_SCREENSHOTS"):
        tab.picture(Path(os.environ["WMLAB_SCREENSHOTS"]) / f"sweep-{width}-{look}.png")


def test_every_control_has_a_name(tab, shown):
    controls = tab.all("#s-view select, #s-view button, #s-view input")
    assert len(controls) >= 10
    for control in controls:
        assert control.accessible_name or not control.is_displayed()
