"""Pages on paper: a PDF can be made of them, and nothing is wider than the sheet."""

from __future__ import annotations

import base64

import pytest

from tests.browser import pages

pytestmark = pytest.mark.browser
SHEET = 717  # pixels: A4 within margins of a centimetre
WIDER = """
const shown = [...document.querySelectorAll('body *')].filter((one) => one.getClientRects().length);
return shown.filter((one) => !one.closest('.hidden, svg *') && one.getBoundingClientRect().right > arguments[0] + 1)
  .map((one) => `${one.tagName} ${one.className} ${(one.textContent || '').slice(0, 40)}`);
"""


@pytest.mark.parametrize("sort", ["experiment", "suite", "diff"])
def test_a_page_prints_and_nothing_on_it_is_wider_than_the_sheet(tab, tmp_path, sort):
    tab.open(getattr(pages, f"write_{sort}")(tmp_path))
    made = base64.b64decode(
        tab.driver.execute_cdp_cmd("Page.printToPDF", {"paperWidth": 8.27, "paperHeight": 11.69})["data"]
    )
    assert made.startswith(b"%PDF-") and len(made) > 10_000
    tab.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    metrics = {"width": SHEET, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
    tab.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        assert not tab.find("#main nav, nav, .skip").is_displayed()  # the style of paper is on
        assert tab.run(WIDER, SHEET) == []
    finally:
        tab.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
