"""Every bad spec gives exactly the messages beside it, and every good one gives none.

A transcript `tests/specs/invalid/*.txt` is a command and all that it prints, as seen from its own folder. To write the
transcript of a new spec: put `$ wmlab validate new.yaml` in its first line, run pytest with WRITE_TRANSCRIPTS=1, and
read what it says.
"""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest

from wmlab.cli import main
from wmlab.spec.check.validate import validate_all

SPECS = Path(__file__).parent.parent / "specs"
TRANSCRIPTS = sorted((SPECS / "invalid").glob("*.txt"))
PLACE = re.compile(r"(?P<file>[^\s:]+\.yaml):(?P<line>\d+):(?P<column>\d+): ")


def printed(command: str, capsys: pytest.CaptureFixture[str]) -> tuple[str, int]:
    with pytest.raises(SystemExit) as stop:
        main(shlex.split(command)[1:])
    captured = capsys.readouterr()
    return captured.out + captured.err, int(stop.value.code or 0)


@pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=lambda path: path.stem)
def test_a_bad_spec_gives_these_messages(transcript, monkeypatch, capsys):
    monkeypatch.chdir(SPECS / "invalid")
    command, _, expected = transcript.read_text(encoding="utf-8").partition("\n")
    found, code = printed(command.removeprefix("$ "), capsys)
    if os.environ.get("WRITE_TRANSCRIPTS"):
        transcript.write_text(f"{command}\n{found}", encoding="utf-8")
        expected = found
    assert found == expected
    assert code == 2


def test_there_are_many_bad_specs_and_each_has_its_transcript():
    specs = sorted((SPECS / "invalid").glob("*.yaml"))
    assert len(specs) >= 150
    assert not [spec.name for spec in specs if not spec.with_suffix(".txt").exists()]


def test_places_in_transcripts_are_those_of_the_culprit():
    """The line that is shown is the line of the file, and the caret stands on something."""
    for transcript in TRANSCRIPTS:
        lines = transcript.read_text(encoding="utf-8").split("\n")
        for i, line in enumerate(lines):
            place = PLACE.match(line)
            if place is None:
                continue
            file = SPECS / "invalid" / place["file"]
            text = file.read_text(encoding="utf-8", errors="replace").split("\n")[int(place["line"]) - 1]
            assert lines[i + 1] == f"{place['line']:>5} | {text}", transcript.name
            assert lines[i + 2].index("^") == 8 + int(place["column"]) - 1, transcript.name
            assert int(place["column"]) <= len(text), transcript.name


@pytest.mark.parametrize("folder", ["tests/specs/valid", "specs"])
def test_good_specs_have_no_mistakes(folder):
    root = Path(__file__).parent.parent.parent
    paths = [str(path) for path in sorted((root / folder).rglob("*.yaml"))]
    assert len(paths) > 3
    assert [str(error) for error in validate_all(paths)] == []
