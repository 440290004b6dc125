"""axe-core finds nothing serious on any sort of page, in light and in dark."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from tests.app.live_runs import MadeRun
from tests.browser import pages
from tests.report.sample import document
from wmlab.app.live import LiveRun, LiveServer
from wmlab.report.data import SuiteRow
from wmlab.report.render import render, render_suite
from wmlab.runtime.events import Failure

pytestmark = pytest.mark.browser
MISSING = (
    "NOT TESTED: axe-core is not here; `make test-browser` takes it from npm where it can (WMLAB_AXE names its file)"
)
SERIOUS = ("serious", "critical")


@pytest.fixture(scope="module")
def axe():
    """The script of axe-core, which is no part of this repository."""
    file = Path(os.environ.get("WMLAB_AXE", ""))
    if not file.is_file() or not file.stat().st_size:
        pytest.skip(MISSING)
    return file.read_text(encoding="utf-8")


def faults(tab, axe):
    """What axe says is serious: the rule, what it means, and where."""
    tab.run(axe + "; window.axe = axe;")
    script = "const done = arguments[arguments.length - 1]; axe.run().then(done, (error) => done(String(error)))"
    tab.driver.set_script_timeout(60)
    found = tab.driver.execute_async_script(script)
    assert isinstance(found, dict), found
    assert len(found["passes"]) > 5  # it has looked
    return [
        (one["id"], one["help"], [node["target"] for node in one["nodes"]][:4])
        for one in found["violations"]
        if one["impact"] in SERIOUS
    ]


def written(folder, sort):
    if sort == "experiment":
        return pages.written(folder / "experiment.html", render(document())["index.html"])
    if sort == "suite":
        rows = [SuiteRow("one", "p", "one.html", document().results), SuiteRow("two", "p", "two.html", None, "not run")]
        return pages.written(folder / "suite.html", render_suite(rows, title="Both")["index.html"])
    if sort == "sweep":
        return pages.write_sweep(folder, pages.sweep())
    makers = {"index": pages.write_runs, "diff": pages.write_diff, "compared": pages.write_compared}
    if sort in makers:
        return makers[sort](folder)
    return pages.write_report(folder, pages.planes() if sort == "planes" else pages.explorer())


@pytest.mark.parametrize("look", ["light", "dark"])
@pytest.mark.parametrize("sort", ["experiment", "suite", "index", "diff", "explorer", "planes", "sweep", "compared"])
def test_nothing_serious_is_found_on_a_page(tab, axe, tmp_path, sort, look):
    tab.open(written(tmp_path, sort), 1600, look)
    if sort == "sweep":
        tab.run("document.querySelector('#s-table button').click()")
    if sort == "compared":
        tab.run("document.querySelectorAll('.c-other').forEach((box) => box.click())")
    assert faults(tab, axe) == []


@pytest.mark.parametrize("look", ["light", "dark"])
def test_nothing_serious_is_found_on_the_live_page(tab, axe, tmp_path, look):
    with MadeRun(tmp_path / ".wmlab", seeds=20) as run:
        for place in (0, 2, 4):
            run.start(place)
            run.progress(place, 30, loss=0.5)
            run.progress(place, 60, loss=0.2)
        run.finish(0)
        run.finish(2, "failed", Failure("ValueError", "no luck", "one\ntwo"))
        server = LiveServer(LiveRun(run.store, run.log.id))
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True).start()
        try:
            tab.driver.get("about:blank")
            tab.open(Path(tmp_path), 1600, look)
            tab.driver.get(server.url)
            began = time.monotonic()
            while not tab.find("#l-failures").text:
                assert time.monotonic() - began < 10
                time.sleep(0.1)
            assert faults(tab, axe) == []
        finally:
            tab.driver.get("about:blank")
            server.shutdown()
            server.server_close()
