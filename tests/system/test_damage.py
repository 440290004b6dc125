"""A stored result that is not what was written is noticed, said and made again; it is never used."""

from __future__ import annotations

import pytest

from tests.system.lab import SMALL

# Some are inputs of nobody who runs: only the assembly of the results reads them, or nothing at all.
TRAIN, EXTRACT, MEASURE, PLAN, ORACLE = (
    f"small: {name} seed={seed}"
    for name, seed in (
        ("train goals=8", 1),
        ("extract goals=1", 0),
        ("measure goals=8", 0),
        ("plan corner goals=1", 1),
        ("oracle corner goals=1", 0),
    )
)


@pytest.fixture
def known(small, tmp_path):
    """A folder in which the study was run before."""
    return small.lab.copy(tmp_path)


def flip(path, bit=3):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1 << bit
    path.write_bytes(content)


def truncate(path):
    path.write_bytes(path.read_bytes()[:-1])


def test_damage_of_every_sort_is_said_and_mended(known, small):
    truncate(known.entry(TRAIN) / "arrays.safetensors")
    flip(known.entry(EXTRACT) / "arrays.safetensors")
    flip(known.entry(MEASURE) / "data.json")
    (known.entry(PLAN) / "data.json").unlink()
    flip(known.entry(ORACLE) / "manifest.json")
    said = known.wmlab("run", SMALL, "--jobs", "1").err
    for label, reason in (
        (TRAIN, "is damaged (arrays.safetensors has "),
        (EXTRACT, "is damaged (sha256 of arrays.safetensors differs)"),
        (MEASURE, "is damaged (sha256 of data.json differs)"),
        (PLAN, "is damaged (data.json is missing)"),
        (ORACLE, "is damaged (manifest.json "),
    ):
        line = next(line for line in said.splitlines() if f"of '{label}'" in line)
        assert line.startswith("cache entry ") and reason in line and line.endswith("; recomputing")
    assert "done: 5/5 stages, 17 cached in" in said
    assert sorted(known.ran()) == sorted([TRAIN, EXTRACT, MEASURE, PLAN, ORACLE])
    assert known.contents() == small.lab.contents() and known.results("small") == small.lab.results("small")


def test_an_entry_that_is_gone_is_made_again(known, small):
    for path in known.entry(MEASURE).iterdir():
        path.unlink()
    known.wmlab("run", SMALL, "--jobs", "1")
    assert known.ran() == [MEASURE] and known.results("small") == small.lab.results("small")


def test_a_report_does_not_use_a_damaged_entry_and_says_what_to_do(known):
    flip(known.entry(MEASURE) / "data.json")
    said = known.wmlab("report", SMALL, code=1)
    assert "is damaged (sha256 of data.json differs)" in said.err and "run again to recompute it" in said.err
    assert "Traceback" not in said.err


def test_entries_swapped_by_hand_are_not_mistaken_for_each_other(known, small):
    one, other = known.entry(MEASURE), known.entry("small: measure goals=1 seed=0")
    aside = one.with_name("aside")
    one.rename(aside)
    other.rename(one)
    aside.rename(other)
    said = known.wmlab("run", SMALL, "--jobs", "1")
    assert said.err.count("belongs to another key") == 2
    assert known.results("small") == small.lab.results("small")
