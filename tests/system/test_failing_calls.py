"""Whichever call to the disk fails or is the last one, the next run gives what an undisturbed one gives."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.system.lab import REPOSITORY

COMMAND = [sys.executable, "-m", "tests.faults"]


def begun(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen([*COMMAND, *arguments], cwd=REPOSITORY, stdout=subprocess.PIPE, text=True)


def summary(process: subprocess.Popen[str]) -> dict[str, int]:
    """The last line of the harness: how many calls there are, how many cases were tried, how many went wrong."""
    output, _ = process.communicate()
    print(output)
    assert process.returncode == 0, output
    return json.loads(output.splitlines()[-1])


def test_a_quickstart_survives_a_fault_or_a_kill_at_some_of_its_calls():
    found = summary(begun("--every", "59"))
    assert found["wrong"] == 0 and found["calls"] > 150 and found["cases"] > 7


@pytest.mark.slow
def test_a_quickstart_survives_a_fault_and_a_kill_at_each_of_its_calls():
    halves = [summary(process) for process in [begun("--part", f"{part}/2") for part in (1, 2)]]
    calls = halves[0]["calls"]
    assert all(half["wrong"] == 0 for half in halves)
    assert sum(half["cases"] for half in halves) == 2 * calls
