"""StageLimits as a user types them: what is beyond them is ended, told in a line, and nothing of it is in a key."""

from __future__ import annotations

import pytest

from tests.system.lab import SMALL

EXACT = "agent: {kind: exact, discount: 0.9, policy: optimal}"
SECONDS = "agent: {kind: q_learning, discount: 0.9, steps: 20_000_000}"  # of training, on any machine


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        (("--timeout", "0.2s"), "TimedOut: it took longer than the 0.2 s that --timeout allows, and was ended"),
        (("--memory", "64MiB"), "where --memory allows 64.0 MiB, and was ended"),
    ],
)
def test_a_stage_beyond_its_limit_fails_the_run_and_a_run_without_goes_on(lab, flags, reason):
    text = SMALL.read_text(encoding="utf-8")
    assert EXACT in text
    (lab.folder / "small.yaml").write_text(text.replace(EXACT, SECONDS), encoding="utf-8")
    said = lab.wmlab("run", "small.yaml", "--jobs", "1", *flags, code=1)
    (line,) = [line for line in said.err.splitlines() if line.startswith("failed: small: train")]
    assert reason in line and "Traceback" not in said.err
    (failure,) = [each for each in lab.results("small")["failures"] if each["state"] == "failed"]
    assert "1 failed" in said.err and failure["error"].startswith(line.split(": ")[3])


@pytest.mark.slow
def test_limits_are_no_part_of_a_key(small):
    lab = small.lab
    said = lab.wmlab("run", SMALL, "--jobs", "2", "--timeout", "1h", "--memory", "8GiB", "--retries", "3")
    assert "done: all 22 stages were cached" in said.err


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--timeout", "soon"), "'soon' is no time; say a number and its unit, as in 90s, 10m, 2h or 1h30m"),
        (("--memory", "lots"), "'lots' is no amount of memory; say a number and its unit, as in 4GiB or 500MB"),
        (("--jobs", "0", "--timeout", "9s"), "--jobs 0 has none: say --jobs 1 or more"),
    ],
)
def test_limits_that_cannot_be_kept_are_refused(lab, flags, message):
    said = lab.wmlab("run", SMALL, *flags, code=2)
    assert message in said.err and "Traceback" not in said.err
