"""The page of all runs: written after each run, linked to pages that are there, and no file of a user's is lost."""

from __future__ import annotations

import shutil
import webbrowser
from urllib.parse import unquote

from tests.report.test_render import Page


def page_of(terminal):
    return Page((terminal.folder / "reports" / "index.html").read_text())


def test_every_run_is_on_the_page_and_every_link_leads_somewhere(terminal):
    first = terminal.run("tiny.yaml")
    spec = terminal.folder / "tiny.yaml"
    spec.write_text(spec.read_text().replace("discount: 0.9", "discount: 0.5"))
    changed = terminal.run("tiny.yaml")
    seeds = terminal.run("tiny.yaml", "--seeds", "1", "--set", "agent.discount=0.7")
    page = page_of(terminal)
    places = [page.text.index(id) for id in (seeds, changed, first)]
    assert places == sorted(places) and "agent.discount=0.7 seeds=1" in page.text and "1 held" in page.text
    assert [link for link in page.links if link.endswith("index.html")] == [
        "tiny/full%2Bagent.discount%3D0.7%2Bseeds%3D1/index.html",
        "tiny/full/index.html",  # the report is that of the later run
        f"../.wmlab/runs/{first}/tiny/full/index.html",
    ]
    files = [link for link in page.links if not link.startswith("#")]
    assert len(files) == 6 and all((terminal.folder / "reports" / unquote(link)).is_file() for link in files)
    table = (terminal.folder / "reports" / "index.html").read_text().partition("<tbody")[2].partition("</tbody")[0]
    assert first in table and "running" not in table


def test_a_run_whose_page_is_gone_says_so(terminal):
    shutil.rmtree(terminal.folder / ".wmlab" / "runs" / terminal.run("tiny.yaml"))
    assert terminal("report") == "reports/index.html\n"
    page = page_of(terminal)
    assert "no page is kept" in page.text and page.links == ["#main"]


def test_a_user_s_own_index_is_left_alone(terminal):
    mine = terminal.folder / "reports" / "index.html"
    mine.parent.mkdir()
    mine.write_text("mine")
    terminal.run("tiny.yaml")
    assert mine.read_text() == "mine" and "is not wmlab's" in terminal.err
    terminal("report", code=1)
    assert mine.read_text() == "mine"


def test_pages_open_in_a_browser_where_there_is_one(terminal, monkeypatch):
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda address: opened.append(address) or len(opened) < 3)
    id = terminal.run("tiny.yaml")
    terminal("report", id, "--open")
    terminal("report", "--open")
    assert opened[0].endswith(f"/.wmlab/runs/{id}/tiny/full/index.html") and opened[1].endswith("/reports/index.html")
    terminal("report", "tiny.yaml", "--open", code=1)
    assert (
        "no browser could be started here; open " in terminal.err and terminal.out == "reports/tiny/full/index.html\n"
    )


def test_what_is_for_specs_is_refused_without_one(terminal):
    terminal("report", "--seeds", "3", code=2)
    assert terminal.err == "wmlab: --profile, --seeds and --set are for specs; name one\n"


def test_reports_elsewhere_get_no_page_of_all_runs(terminal):
    terminal.run("tiny.yaml", "--output", "elsewhere")
    assert not (terminal.folder / "elsewhere" / "index.html").exists()
    assert terminal("report", "--output", "elsewhere") == "elsewhere/index.html\n"
