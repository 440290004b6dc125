"""The live page in a real browser: what happens in a run is seen within two seconds, and it ends as the run's page."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from tests.app.live_runs import MadeRun
from tests.browser.pages import EVIL
from wmlab.app.live import LiveRun, LiveServer
from wmlab.runtime.events import Failure, Notice

pytestmark = pytest.mark.browser
SOON = 2.0  # seconds


@pytest.fixture
def serve(tab):
    """Opens the live page of a run."""
    servers = []

    def opened(run, width=1600, look="light"):
        server = LiveServer(LiveRun(run.store, run.log.id))
        servers.append(server)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True).start()
        tab.open(Page(server.url), width, look)
        return server

    yield opened
    tab.driver.get("about:blank")
    for server in servers:
        server.shutdown()
        server.server_close()


class Page:
    """An address, as a tab opens it."""

    def __init__(self, url: str):
        self.url = url

    def as_uri(self) -> str:
        return self.url


def soon(condition):
    """The seconds until a condition holds."""
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < SOON + 3.0, "it never came"
        time.sleep(0.05)
    return time.monotonic() - began


def states(tab):
    return tab.run("return [...document.querySelectorAll('[data-squares] .square')].map((one) => one.classList[1])")


def test_what_happens_is_seen_within_two_seconds(tab, serve, tmp_path):
    with MadeRun(tmp_path / ".wmlab", seeds=3) as run:
        serve(run)
        soon(lambda: "The run is on" in tab.find("#l-sentence").text)
        assert states(tab).count("waiting") == 6
        run.start(0)
        run.progress(0, 30, loss=0.5)
        assert soon(lambda: "30 %" in tab.find("#l-running").text) < SOON
        run.progress(0, 60, loss=0.1)
        assert soon(lambda: tab.all("#l-curves path[stroke]") != []) < SOON
        run.finish(0)
        run.start(2)
        run.finish(2, "failed", Failure("ValueError", EVIL, f"one\n{EVIL}"))
        assert soon(lambda: tab.find("#l-failures").text != "") < SOON
        assert "ValueError" in tab.find("#l-failures .error").text and states(tab).count("done") == 1
        assert "✗ 1" in tab.find(".plan .box.failed .count").text
        boxes = "[...document.querySelectorAll('.plan .box.failed .' + arguments[0])]"
        width = f"return {boxes}.map((one) => one.width.baseVal.value)"
        assert tab.run(width, "done") == pytest.approx([132 / 3]) and tab.run(width, "lost") == pytest.approx([132 / 3])
        assert tab.driver.title.startswith("17 %") and "✗ 1 failed" in tab.find("#l-counts").text  # one of six is done
        run.tell(Notice(EVIL))
        assert soon(lambda: tab.find("#l-notices").text != "") < SOON
        assert tab.driver.title != "run" and tab.all("img[src='x']") == []
        assert tab.complaints() == [] and not tab.overflows()


def test_curves_of_several_stages_have_a_legend(tab, serve, tmp_path):
    with MadeRun(tmp_path / ".wmlab") as run:
        serve(run)
        for place in (0, 2):
            run.start(place)
            for done in (20, 50):
                run.progress(place, done, loss=1 / done)
        soon(lambda: len(tab.all("#l-curves .key li")) == 2)
        named = [line.text.strip() for line in tab.all("#l-curves .key li")]
        strokes = [mark.get_attribute("stroke") for mark in tab.all("#l-curves .key path")]
        assert named == ["made: train seed=0", "made: train seed=1"]
        assert strokes == [line.get_attribute("stroke") for line in tab.all("#l-curves .curve path[stroke]")]


def test_it_ends_as_the_finished_page(tab, serve, tmp_path):
    with MadeRun(tmp_path / ".wmlab") as run:
        serve(run)
        soon(lambda: states(tab) != [])
        for place in range(4):
            run.finish(place)
        run.end(b"<!doctype html><title>finished</title><h1>the page</h1>")
        assert soon(lambda: tab.driver.title == "finished") < SOON
        assert "/report/made/p/index.html" in tab.driver.current_url


def test_a_server_that_is_gone_is_said(tab, serve, tmp_path):
    with MadeRun(tmp_path / ".wmlab") as run:
        server = serve(run)
        soon(lambda: states(tab) != [])
        server.shutdown()
        server.server_close()
        tab.run("window.setTimeout = ((later) => (act) => later(act, 50))(window.setTimeout)")  # no long waits here
        began = time.monotonic()
        while "Nobody answers" not in tab.find("#l-sentence").text:
            assert time.monotonic() - began < 20
            time.sleep(0.1)


@pytest.mark.parametrize("width", [400, 1600])
@pytest.mark.parametrize("look", ["light", "dark"])
def test_four_hundred_stages_fit_the_window(tab, serve, tmp_path, width, look):
    with MadeRun(tmp_path / ".wmlab", seeds=200, name=EVIL) as run:
        for place in range(0, 240, 2):
            run.start(place)
            for done in (20, 50, 100):
                run.progress(place, done, loss=1 / (done + place), **{"return": done / 100})
            run.finish(place)
        for place in (1, 3, 5, 240, 242):
            run.start(place)
            run.progress(place, 40)
        run.finish(5, "failed", Failure("StageError", "P-learning diverged", "Traceback\n  line"))
        serve(run, width, look)
        soon(lambda: states(tab).count("done") == 120)
        assert len(states(tab)) == 400 and not tab.overflows() and tab.complaints() == []
        took = tab.run("const began = performance.now(); document.body.offsetHeight; return performance.now() - began")
        assert took < 200
        if os.environ.get("WMLAB_SCREENSHOTS"):
            time.sleep(1.2)
            tab.picture(Path(os.environ["WMLAB_SCREENSHOTS"]) / f"live-{width}-{look}.png")
        for control in tab.all("main progress, main [tabindex]"):
            assert control.accessible_name or not control.is_displayed()
