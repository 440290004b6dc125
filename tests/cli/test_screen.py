"""What is printed drives no terminal, can be written in every encoding, and may be lost without losing a run."""

from __future__ import annotations

import errno
import io
import json
import os
import sys

import pytest

from wmlab.cli import guarded
from wmlab.cli.screen import PLAIN, Screen, screens, styled, written_in
from wmlab.errors import visible


def test_control_characters_are_shown_and_drive_nothing():
    assert visible("\x1b]0;mine\x07 a\r\nb\x7f\x9b31m\u2028\u202e\ud800") == (
        "\\x1b]0;mine\\x07 a\\r\\nb\\u007f\\u009b31m\\u2028\\u202e\\ud800"
    )
    assert visible("γ ≥ 0.9, 世界 \u202f\u00a0") == "γ ≥ 0.9, 世界 \u202f\u00a0"
    assert visible(visible("a\n")) == visible("a\n") == "a\\n" and visible("a\tb\n", keep="\t\n") == "a\tb\n"


def test_a_screen_keeps_our_lines_and_shows_the_rest():
    stream = io.StringIO()
    Screen(stream).write("one\n\ttwo\x1b[31m\r\n")
    assert stream.getvalue() == "one\n\ttwo\\x1b[31m\\r\n"


def test_colours_of_our_own_are_written_as_they_are():
    stream = io.StringIO()
    styled(Screen(stream)).write("\x1b[1mbold")
    assert stream.getvalue() == "\x1b[1mbold" and styled(stream) is stream


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8"])
def test_every_sign_can_be_written_in_every_encoding(encoding):
    text = "8.9 × 10⁻¹⁶ ± 0, γ → …" + "".join(PLAIN) + "世𝔼"
    assert written_in(encoding, text).encode(encoding)
    if encoding == "ascii":
        assert written_in(encoding, "8.9 × 10⁻¹⁶ ✓ γ 𝔼") == "8.9 x 10^-16 + \\u03b3 \\ud835\\udd3c"
    if encoding == "latin-1":
        assert written_in(encoding, "é × 1 →") == "é × 1 ->"
    if encoding == "utf-8":
        assert written_in(encoding, text) == text


def test_what_an_ascii_terminal_gets_of_json_is_json():
    text = json.dumps({"why": "0.99 → 0.95 \x1b\x9b世"})
    assert json.loads(written_in("ascii", visible(text, keep="\n"))) == {"why": "0.99 → 0.95 \x1b\x9b世"}


class Broken(io.StringIO):
    """A stream that fails at the first write or flush, as closed pipes, terminals and full disks do."""

    def __init__(self, number):
        super().__init__()
        self.number, self.tries = number, 0

    def write(self, text):
        self.tries += 1
        raise OSError(self.number, os.strerror(self.number))


@pytest.mark.parametrize(
    ("number", "code", "said"),
    [
        (errno.EPIPE, 141, ""),
        (errno.EIO, 1, "wmlab: the output cannot be written: Input/output error\n"),
        (errno.ENOSPC, 1, "wmlab: the output cannot be written: No space left on device\n"),
    ],
)
def test_a_command_goes_on_to_its_end_when_its_output_is_lost(number, code, said, monkeypatch):
    broken, errors, done = Broken(number), io.StringIO(), []
    monkeypatch.setattr("sys.stdout", broken)
    monkeypatch.setattr("sys.stderr", errors)

    def command():
        print("claims")
        print("note")
        done.append("report")

    assert guarded(command) == code and done == ["report"]
    assert broken.tries == 1 and errors.getvalue() == said


def test_progress_that_cannot_be_shown_changes_no_exit_code(monkeypatch):
    monkeypatch.setattr("sys.stdout", io.StringIO())
    monkeypatch.setattr("sys.stderr", Broken(errno.EIO))
    assert guarded(lambda: print("0/13 stages", file=sys.stderr)) == 0


def test_streams_that_were_closed_before_the_start_are_no_fault(monkeypatch):
    monkeypatch.setattr("sys.stdout", None)
    monkeypatch.setattr("sys.stderr", None)
    assert guarded(lambda: print("done")) == 0
    assert sys.stdout is None


def test_screens_are_taken_away_when_a_command_is_over():
    before = sys.stdout, sys.stderr
    with pytest.raises(ZeroDivisionError), screens():
        assert isinstance(sys.stdout, Screen) and isinstance(sys.stderr, Screen)
        raise ZeroDivisionError
    assert (sys.stdout, sys.stderr) == before
