"""What a spec names is opened only where it is a regular file, and shown only where it is a spec."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from wmlab.cli import main

ROOT = Path(__file__).parents[2]
SECRET = "root:x:0:0:secret of somebody"
AGENT = """
wmlab: 1
name: read
mdp: {kind: unknown, states: 4, actions: 2}
goals: {reward: {kind: generic, count: 1, seed: 0}, terminate: never}
agent: {kind: external, discount: 0.9, policy: greedy, q: {file: FILE}}
extract: {kind: lp}
evaluate: {fit: {}}
"""
TABULAR = """
wmlab: 1
name: read
mdp: {kind: tabular, states: 4, actions: 2, file: FILE}
goals: {reward: {kind: generic, count: 1, seed: 0}, terminate: never}
agent: {kind: exact, discount: 0.9}
extract: {kind: lp}
evaluate: {fit: {}}
"""


def answer(folder: Path, *words: str) -> tuple[int, str]:
    """Exit code and output of a command in a process of its own, which must end soon."""
    code = "import sys; from wmlab.cli import main; main(sys.argv[1:])"
    env = {**os.environ, "WMLAB_HOME": str(folder / "home")}
    done = subprocess.run(
        [sys.executable, "-c", code, *words], cwd=folder, capture_output=True, text=True, timeout=30, env=env
    )
    return done.returncode, done.stdout + done.stderr


def told(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What a command says that exits with 2."""
    with pytest.raises(SystemExit) as stop:
        main(list(words))
    assert stop.value.code == 2
    captured = capsys.readouterr()
    return captured.out + captured.err


@pytest.mark.parametrize("ending", ["npz", "csv"])
@pytest.mark.parametrize("spec", [AGENT, TABULAR], ids=["agent", "world"])
@pytest.mark.parametrize("command", ["validate", "plan"])
def test_a_pipe_in_place_of_data_is_refused_at_its_line_and_nothing_waits(tmp_path, command, spec, ending):
    os.mkfifo(tmp_path / f"q.{ending}")
    (tmp_path / "spec.yaml").write_text(spec.replace("FILE", f"q.{ending}"))
    code, out = answer(tmp_path, command, "spec.yaml")
    assert code == 2 and f"q.{ending} cannot be read: this is a pipe, a device or a socket, not a file" in out
    assert "spec.yaml:" in out and "Traceback" not in out


def test_a_link_to_a_device_without_end_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.npz").symlink_to("/dev/zero")
    (tmp_path / "spec.yaml").write_text(AGENT.replace("FILE", "q.npz"))
    for command in ("validate", "plan"):
        assert "q.npz cannot be read: this is a pipe, a device or a socket" in told(capsys, command, "spec.yaml")


@pytest.mark.parametrize("name", ["spec", "base", "member"])
def test_a_pipe_or_a_device_in_place_of_a_spec_is_refused(tmp_path, name):
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "base.yaml").write_text("wmlab: 1\nname: base\nextends: pipe.yaml\n")
    (tmp_path / "member.yaml").write_text("wmlab: 1\nname: all\nsuite: [pipe.yaml]\n")
    code, out = answer(tmp_path, "validate", {"spec": "pipe.yaml"}.get(name, f"{name}.yaml"))
    assert code == 2 and "Traceback" not in out and "pipe.yaml" in out


@pytest.mark.parametrize(
    "content",
    [f"{SECRET}\n", f"password: '{SECRET}'\nname: cloud\n", f"- {SECRET}\n", f"a: [{SECRET}\n", f"{SECRET}\0"],
    ids=["text", "yaml", "list", "cut", "binary"],
)
@pytest.mark.parametrize("how", ["extends: ../secret", "suite: [../secret]", "compare: {a: {with: ../secret}}"])
def test_a_file_that_is_no_spec_is_named_and_not_shown(tmp_path, monkeypatch, capsys, content, how):
    (tmp_path / "secret").write_text(content)
    shutil.copytree(ROOT / "specs" / "base", tmp_path / "here" / "base")
    monkeypatch.chdir(tmp_path / "here")
    spec = (ROOT / "specs" / "quickstart.yaml").read_text() if how.startswith("compare") else "wmlab: 1\nname: a\n"
    Path("spec.yaml").write_text(f"{spec}{how}\n")
    for command in ("validate", "plan", "explain"):
        out = told(capsys, command, "spec.yaml")
        assert "../secret is no spec: nothing in it says `wmlab: 1`" in out
        assert "secret of somebody" not in out and "password" not in out


def test_a_base_with_a_mistake_is_shown_at_its_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("base.yaml").write_text("# of a base\nwmlab: 1\nagent: {kind: exact\n")
    Path("spec.yaml").write_text("wmlab: 1\nname: a\nextends: base.yaml\n")
    assert "agent: {kind: exact" in told(capsys, "validate", "spec.yaml")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (f"name: {'a' * 101}", "name: a name of 101 characters; 100 are allowed"),
        ('name: "a\\0"', "name: the character U+0000 may not stand in a text"),
        ('name: "a\\n"', "name: the character U+000A may not stand in a name"),
        ('name: "\\e]0;a\\a"', "name: the character U+001B may not stand in a name"),
        (f"name: a\nprofiles: {{{'p' * 101}: {{seeds: 2}}}}", "profiles: a name of 101 characters; 100 are allowed"),
        ('name: a\nprofiles: {"p\\n": {seeds: 2}}', "profiles: the character U+000A may not stand in a key"),
        ('name: a\n"::stop-commands::\\n": 1', "the character U+000A may not stand in a key"),
        (f"name: a\n{'k' * 201}: 1", "a key of 201 characters; 200 are allowed"),
        (f"name: a\nsweep: {{x: {{agent.discount: {{{'l' * 101}: 0.9}}}}}}", "a label of 101 characters; 100 are"),
        ('name: a\nsweep: {x: {agent.policy: ["\\e[2J"]}}', "the character U+001B may not stand in a label"),
        (f"name: a\nclaims: {{{'c' * 101}: {{metric: wm.mse}}}}", "claims: a name of 101 characters; 100 are allowed"),
        ('name: a\ntitle: "of a NUL: \\0"', "title: the character U+0000 may not stand in a text"),
        ('name: a\nextends: "x\\0.yaml"', "extends: the character U+0000 may not stand in a text"),
    ],
)
def test_names_and_labels_are_short_and_printable(tmp_path, monkeypatch, capsys, spec, message):
    monkeypatch.chdir(tmp_path)
    spec += "" if "extends" in spec else f"\nextends: {os.path.relpath(ROOT / 'specs' / 'base' / 'fourrooms.yaml')}"
    Path("spec.yaml").write_text(f"wmlab: 1\n{spec}\n")
    assert message in told(capsys, "validate", "spec.yaml")
