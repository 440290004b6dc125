"""A pipe gets what a terminal shows, as plain lines every half minute."""

from __future__ import annotations

import io
import time

from wmlab.runtime import progress
from wmlab.runtime.events import RunFinished, RunStarted, StageFinished, StageProgress, StageStarted
from wmlab.runtime.progress import PlainProgress

COUNTS = {"ran": 1, "cached": 0, "failed": 0, "skipped": 0}


def begin(lines):
    lines(RunStarted(2, 0, 1, {"train": 2}))
    lines(StageStarted("a", "maze: train seed=0", 1, "train"))


def test_the_stage_its_steps_its_note_and_the_time_left_are_said_every_half_minute(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    stream = io.StringIO()
    lines = PlainProgress(stream)
    begin(lines)
    for second in range(1, 61):
        now[0] = 100.0 + second
        lines(StageProgress("a", "maze: train seed=0", second * 10, 1200, "2.1k steps/s, return 0.5, loss 0.1"))
    said = stream.getvalue().splitlines()
    train = "  maze: train seed=0: {}, 2.1k steps/s, return 0.5, loss 0.1, {} left"
    assert said == [
        "0/2 stages, about 4 min left",
        train.format("300 of 1200 (25%)", "for 30 s, about 2 min"),
        "0/2 stages, about 3 min left",
        train.format("600 of 1200 (50%)", "for 60 s, about 60 s"),
    ]


def test_a_stage_that_says_nothing_is_told_of_all_the_same():
    stream = io.StringIO()
    with PlainProgress(stream, every=0.05) as lines:
        begin(lines)
        end = time.monotonic() + 20
        while "maze: train seed=0: for 0 s" not in stream.getvalue() and time.monotonic() < end:
            time.sleep(0.01)
    assert "  maze: train seed=0: for 0 s\n" in stream.getvalue()


def test_nothing_is_said_of_a_run_that_is_over():
    stream = io.StringIO()
    with PlainProgress(stream, every=0.0) as lines:
        lines(RunStarted(1, 0, 1, {"train": 1}))
        lines(StageFinished("a", "k", "x", "train", "ran", 1.0))
        lines(RunFinished(COUNTS, 1.0))
        time.sleep(0.05)
    assert stream.getvalue() == "done: 1/1 stages in 1.0 s\n"
