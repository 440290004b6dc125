"""A hundred hostile files: refused in words, nothing executed, nothing written, under 200 MB of memory each."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys

import pytest

from tests.foreign.conftest import DATA
from tests.foreign.hostile import called, hostile_files, sb3
from wmlab.errors import UsageError
from wmlab.foreign.bring import Request, bring

MEGABYTES = 200


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """File: what became of it, what was said, what it did, and the memory of the process so far, in MB."""
    folder = tmp_path_factory.mktemp("hostile")
    for name, content in hostile_files().items():
        (folder / name).write_bytes(content)
    (folder / "outward.pth").symlink_to("/etc/passwd")
    os.mkfifo(folder / "pipe.pth")
    before = {path.name for path in folder.iterdir()}
    command = [sys.executable, "-m", "tests.foreign.hostile_run", str(folder), str(DATA)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    left = {path.name for path in folder.iterdir()} - before
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return {name: rest for name, *rest in rows}, left, list((folder / "output").iterdir())


def test_there_are_a_hundred_and_each_is_refused_in_words(outcomes):
    found, _, _ = outcomes
    assert len(found) >= 100
    assert {name: said for name, (outcome, said, *_) in found.items() if outcome != "refused"} == {}
    for name, (_, said, *_) in found.items():
        assert name in said and 30 < len(said) < 1200 and "Traceback" not in said, (name, said)


def test_nothing_is_executed_and_nothing_is_written(outcomes):
    found, left, written = outcomes
    assert {name: did for name, (_, _, did, _) in found.items() if did} == {}
    assert left == {"output"} and written == []


def test_none_of_them_takes_much_memory(outcomes):
    found, _, _ = outcomes
    assert max(most for *_, most in found.values()) < MEGABYTES


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "system.pth",
            "its pickle holds 'posix.system', which is no tensor and would be run by whoever loads the file",
        ),
        ("system_in_policy.zip", "its pickle holds 'posix.system', which is no tensor"),
        ("system.pkl", "it is a pickle, which runs code when it is read; save tensors"),
        ("link_as_policy.zip", "'data' is a link to somewhere else, not a file"),
        ("way_out_by_storage.pth", "it has no part 'archive/data/../../../../etc/passwd'"),
        ("bomb_in_data.zip", "'data' claims 300 MB; 4 MB are allowed"),
        ("expanded.pth", "its tensors claim 40 GB, and the file has"),
        ("listed_twice.pth", "it lists a part twice: two readers could find different things in it"),
        ("pipe.pth", "this is a pipe, a device or a socket, not a file"),
    ],
)
def test_the_words_say_what_is_wrong(outcomes, name, words):
    assert words in outcomes[0][name][1]


def test_pickles_beside_the_text_of_stable_baselines3_are_never_looked_at(tmp_path):
    def poison(told):
        evil = base64.b64encode(called("posix", "system")).decode()
        for entry in told.values():
            if isinstance(entry, dict) and ":serialized:" in entry:
                entry[":serialized:"] = evil

    (tmp_path / "agent.zip").write_bytes(sb3(poison))
    brought = bring(Request(tmp_path / "agent.zip", tmp_path / "out"))
    clean = bring(Request(DATA / "dqn.zip", tmp_path / "clean", name="agent"))
    assert [path.read_bytes() for path in brought.written] == [path.read_bytes() for path in clean.written]


def test_names_in_a_file_cannot_write_lines_into_the_spec(tmp_path):
    def rename(told):
        text = told["observation_space"]["spaces"].replace("'observation'", "'x\\nclaims: {y: 1}\\n'")
        told["observation_space"]["spaces"] = text.replace("\\n", "\n")
        told["policy_class"]["__module__"] = "a\nclaims: 1"

    (tmp_path / "agent.zip").write_bytes(sb3(rename, **{"_stable_baselines3_version": b"2\nclaims: {}\n"}))
    brought = bring(Request(tmp_path / "agent.zip", tmp_path))
    assert brought.spec is not None and "\nclaims" not in brought.spec.read_text()


def test_a_link_in_the_place_of_what_is_written_is_not_followed_unasked(tmp_path):
    (tmp_path / "dqn.yaml").symlink_to(tmp_path / "outside")
    with pytest.raises(UsageError, match="exists"):
        bring(Request(DATA / "dqn.zip", tmp_path))
    assert not (tmp_path / "outside").exists() and not (tmp_path / "dqn.safetensors").exists()
