"""A reader who types all that a page says into an empty folder, and looks whether it comes out as shown.

yaml    `# file: NAME` in the first line: the block is that file; `# in NAME`: its sections take the place of those in
        the file. A whole spec must be valid; part of one must be what an editor accepts; other YAML must parse.
sh      Each line is a command. `wmlab` is run, in this process; a comment `# exits with 2` says what it ends with.
        Commands of other programs are checked as CHEAPER says, and one that is not listed there is an error.
python  Run, where what it imports is installed; otherwise it must compile. `value  # 0.0` must be 0.0.
        `# file: NAME` in the first line: the block is that file.
text    Behind sh: what its last command printed; … stands for anything. `maze.yaml:17:3: …` with the source line below
        it: what `wmlab validate` says when that line is put into the file.

Blocks that need libraries which only `make test-audit` installs are read elsewhere, and followed there; so are those
that need a cluster, by `make test-cluster`.
"""

from __future__ import annotations

import ast
import gc
import importlib.util
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from tests.docs.pages import ROOT, Block
from wmlab.cli import COMMANDS, main
from wmlab.reference.topics import sections
from wmlab.sections.forms import DOCUMENT_KEYS
from wmlab.spec.check.formats import as_text
from wmlab.spec.check.validate import validate_all
from wmlab.spec.schema import generate as schema
from wmlab.spec.yaml.load import load


def is_target(words: list[str]) -> bool:
    """make: the target exists; `make test` runs these very tests, and quickstart is run as `wmlab run`."""
    return all(re.search(rf"^{word}:", (ROOT / "Makefile").read_text(), re.MULTILINE) for word in words[1:])


def installs(words: list[str]) -> bool:
    """pip install: of this project, with extras that it has, or of a well-known tool."""
    project = (ROOT / "pyproject.toml").read_text()
    extras = [extra for word in words for extra in re.findall(r"^(?:\.|wmlab)\[(\w+)\]$", word)]
    named = [word for word in words[2:] if not word.startswith("-")]
    others = ("pre-commit", "safetensors", "torch", "numpy", "stable-baselines3")
    known = all(re.match(r"\.|wmlab\[", name) or name in others for name in named)
    return (
        words[1] == "install" and known and all(re.search(rf"^{extra} = \[", project, re.MULTILINE) for extra in extras)
    )


# Programs that are not run here, and what is checked in place of running them.
CHEAPER: dict[str, Callable[[list[str]], bool]] = {
    "make": is_target,
    "pip": installs,
    "pre-commit": lambda words: words[1] in ("install", "run"),
    "git": lambda words: words[1] in ("init", "add", "commit", "clone"),
    "cd": lambda words: len(words) == 2,
    "mkdir": lambda words: len(words) == 2,
    "chgrp": lambda words: len(words) == 3,
    "chmod": lambda words: words[1] == "g+rwxs",  # what docs/cache.md promises about such a folder is a test
    "export": lambda words: re.match(r"WMLAB_(HOME|FSYNC)=", words[1]) is not None,
    "echo": lambda words: words[2] == ">" and len(words) == 4,
    "ray": lambda words: words[1:] == ["start", "--head"],
    "python": lambda words: words[1:2] == ["-m"] or words[1].endswith(".py"),
}


