"""The shell completes commands, spec files, profiles and ids of runs, and help speaks no Python."""

from __future__ import annotations

import pytest

from wmlab.cli import COMMANDS


@pytest.fixture
def complete(terminal, monkeypatch):
    """What bash would offer for the last word of a line."""
    (terminal.folder / "inner").mkdir()
    (terminal.folder / "inner" / "deep.yml").write_text("")
    (terminal.folder / "notes.txt").write_text("")

    def offered(line):
        words = line.split(" ")
        monkeypatch.setenv("_WMLAB_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
        try:
            return terminal().split()
        finally:
            monkeypatch.delenv("_WMLAB_COMPLETE")

    return offered


def test_commands_specs_profiles_and_runs_are_completed(complete, terminal):
    assert complete("wmlab ru") == ["run", "runs"] and complete("wmlab runs sh") == ["show"]
    assert complete("wmlab run ") == ["inner/", "tiny.yaml"] and complete("wmlab plan inner/") == ["inner/deep.yml"]
    assert complete(f"wmlab plan {terminal.folder}/ti") == [f"{terminal.folder}/tiny.yaml"]
    assert complete("wmlab run tiny.yaml --profile ") == ["paper", "smoke"]
    assert complete("wmlab diff tiny.yaml --profile s") == ["smoke"]
    assert complete("wmlab runs show ") == []
    id = terminal.run("tiny.yaml")
    assert complete("wmlab runs show ") == [id] and complete(f"wmlab report {id[:3]}") == [id]
    assert id in complete("wmlab diff ")


def test_what_cannot_be_read_completes_nothing(complete, terminal, monkeypatch):
    assert complete("wmlab run nowhere/x") == [] and complete("wmlab run none.yaml --profile ") == []
    (terminal.folder / "bad.yaml").write_text("profiles: {")
    assert complete("wmlab run bad.yaml --profile ") == []
    monkeypatch.setenv("WMLAB_HOME", "~nobody-of-this-name/cache")
    assert complete("wmlab runs show ") == []


@pytest.mark.parametrize("command", [(), *((name,) for name in COMMANDS), ("runs",), ("runs", "show"), ("cache", "ls")])
def test_help_names_no_type_of_python(terminal, command):
    said = terminal(*command, "--help")
    assert "<list[" not in said and "<str>" not in said and said.startswith("Usage: wmlab")
