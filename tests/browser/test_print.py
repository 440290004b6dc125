"""Pages on paper: a PDF can be made of them, and nothing is wider than the sheet."""

from __future__ import annotations

import base64
import os
from pathlib import Path

import pytest

from tests.browser import pages

pytestmark = pytest.mark.browser
SHEET = 717  # pixels: A4 within margins of a centimetre
WIDER = """
const shown = [...document.querySelectorAll('body *')].filter((one) => one.getClientRects().length);
return shown.filter((one) => !one.closest('.hidden, svg *') && one.getBoundingClientRect().right > arguments[0] + 1)
  .map((one) => `${one.tagName} ${one.className} ${(one.textContent || '').slice(0, 40)}`);
"""

BROKEN = """
const found = [];
for (const cell of document.querySelectorAll('.metrics thead th, .pivot thead th, .metrics .number, .pivot .number')) {
  const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) for (const word of texts.currentNode.data.matchAll(/[^\\s\u00a0\u202f]+/g)) {
    const range = document.createRange();
    range.setStart(texts.currentNode, word.index);
    range.setEnd(texts.currentNode, word.index + word[0].length);
    const lines = new Set([...range.getClientRects()].map((one) => Math.round(one.top)));
    if (lines.size > 1) found.push(word[0]);
  }
}
return found;
"""


def sweep_with_long_names(tmp_path):
    """A sweep whose metrics, points and seeds fill a table of many columns."""
    results = pages.sweep()
    results["seeds"] = list(range(8))
    for entry in results["metrics"].values():
        entry["metric"] = entry["metric"].replace("wm.tv", "unseen.safety_first_of_many_goals.achieved_on_arrival")
        entry["values"] = [entry["mean"] * 1e-7 + seed for seed in range(8)]
    return pages.write_sweep(tmp_path, results)


PAGES = {
    "experiment": pages.write_experiment,
    "suite": pages.write_suite,
    "diff": pages.write_diff,
    "sweep": sweep_with_long_names,
}


@pytest.mark.parametrize("sort", PAGES)
def test_a_page_prints_and_nothing_on_it_is_wider_than_the_sheet(tab, tmp_path, sort):
    tab.open(PAGES[sort](tmp_path))
    tab.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    made = base64.b64decode(
        tab.driver.execute_cdp_cmd("Page.printToPDF", {"paperWidth": 8.27, "paperHeight": 11.69})["data"]
    )
    if folder := os.environ.get("WMLAB_SCREENSHOTS"):
        (Path(folder) / f"print-{sort}.pdf").write_bytes(made)
    assert made.startswith(b"%PDF-") and len(made) > 10_000
    tab.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    metrics = {"width": SHEET, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
    tab.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        hidden = "return [...document.querySelectorAll('nav, .skip')].every((one) => !one.getClientRects().length)"
        assert tab.run(hidden)  # the style of paper is on
        assert tab.run(BROKEN) == []  # no number and no heading goes on in the middle of a word
        assert tab.run(WIDER, SHEET) == []
    finally:
        tab.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
