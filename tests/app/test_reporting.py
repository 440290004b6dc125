"""The pages of a suite and of its members are each kept, and each mended, by themselves."""

from __future__ import annotations

import json
import signal

import pytest

from wmlab.app.report_folder import read_report
from wmlab.app.reporting import deaf_to_hang_ups
from wmlab.cli import main

MEMBER = """
wmlab: 1
name: {name}
mdp: {{kind: random, states: 3, actions: 2, seed: 0}}
goals: {{reward: {{kind: generic, count: 3, seed: 0}}, terminate: never}}
agent: {{kind: exact, discount: {discount}}}
extract: {{kind: pseudo_inverse}}
evaluate: {{model_error: {{}}}}
seeds: 1
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a suite of two specs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("WMLAB_HOME", raising=False)
    monkeypatch.setattr("wmlab.app.page_makers.draw_page", drawn)
    monkeypatch.setattr("wmlab.app.reporting.draw_suite", lambda rows, title, results: drawn_of(results))
    for name, discount in (("one", 0.8), ("two", 0.9)):
        (tmp_path / f"{name}.yaml").write_text(MEMBER.format(name=name, discount=discount))
    (tmp_path / "both.yaml").write_text("wmlab: 1\nname: both\nsuite: [one.yaml, two.yaml]\n")
    return tmp_path


def drawn(data, draw):
    return drawn_of(data.results)


def drawn_of(results):
    return {"index.html": b"page", "results.json": json.dumps(dict(results)).encode()}


def run(*arguments):
    with pytest.raises(SystemExit) as stop:
        main(["run", "both.yaml", "--jobs", "0", *arguments])
    return stop.value.code


def pages(here):
    return {name: here / "reports" / name / "full" / "index.html" for name in ("one", "two", "both")}


def test_pages_of_a_suite_that_show_the_same_are_kept_and_harmed_ones_are_written_again(here, capsys):
    assert run() == 0
    before = {name: page.stat().st_ino for name, page in pages(here).items()}
    assert run("--check") == 0
    assert {name: page.stat().st_ino for name, page in pages(here).items()} == before
    capsys.readouterr()
    for name in ("two", "both"):
        pages(here)[name].write_bytes(b"harmed")
    assert run("--check") == 0
    said = capsys.readouterr().err
    assert said.count("is damaged (index.html was changed); writing it again") == 2
    assert pages(here)["one"].stat().st_ino == before["one"]
    assert all(read_report(page.parent).whole for page in pages(here).values())


def test_a_terminal_that_hangs_up_is_not_heard_while_a_report_is_written():
    before = signal.getsignal(signal.SIGHUP)
    with deaf_to_hang_ups():
        signal.raise_signal(signal.SIGHUP)
    assert signal.getsignal(signal.SIGHUP) == before
