"""Strings of a spec are shown as text by every command: none drives the terminal or begins a line of its own."""

from __future__ import annotations

import io
import json
import re
import sys

import pytest

from tests.foreign.conftest import DATA
from wmlab.cli import COMMANDS, main
from wmlab.runtime import events
from wmlab.runtime.progress import show_progress

EVIL = r"\e]0;mine\a\e[31m\r\n::stop-commands::mine\n\x9b31m\u0085\u2028\u202e"  # as YAML writes it in double quotes
HARM = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]|^::stop-commands", re.MULTILINE)

SOUND = f"""
wmlab: 1
name: hostile
title: "title {EVIL}"
mdp:
  kind: tabular
  states: ["one", "two"]
  actions: ["go"]
  transitions:
    "one": {{"go": {{"two": 1}}}}
    "two": {{"go": {{"two": 1}}}}
goals: {{reward: {{kind: generic, count: 2, seed: 0}}, terminate: never}}
agent: {{kind: exact, discount: 0.9}}
extract: {{kind: column_matching}}
evaluate: {{model_error: {{}}, identify: {{}}}}
sweep:
  axis: {{goals.reward.count: {{"few": 1, "many": 2}}}}
seeds: 1
claims:
  close: {{metric: wm.mse, where: {{axis: "few"}}, at_most: 1, source: "source {EVIL}"}}
  wrong: {{metric: wm.mse, where: {{axis: all}}, at_least: 1, source: "source {EVIL}"}}
assumptions: {{agent.discount: "says {EVIL}"}}
"""
# Each line is a mistake in which a string of the spec is quoted.
WRONG = f"""
wmlab: 1
name: "name {EVIL}"
"key {EVIL}": 1
extends: "file {EVIL}.yaml"
"""
WRONGER = f"""
wmlab: 1
name: wrong
"key {EVIL}": 1
mdp: {{kind: "kind {EVIL}"}}
goals: {{reward: {{kind: generic, count: "count {EVIL}"}}, terminate: "word {EVIL}"}}
agent: {{kind: exact, discount: 0.9, "option {EVIL}": 2}}
extract: {{kind: lp, prior: {{support: "support {EVIL}"}}}}
sweep: {{"axis {EVIL}": {{"path {EVIL}": [1]}}}}
claims: {{"claim {EVIL}": {{metric: "metric {EVIL}", where: {{"x {EVIL}": 1}}, at_most: 1}}}}
profiles: {{"profile {EVIL}": {{}}}}
default_profile: "profile {EVIL}"
"""

# A command line for each command; `cache` is a group of commands beside them.
SPOKEN = [
    ["validate", "sound.yaml"],
    *(["validate", "wrong.yaml", "wronger.yaml", "--format", form] for form in ("text", "json", "github")),
    *(["plan", "sound.yaml", "-v", "--format", form] for form in ("text", "mermaid", "dot", "json")),
    ["plan", "sound.yaml", "--resolved"],
    ["plan", "sound.yaml", "--resolved", "--format", "json"],
    ["plan", "sound.yaml", "--profile", "none"],
    ["plan", "sound.yaml", "-v", "--set", 'mdp.states=["x\x1b[31m", "y"]'],
    *(["explain", "sound.yaml", "--format", form] for form in ("text", "json")),
    ["design", "sound.yaml", "--jobs", "0"],
    ["run", "sound.yaml", "--jobs", "0"],
    ["run", "wrong.yaml"],
    ["run", "sound.yaml", "--set", "agent.discount=\x1b[31m"],
    *(["show", "sound.yaml", "--format", form] for form in ("text", "json", "csv", "latex", "markdown")),
    ["show", "sound.yaml", "bad\x1b[31m\n::stop-commands::x", "--by", "bad\x1b[31m"],
    ["show", "bad\x1b[31m\n::stop-commands::x"],
    ["report", "sound.yaml"],
    ["export", "sound.yaml"],
    ["diff", "sound.yaml", "--set", "agent.discount=0.8"],
    ["diff", "sound.yaml", "--set", "agent.discount=0.8", "--format", "json"],
    ["diff", "sound.yaml", "wronger.yaml"],
    ["diff", "sound.yaml", "wronger.yaml", "sound.yaml", "--set", "agent.discount=0.8"],
    ["runs"],
    ["watch", "bad\x1b[31m\n::stop-commands::x"],
    ["watch", "--host", "bad\x1b[31m\n::stop-commands::x"],
    ["cache", "ls"],
    ["cache", "gc", "--max-size", "0", "--dry-run"],
    ["new", "bad\x1b[31m\n::stop-commands::x"],
    ["import", "bad\x1b[31m\n::stop-commands::x"],
    ["import", str(DATA / "dqn.zip"), "--name", "bad\x1b[31m\n::stop-commands::x"],
    ["schema"],
    ["reference", "bad\x1b[31m\n::stop-commands::x"],
    ["bench", "bad\x1b[31m\n::stop-commands::x"],
    ["fly\x1b[31m"],
]


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """A folder in which the hostile spec was run."""
    folder = tmp_path_factory.mktemp("hostile")
    for name, text in (("sound", SOUND), ("wrong", WRONG), ("wronger", WRONGER)):
        (folder / f"{name}.yaml").write_text(text)
    with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as stop:
        begin(folder, patch)
        main(["run", "sound.yaml", "--jobs", "0"])
    assert stop.value.code == 0
    return folder


def begin(folder, patch):
    patch.chdir(folder)
    patch.delenv("WMLAB_HOME", raising=False)
    patch.setattr("wmlab.app.page_makers.draw_page", lambda data, draw: {"index.html": b"page"})


def test_every_command_is_tried():
    assert {line[0] for line in SPOKEN} >= {*COMMANDS, "cache"}


@pytest.mark.parametrize("arguments", SPOKEN, ids=lambda words: ascii(" ".join(words)))
def test_strings_of_a_spec_are_text(arguments, here, monkeypatch, capsys):
    begin(here, monkeypatch)
    with pytest.raises(SystemExit):
        main(arguments)
    said = "".join(capsys.readouterr())
    assert said and "Traceback" not in said
    assert (harm := HARM.search(said)) is None, (harm, said)
    if "json" in arguments:
        json.loads(said)


def test_on_a_terminal_too(here, monkeypatch, capsys):
    begin(here, monkeypatch)
    for stream in (sys.stdout, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    with pytest.raises(SystemExit):
        main(["run", "sound.yaml", "--jobs", "0", "--set", "agent.discount=0.7"])
    said = "".join(capsys.readouterr())
    ours = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", said)  # colours, and what moves the bars
    assert "wrong" in said and HARM.search(ours) is None


@pytest.mark.parametrize("terminal", [False, True])
def test_what_is_told_while_a_run_goes_on_is_text(terminal):
    stream = io.StringIO()
    stream.isatty = lambda: terminal
    evil = "x\x1b]0;mine\x07\n::stop-commands::mine\x9b"
    failed = events.StageFinished("a", "k", "label", "train", "failed", failure=events.Failure("StageError", evil))
    with show_progress(stream) as listener:
        for event in (events.Notice(evil), failed, events.WorkerDied(1, evil, "label", False)):
            listener(event)
    said = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", stream.getvalue())
    assert said.count(r"x\x1b]0;mine\x07\n::stop-commands::mine\u009b") == 3 and HARM.search(said) is None
