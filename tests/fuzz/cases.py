"""What is thrown at the language and at the readers of files: each case follows from a generator of random numbers."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path

from tests.fuzz.readers import SOUND_FILES, read_arrays_of, read_expression
from tests.spec.mutation import KEYS, NAMES, RETYPED, WORDS, at, made_up, mutate, paths, slipped, text
from tests.spec.test_mutated import accepted_or_refused
from wmlab.spec.yaml.load import load

SPECS = Path(__file__).parents[2] / "specs"
ODD = (
    "\0",
    "\x1b[2J",
    "\t",
    "\u202e",
    "é",
    "\ufeff",
    "\r",
    "&a",
    "*a",
    "!!python/object:os.system",
    "<<: *a",
    "? ",
    "|",
)
ODD += (
    ">",
    "{",
    "}",
    "[",
    "]",
    "'",
    '"',
    ": ",
    "- ",
    "#",
    "%",
    "@",
    "`",
    "1e999",
    "0x",
    ".nan",
    "~",
    "...",
    "---",
    "9" * 400,
)
WORDS_OF_EXPRESSIONS = (
    "x",
    "speed",
    "pi",
    "sqrt",
    "where",
    "next",
    "goal",
    "and",
    "not",
    "1",
    "0.5",
    "1e9",
    "(",
    ")",
    ",",
)
WORDS_OF_EXPRESSIONS += (
    "+",
    "-",
    "*",
    "/",
    "//",
    "%",
    "**",
    "<",
    "==",
    "!=",
    "[",
    ".",
    "__class__",
    "lambda",
    "é",
    "\0",
)


class Folder:
    """A copy of the shipped specs, in which one file at a time is replaced."""

    def __init__(self, folder: Path):
        self.folder = folder / "specs"
        shutil.copytree(SPECS, self.folder)
        self.paths = sorted(path for path in self.folder.rglob("*.yaml"))
        self.data = {path: load(path).plain() for path in self.paths}

    def check(self, beside: Path, content: str | bytes) -> None:
        """Validate and plan what is written beside a shipped spec, so that the files that it names are there."""
        target = beside.with_name("fuzzed.yaml")
        target.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
        accepted_or_refused(target, self.folder)


def tree(rng: random.Random, folder: Folder) -> None:
    """A shipped spec after a few slips of the pen."""
    path = rng.choice(folder.paths)
    folder.check(path, text(slipped(rng.choice, folder.data[path])))


def node(rng: random.Random, folder: Folder) -> None:
    """A shipped spec after one slip."""
    path = rng.choice(folder.paths)
    folder.check(path, text(mutate(rng.choice, folder.data[path])))


def words(rng: random.Random, folder: Folder) -> None:
    """A spec of the language's own words."""
    folder.check(rng.choice(folder.paths), text(made_up(rng.choice)))


def characters(rng: random.Random, folder: Folder) -> None:
    """A shipped spec whose text was cut, doubled, and sprinkled with what YAML and terminals take for signs."""
    path = rng.choice(folder.paths)
    content = path.read_text(encoding="utf-8")
    for _ in range(rng.randint(1, 4)):
        start = rng.randrange(len(content) + 1)
        end = min(len(content), start + rng.choice((0, 1, 5, 40)))
        piece = rng.choice(("", rng.choice(ODD), content[start:end] * 2, rng.choice(KEYS), rng.choice(WORDS)))
        content = content[:start] + piece + content[end:]
    folder.check(path, content)


def raw(rng: random.Random, folder: Folder) -> None:
    """A shipped spec with wrong bytes in it."""
    path = rng.choice(folder.paths)
    content = bytearray(path.read_bytes())
    for _ in range(rng.randint(1, 6)):
        content[rng.randrange(len(content))] = rng.randrange(256)
    folder.check(path, bytes(content[: rng.choice((len(content), rng.randrange(len(content))))]))


def retype(rng: random.Random, folder: Folder) -> None:
    """A shipped spec with one value of another type."""
    path = rng.choice(folder.paths)
    data = json.loads(json.dumps(folder.data[path]))
    place = rng.choice(list(paths(data)))
    at(data, place[:-1])[place[-1]] = rng.choice(RETYPED)
    folder.check(path, text(data))


def expression(rng: random.Random, folder: Folder) -> None:
    """Words of the language of expressions in any order."""
    separator = rng.choice(("", " "))
    read_expression(separator.join(rng.choice((*WORDS_OF_EXPRESSIONS, *NAMES)) for _ in range(rng.randint(1, 40))))


def arrays(rng: random.Random, folder: Folder) -> None:
    """Files of arrays with wrong bytes, wrong lengths, and headers that lie."""
    ending = rng.choice(tuple(SOUND_FILES))
    content = bytearray(SOUND_FILES[ending])
    for _ in range(rng.randint(0, 8)):
        content[rng.randrange(len(content))] = rng.randrange(256)
    if rng.random() < 0.3:
        number = rng.choice((b"(2, 3, 4)", b"[2,3,4]", b"0,0"))
        content = content.replace(number, rng.choice((b"(2, 3, 9)", b"[9,3,4]", b"0,9", b"(-1, -3, 8)", b"(1e9,)")))
    path = folder.folder / f"fuzzed.{ending}"
    read_arrays_of(path, bytes(content[: rng.choice((len(content), rng.randrange(len(content)))) + 1]))


CASES: dict[str, Callable[[random.Random, Folder], None]] = {
    case.__name__: case for case in (tree, node, retype, words, characters, raw, expression, arrays)
}
