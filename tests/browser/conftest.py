"""A real browser, Debian's Chromium without a window, that opens pages from files."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

MISSING = "no browser to test pages in: install Debian's chromium and chromium-driver, and selenium (make test-browser)"


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: Any) -> Iterator[Any]:
    """The driver of a browser; where there is none, these tests fail and say what is missing."""
    browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if browser is None or driver is None:
        pytest.fail(MISSING)
    webdriver = pytest.importorskip("selenium.webdriver", reason=MISSING)
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(flag)
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('browser')}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    opened = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield opened
    opened.quit()


class Tab:
    """One page in the browser."""

    def __init__(self, driver: Any):
        self.driver = driver

    def open(self, page: Path, width: int = 1600, look: str = "light") -> None:
        self.driver.set_window_size(width, 1200)
        feature = {"features": [{"name": "prefers-color-scheme", "value": look}]}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", feature)
        metrics = {"width": width, "height": 1200, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        self.driver.get_log("browser")
        self.driver.get(page.as_uri())

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def find(self, selector: str) -> Any:
        return self.driver.find_element("css selector", selector)

    def all(self, selector: str) -> list[Any]:
        return list(self.driver.find_elements("css selector", selector))

    def choose(self, selector: str, value: str) -> None:
        """Choose of a list as a person would: the page is told of it."""
        options = self.find(selector).find_elements("css selector", "option")
        next(one for one in options if one.get_attribute("value") == value).click()

    def complaints(self) -> list[str]:
        """What the page wrote to the console: errors, and whatever its policy refused."""
        return [str(entry["message"]) for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """What the page asked for beside itself."""
        return list(self.run("return performance.getEntriesByType('resource').map((entry) => entry.name)"))

    def overflows(self) -> bool:
        """Whether a page is wider than its window."""
        return bool(self.run("return document.documentElement.scrollWidth > document.documentElement.clientWidth"))

    def picture(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        self.driver.save_screenshot(str(file))


@pytest.fixture
def tab(chromium: Any) -> Tab:
    return Tab(chromium)
