"""CONTRIBUTING.md is followed word for word: its files go into a copy of the package, and its commands are typed."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys

import pytest

from tests.docs.pages import ROOT, blocks_of
from tests.docs.reader import CHEAPER, pattern_of, spaced
from wmlab.reference.topics import sections

PAGE = ROOT / "CONTRIBUTING.md"


class Newcomer:
    """One who does what the page says, in a folder with a copy of the package."""

    def __init__(self, folder):
        self.folder, self.output = folder, ""
        shutil.copytree(ROOT / "wmlab", folder / "wmlab", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(ROOT / "schemas", folder / "schemas")
        (folder / ".wmlab").mkdir()
        self.environment = {**os.environ, "PYTHONPATH": str(folder), "COLUMNS": "100"}
        self.environment.pop("WMLAB_HOME", None)
        self.written = []

    def write(self, block):
        verb, name = block.marked
        path, text = self.folder / name, block.text.partition("\n")[2]
        if verb == "in":
            old = path.read_text()
            for key, part in sections(block.text).items():
                old = old.replace(sections(old)[key], part, 1)
            text = old
        else:
            assert not path.exists(), f"{block}: {name} is there already"
            self.written.append(name)
        path.write_text(text)

    def type(self, block):
        for line in block.text.splitlines():
            words = shlex.split(line, comments=True)
            if words[0] == "wmlab":
                expected = re.search(r"# exits with (\d+)", line)
                command = [sys.executable, "-m", *words, *(["--jobs", "1"] if words[1] == "run" else [])]
                done = subprocess.run(
                    command, cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False
                )
                self.output = done.stdout or done.stderr
                assert done.returncode == int(expected[1] if expected else 0), f"{block}: {line}\n{done}"
            else:
                program = words[0].rpartition("/")[2]
                assert CHEAPER[program]([program, *words[1:]]), f"{block}: {line}"

    def compare(self, block):
        shown = re.search(f"^{pattern_of(spaced(block.text))}", spaced(self.output), re.MULTILINE)
        assert shown, f"{block} shows\n{block.text}\nand it is\n{self.output}"


@pytest.fixture(scope="module")
def newcomer(tmp_path_factory):
    """What is there after the page was followed to its end."""
    newcomer = Newcomer(tmp_path_factory.mktemp("contributing"))
    for block in blocks_of(PAGE):
        {"python": newcomer.write, "yaml": newcomer.write, "sh": newcomer.type, "text": newcomer.compare}[
            block.language
        ](block)
    return newcomer


@pytest.mark.slow
def test_an_extraction_a_world_a_metric_and_a_command_are_one_file_each(newcomer):
    code = [name for name in newcomer.written if name.startswith("wmlab/")]
    assert code == ["wmlab/extraction/uniform.py", "wmlab/mdps/ring.py", "wmlab/measure/doubt.py", "wmlab/cli/kinds.py"]


@pytest.mark.slow
def test_the_new_files_are_such_as_would_be_taken(newcomer):
    paths = [str(newcomer.folder / name) for name in newcomer.written if name.endswith(".py")]
    for command in (["check"], ["format", "--check"]):
        ruff = [sys.executable, "-m", "ruff", *command, "--config", str(ROOT / "pyproject.toml"), *paths]
        done = subprocess.run(ruff, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_every_room_that_the_page_names_is_there():
    for path in re.findall(r"`((?:wmlab|tests|docs)/[\w/.]*)`", PAGE.read_text(encoding="utf-8")):
        assert (ROOT / path).exists(), path