class Reader:
    """Follows one page in a folder of its own."""

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str], real: bool = False):
        self.folder, self.capture = folder, capture
        self.real = real  # whether the libraries of `make test-audit` are there
        self.said = ""  # by the last command
        self.names: dict[str, object] = {}  # what python blocks have defined
        for name in ("specs", "schemas"):
            (folder / name).symlink_to(ROOT / name)

    def follow(self, block: Block) -> None:
        follow = {"yaml": self.write, "sh": self.type, "python": self.execute, "text": self.compare}
        assert block.language in follow, f"{block}: say in tests/docs/reader.py how '{block.language}' is checked"
        if (self.real or not block.real) and not block.cluster:
            follow[block.language](block)
        else:
            look_at(block)

    # --- yaml ------------------------------------------------------------------------------------------------------

    def write(self, block: Block) -> None:
        if block.marked is None:
            self.accept(block)
            return
        verb, name = block.marked
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = block.text
        if verb == "in":
            old, new = path.read_text(), sections(block.text)
            for key, part in new.items():
                kept = sections(old).get(key)
                old = old.replace(kept, part, 1) if kept else f"{old}\n{part}\n"
            text = old
        path.write_text(text)
        if "wmlab" in yaml.safe_load(text):
            assert validate_all([name]) == [], block

    def accept(self, block: Block) -> None:
        """A part of a spec, or of something else."""
        data = yaml.safe_load(block.text)
        if isinstance(data, dict) and "wmlab" in data:
            (self.folder / "block.yaml").write_text(block.text)
            assert validate_all(["block.yaml"]) == [], block
        elif isinstance(data, dict) and set(data) <= set(DOCUMENT_KEYS):
            (self.folder / "block.yaml").write_text(block.text)
            found = Draft202012Validator(schema.load("spec")).iter_errors(load("block.yaml").plain())
            assert [error.message for error in found] == [], block

    # --- commands --------------------------------------------------------------------------------------------------

    def type(self, block: Block) -> None:
        for line in block.text.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            if not words:
                continue
            if words[0] == "wmlab":
                expected = re.search(r"# exits with (\d+)", line)
                self.run(words[1:], int(expected[1]) if expected else 0, f"{block}: {line}")
            elif self.real and words[0] == "python":
                done = subprocess.run([sys.executable, *words[1:]], capture_output=True, text=True, timeout=1200)
                assert done.returncode == 0, f"{block}: {line}\n{done.stderr}"
                self.said = done.stdout
            else:
                assert words[0] in CHEAPER, f"{block}: say in tests/docs/reader.py how '{words[0]}' is checked"
                assert CHEAPER[words[0]](words), f"{block}: {line}"
                self.said = ""

    def run(self, words: list[str], code: int, place: str) -> None:
        """A command of ours; runs stay in this process, for workers would each begin with compiling."""
        arguments = [
            path for word in words for path in (sorted(map(str, Path().glob(word))) if "*" in word else ()) or [word]
        ]
        self.capture.readouterr()
        with pytest.raises(SystemExit) as end:
            main([*arguments, "--jobs", "0"] if words[0] == "run" and "--jobs" not in words else arguments)
        gc.enable()  # short-lived commands switch it off
        out, err = self.capture.readouterr()
        self.said = out or err
        assert end.value.code == code, f"{place}\n{out}\n{err}"

    # --- python ----------------------------------------------------------------------------------------------------

    def execute(self, block: Block) -> None:
        if block.marked is not None:
            (self.folder / block.marked[1]).write_text(block.text)
            return
        tree = ast.parse(block.text, str(block))
        needed = {name.split(".")[0] for name in imported(tree)}
        if any(importlib.util.find_spec(name) is None for name in needed):
            return
        lines = block.text.splitlines()
        for node in tree.body:
            shown = lines[node.end_lineno - 1][node.end_col_offset :].strip().removeprefix("#").strip()
            if isinstance(node, ast.Expr) and is_literal(shown):
                value = eval(ast.unparse(node), self.names)  # noqa: S307
                assert value == ast.literal_eval(shown), f"{block}: {ast.unparse(node)} is {value}, not {shown}"
            else:
                exec(compile(ast.Module([node], []), str(block), "exec"), self.names)

    # --- what is shown ---------------------------------------------------------------------------------------------

    def compare(self, block: Block) -> None:
        mistake = re.match(r"(\S+\.yaml):(\d+):\d+: ", block.text)
        if mistake and (self.folder / mistake[1]).exists() and mistake[0] not in self.said:
            self.said = self.mistaken(mistake[1], int(mistake[2]), block)
        assert self.said, f"{block}: no command before it says this"
        said = spaced(self.said.rstrip("\n") + "\n")
        shown = re.search(f"^{pattern_of(spaced(block.text))}", said, re.MULTILINE)
        assert shown, f"{block} shows\n{block.text}\nand it is\n{self.said}"

    def mistaken(self, name: str, number: int, block: Block) -> str:
        """What validation says of a file in which one line is as the block shows it."""
        path = self.folder / name
        good = path.read_text()
        lines = good.splitlines()
        shown = re.search(rf"^ *{number} \| (.*)$", block.text, re.MULTILINE)
        assert shown is not None, f"{block} does not show line {number}"
        lines[number - 1] = shown[1]
        path.write_text("\n".join(lines) + "\n")
        said = as_text(validate_all([name]))
        path.write_text(good)
        return said


def look_at(block: Block) -> None:
    """What can be said of a block that is not followed: it can be read, and its commands are there."""
    if block.language == "python":
        compile(block.text, str(block), "exec")
    elif block.language == "yaml":
        assert isinstance(yaml.safe_load(block.text), dict), block
    elif block.language == "sh":
        for line in block.text.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            known = words[1] in COMMANDS if words[0] == "wmlab" else CHEAPER[words[0]](words)
            assert known, f"{block}: {line}"


def spaced(text: str) -> str:
    """Thin and other spaces as plain ones."""
    return re.sub(r"[^\S\n]", " ", text)


def pattern_of(text: str) -> str:
    """Lines as they are shown: … is any text, and a line of its own any lines."""
    lines = text.strip("\n").split("\n")
    return "".join("(?:.*\n)*?" if line.strip() == "…" else re.escape(line).replace("…", ".*") + "\n" for line in lines)


def imported(tree: ast.AST) -> list[str]:
    names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    return names + [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]


def is_literal(text: str) -> bool:
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return False
    return True


def enter(folder: Path) -> None:
    """An empty folder with a cache of its own."""
    (folder / ".wmlab").mkdir(exist_ok=True)
    os.chdir(folder)
