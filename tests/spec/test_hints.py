"""A hint holds when it is followed: the mistake that it was given for is gone."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.spec.test_invalid import SPECS
from wmlab.cli import main
from wmlab.errors import SpecError, SpecErrors
from wmlab.spec.check.validate import validate
from wmlab.spec.compose.document import read

INVALID = SPECS / "invalid"
WORD = re.compile(r"[\w.%+-]+|'[^']*'|\"[^\"]*\"")
# Hints that name what to write in place of the word at the mistake.
MEANT = re.compile(r"did you mean '([^']+)'\?$")
MAPPING = re.compile(r"say (\{[^…]*?\})(?:, or some of its keys.*)?$")
KIND = re.compile(r"say kind: (\w+)")
ONE_OF = re.compile(r"say ((?:\w+, )*\w+(?: or \w+)?)(?: or a count of resets)?$")


def replacements(error: SpecError) -> list[str]:
    """What a hint says to write in place of the word at the mistake; nothing where that cannot be told from it."""
    hint = error.hint or ""
    if (meant := MEANT.search(hint)) is not None:
        return [meant[1]]
    if (mapping := MAPPING.fullmatch(hint)) is not None and ("…" not in hint) and not hint.endswith("null} here"):
        return [mapping[1]]
    if (kind := KIND.match(hint)) is not None:
        return [kind[1]]
    if error.path.endswith((".states", ".starts", ".distance", ".encoding")) and (words := ONE_OF.fullmatch(hint)):
        return re.split(", | or ", words[1])
    return []


def hinted() -> Iterator[tuple[str, SpecError, str]]:
    """Every bad spec with a mistake whose hint can be followed by a machine."""
    for path in sorted(INVALID.glob("*.yaml")):
        for error in mistakes(path):
            at = error.source
            if at.text is None or Path(at.file).name != path.name or at.line is None or at.column is None:
                continue
            if WORD.match(at.text, at.column - 1) is not None and "YAML cut" not in error.message:
                for written in replacements(error):
                    yield path.name, error, written


def mistakes(path: Path) -> list[SpecError]:
    try:
        return validate(read(str(path)))
    except SpecErrors as errors:
        return list(errors.errors)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the bad specs, and of the good ones that they name."""
    return Path(shutil.copytree(SPECS, tmp_path / "specs")) / "invalid"


def test_hints_that_are_followed_end_their_mistakes(folder):
    followed, kept = 0, []
    for name, error, written in hinted():
        text = (INVALID / name).read_text(encoding="utf-8").split("\n")
        line, column = text[error.source.line - 1], error.source.column - 1
        word = WORD.match(line, column)
        text[error.source.line - 1] = line[:column] + written + line[word.end() :]
        mended = folder / f"followed_{name}"
        mended.write_text("\n".join(text), encoding="utf-8")
        followed += 1
        if (error.path, error.message) in [(each.path, each.message) for each in mistakes(mended)]:
            kept.append(f"{name}: {error.path}: {written} in place of {word[0]}")
    assert not kept
    assert followed >= 40


# --- flags -----------------------------------------------------------------------------------------------------------


SWEPT = """
wmlab: 1
name: swept
mdp: {kind: random, states: 4, actions: 2, seed: 0}
goals: {reward: {kind: indicator}, at: [s0, s1]}
agent: {kind: exact, discount: 0.9}
extract: {kind: lp}
sweep:
  goals: {goals.at: {few: [s0], many: [s0, s1]}}
  discount: {agent.discount: [0.5, 0.9]}
"""
PLAIN = SWEPT.partition("sweep:")[0]


def planned(command: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    with pytest.raises(SystemExit) as stop:
        main(["plan", *command])
    captured = capsys.readouterr()
    return int(stop.value.code or 0), captured.out + captured.err


@pytest.mark.parametrize(
    "flag",
    ["goals.at=[s2]", "goals.at[0]=s2", "goals={at: all}", "agent.discount=0.7", "agent.discount=1/3", "goals.at=all"],
)
def test_the_axis_that_a_flag_is_told_to_set_can_be_set(flag, tmp_path, capsys):
    spec = tmp_path / "swept.yaml"
    spec.write_text(SWEPT, encoding="utf-8")
    code, text = planned([str(spec), "--set", flag], capsys)
    assert code == 2 and "so this flag would change nothing" in text
    advice = shlex.split(re.search(r"(?:instead|first): (--set .*)", text)[1])
    again = [] if "instead" in text else ["--set", flag]
    code, text = planned([str(spec), *advice, *again], capsys)
    assert code == 0, text


@pytest.mark.parametrize(
    ("flag", "path", "value"),
    [("goals.at[1]=s3", "goals.at", '["s0", "s3"]'), ("goals.at[0]=s2", "goals.at", '["s2", "s1"]')],
)
def test_a_flag_sets_an_item_as_messages_print_it(flag, path, value, tmp_path, capsys):
    spec = tmp_path / "plain.yaml"
    spec.write_text(PLAIN, encoding="utf-8")
    code, text = planned([str(spec), "--resolved", "--set", flag], capsys)
    assert code == 0 and re.search(rf"{re.escape(path)} +{re.escape(value)}", text), text


@pytest.mark.parametrize("flag", ["goals.at[2]=s3", "agent[0]=1", "goals.at[0][0]=1"])
def test_an_item_that_is_not_there_cannot_be_set(flag, tmp_path, capsys):
    spec = tmp_path / "plain.yaml"
    spec.write_text(PLAIN, encoding="utf-8")
    code, text = planned([str(spec), "--set", flag], capsys)
    assert code == 2 and f"there is no {flag.partition('=')[0]} in this spec" in text


def test_an_inherited_claim_that_does_not_fit_is_gone_where_the_file_says_null(folder):
    told = mistakes(INVALID / "claim_inherited.yaml")
    assert [Path(error.source.file).name for error in told] == ["claim_inherited.yaml"]
    cure = re.search(r"say (claims: \{.*?\}) here", told[0].hint or "")[1]
    mended = folder / "followed_claim_inherited.yaml"
    text = (INVALID / "claim_inherited.yaml").read_text(encoding="utf-8")
    mended.write_text(f"{text}{cure}\n", encoding="utf-8")
    assert mistakes(mended) == []
