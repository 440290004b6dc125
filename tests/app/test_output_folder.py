"""Names and labels make names of files on every system, and what is exported is whole."""

from __future__ import annotations

import json
import os

import pytest

from wmlab.app.output_folder import LONGEST, safe_name
from wmlab.cli import main


@pytest.mark.parametrize("text", ["depth=4,width=512", "fourrooms_windy", "γ=0.9", "a b", "seed=0"])
def test_an_ordinary_name_stays_as_it_is(text):
    assert safe_name(text) == text


@pytest.mark.parametrize(
    "text", ["", ".", "..", "../../x", "/etc/passwd", "a\0b", "a\nb", "\x1b[31m", "\ud800", 300 * "ü"]
)
def test_every_text_makes_the_name_of_one_file(text, tmp_path):
    name = safe_name(text)
    assert "/" not in name and not name.startswith(".") and name.isprintable() and len(name.encode()) <= LONGEST
    (tmp_path / f".{name}.lock").mkdir()
    assert os.listdir(tmp_path) == [f".{name}.lock"]


def test_long_names_that_begin_alike_are_two_names():
    one, other = safe_name(300 * "x" + "1"), safe_name(300 * "x" + "2")
    assert one != other and one == safe_name(300 * "x" + "1")


def test_letters_that_the_system_does_not_know_are_written_as_numbers(monkeypatch):
    monkeypatch.setattr(os, "fsencode", lambda text: text.encode("ascii", "surrogateescape"))
    assert safe_name("γ=é") == "%CE%B3=%C3%A9"


SPEC = """
wmlab: 1
name: labels
mdp: {kind: random, states: 3, actions: 2, seed: 0}
goals: {reward: {kind: generic, count: 3, seed: 0}, terminate: never}
agent: {kind: exact, discount: 0.9}
extract: {kind: pseudo_inverse}
evaluate: {model_error: {}}
sweep: {axis: {agent.discount: {"%s": 0.8, "a:b?": 0.7}}}
seeds: 1
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder in which a spec with odd labels was run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("WMLAB_HOME", raising=False)
    monkeypatch.setattr("wmlab.app.page_makers.draw_page", lambda data, draw: {"index.html": b"page"})
    (tmp_path / "labels.yaml").write_text(SPEC % (100 * "ü"))
    assert exit_code("run", "labels.yaml", "--jobs", "0") == 0
    return tmp_path


def exit_code(*arguments):
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    return stop.value.code


def test_labels_of_any_length_and_letters_are_exported(here, capsys):
    assert exit_code("export", "labels.yaml") == 0
    assert "Traceback" not in capsys.readouterr().err
    folders = sorted(path.name for path in (here / "exports" / "labels" / "full").iterdir())
    assert folders[0] == "axis=a:b?" and folders[1].startswith("axis=üüü")
    assert LONGEST - 3 <= len(folders[1].encode()) <= LONGEST


def test_an_export_is_replaced_whole_and_a_users_files_stay(here, monkeypatch):
    assert exit_code("export", "labels.yaml") == 0
    folder = here / "exports" / "labels" / "full" / "axis=a:b?" / "seed=0"
    ours = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert set(ours) == {"q.safetensors", "model.safetensors", "meaning.json"}
    (folder / "network.safetensors").write_text("of an earlier question")
    (folder / "read_me.py").write_text("mine")

    def full(path, *_):
        raise OSError(28, "No space left on device", str(path))

    with monkeypatch.context() as patch:
        patch.setattr(type(folder), "write_text", full)  # meaning.json comes last
        assert exit_code("export", "labels.yaml", "--dtype", "float32") == 1
    assert {path.name: path.read_bytes() for path in folder.iterdir()}.items() >= ours.items()
    assert exit_code("export", "labels.yaml", "--dtype", "float32") == 0
    assert {path.name for path in folder.iterdir()} == {*ours, "read_me.py"}
    assert (folder / "q.safetensors").read_bytes() != ours["q.safetensors"]
    assert json.loads((folder / "meaning.json").read_text())["where"] == {"axis": "a:b?"}
