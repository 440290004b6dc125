"""Pages of a suite are made by several processes, and are the same whoever makes them; the store is read once."""

from __future__ import annotations

import os
import signal
from collections import Counter
from pathlib import Path

import pytest

from wmlab.app import page_makers
from wmlab.app.page_makers import PageMakers
from wmlab.cli import main
from wmlab.report.data import ReportData
from wmlab.report.figures.style import STYLE
from wmlab.runtime import folder

MEMBER = """
wmlab: 1
name: {name}
mdp: {{kind: random, states: 4, actions: 2, seed: 0}}
goals: {{reward: {{kind: generic, count: 4, seed: 0}}, terminate: never}}
agent: {{kind: exact, discount: 0.9, approximate: {{epsilon: {noise}, direction: random}}}}
extract: {{kind: pseudo_inverse}}
evaluate: {{model_error: {{}}}}
sweep: {{discount: {{agent.discount: [0.5, 0.9]}}}}
seeds: 2
"""


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """A folder in which a suite of three specs was run."""
    here = tmp_path_factory.mktemp("suite")
    for name, noise in (("one", 0.01), ("two", 0.1), ("three", 0.2)):
        (here / f"{name}.yaml").write_text(MEMBER.format(name=name, noise=noise))
    (here / "all.yaml").write_text("wmlab: 1\nname: all\nsuite: [one.yaml, two.yaml, three.yaml]\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(here)
        patch.setenv("WMLAB_HOME", str(here / ".wmlab"))
        patch.setattr(page_makers, "draw_page", lambda data, draw: {"index.html": b""})
        command("run", "all.yaml", "--jobs", "0")
    return here


@pytest.fixture
def here(ran, monkeypatch):
    monkeypatch.chdir(ran)
    monkeypatch.setenv("WMLAB_HOME", str(ran / ".wmlab"))
    return ran


def command(*words):
    with pytest.raises(SystemExit) as stop:
        main([*words])
    assert stop.value.code == 0


def files_of(place: Path) -> dict[str, bytes]:
    return {str(path.relative_to(place)): path.read_bytes() for path in place.rglob("*") if path.is_file()}


def test_pages_are_the_same_bytes_whatever_jobs_says_and_whatever_was_there(here, monkeypatch, users_fonts):
    monkeypatch.setitem(STYLE, "pdf.fonttype", users_fonts)  # processes of their own have no other fonts
    command("report", "all.yaml", "--jobs", "0", "--output", "alone")
    alone = files_of(here / "alone")
    monkeypatch.setattr(page_makers, "draw_page", lambda data, draw: pytest.fail("a page is made here"))
    command("report", "all.yaml", "--jobs", "2", "--output", "together")
    assert files_of(here / "together") == alone
    assert {"one/full/index.html", "all/full/index.html"} < set(alone)
    assert any(name.startswith("two/full/figures/") for name in alone)


def test_a_process_that_is_killed_loses_no_page(here, monkeypatch):
    monkeypatch.setattr(page_makers, "draw_page", lambda data, draw: {"index.html": b"made here"})
    with PageMakers(pages=2, processes=2) as makers:
        nothing = ReportData({"spec": "nothing"})
        assert b"<html" in makers.begin(nothing, here / "nowhere")()["index.html"]
        os.kill(makers.crew.companions[0].process.pid, signal.SIGKILL)
        assert makers.begin(nothing, here / "nowhere")() == {"index.html": b"made here"}


def test_one_page_has_all_processes_for_its_figures_and_many_share_them():
    with PageMakers(pages=1, processes=4) as alone, PageMakers(pages=3, processes=8) as several:
        assert (alone.crew, alone.painters) == (None, 4)
        assert several.crew is not None and several.painters == 2


def test_a_report_reads_every_stage_and_once_where_it_draws_nothing_of_it(here, monkeypatch):
    read = Counter()
    plain = folder.read_manifest
    monkeypatch.setattr(folder, "read_manifest", lambda path: read.update([Path(path)]) or plain(path))
    monkeypatch.setattr(page_makers, "draw_page", lambda data, draw: {"index.html": b""})
    command("report", "all.yaml", "--jobs", "0", "--output", "counted")
    stages = {path: plain(path)["label"] for path in (here / ".wmlab" / "objects").glob("*/*")}
    assert len(stages) > 20 and set(read) == set(stages)
    later = [path for path, label in stages.items() if "seed=1" in label]  # pages draw the first seed
    assert len(later) >= 12 and {read[path] for path in later} == {1}
