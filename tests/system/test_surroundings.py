"""The same bytes whatever surrounds a run: workers, folders, hash seeds, languages, clocks, modes and terminals."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from tests.faults.compare import contents, without_times
from tests.system.lab import QUICKSTART, REPOSITORY, Lab

SMOKE = ("--profile", "smoke")
# In the slow tests also an agent that learns, a PQN agent, and one whose model is a network, too.
COMMANDS = ((QUICKSTART, "--check"),)
TRAININGS = tuple(
    (REPOSITORY / "specs" / f"{name}.yaml", *SMOKE)
    for name in ("examples/q_learning", "fourrooms_windy", "reacher_horizons")
)


@dataclass(frozen=True)
class Surroundings:
    """What a user may have set before a run, none of which may change a byte."""

    jobs: str = "1"
    variables: Mapping[str, str] = field(default_factory=dict)
    umask: int | None = None
    python: tuple[str, ...] = ()
    bare: bool = False  # no variable at all but where Python and wmlab are
    folder: str = "lab"


# Each row alone is a run of the slow tests; here they come a handful at a time.
ROWS = {
    "in this process": Surroundings(jobs="0"),
    "two workers": Surroundings(jobs="2"),
    "another folder": Surroundings(folder="a folder with ünïcode, spaces and a %s"),
    "another hash seed": Surroundings(variables={"PYTHONHASHSEED": "4711"}),
    "turkish": Surroundings(variables={"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"}),
    "another time zone": Surroundings(variables={"TZ": "Pacific/Kiritimati"}),
    "files for oneself": Surroundings(umask=0o077),
    "an empty environment": Surroundings(bare=True),
    "another processor's kernels": Surroundings(
        variables={"OPENBLAS_CORETYPE": "Nehalem", "OPENBLAS_L2_SIZE": "64", "NPY_DISABLE_CPU_FEATURES": "X86_V4"}
    ),
    "a narrow terminal": Surroundings(variables={"COLUMNS": "20", "LINES": "5"}),
    "without assertions": Surroundings(python=("-O",)),
    "warnings are errors": Surroundings(python=("-W", "error"), variables={"PYTHONWARNINGS": "error"}),
}
TOGETHER = (
    ("in this process", "another hash seed", "files for oneself", "another processor's kernels", "a narrow terminal"),
    ("two workers", "another folder", "turkish", "another time zone", "warnings are errors"),
    ("an empty environment",),
)
ALONE = {"without assertions"}  # Python reads every library from its source then: most of a minute


def together(*rows: Surroundings) -> Surroundings:
    """Several surroundings at once."""
    plain = Surroundings()
    variables = {name: value for row in rows for name, value in row.variables.items()}
    chosen = {
        name: next(
            (getattr(row, name) for row in rows if getattr(row, name) != getattr(plain, name)), getattr(plain, name)
        )
        for name in ("jobs", "umask", "bare", "folder")
    }
    return Surroundings(variables=variables, python=tuple(word for row in rows for word in row.python), **chosen)


def run_in(surroundings: Surroundings, place, compiled, commands=COMMANDS) -> dict[str, bytes]:
    """Objects and reports of studies that are run in surroundings."""
    folder = place / surroundings.folder
    folder.mkdir()
    lab = Lab(folder, compiled)
    if surroundings.bare:
        lab.environment = {"PYTHONPATH": lab.environment["PYTHONPATH"]}
    lab.environment |= surroundings.variables
    before = os.umask(surroundings.umask) if surroundings.umask is not None else None
    try:
        for command in commands:
            lab.wmlab("run", *command, "--jobs", surroundings.jobs, python=surroundings.python)
    finally:
        if before is not None:
            os.umask(before)
    return contents(folder)


@pytest.fixture(scope="module")
def plain(tmp_path_factory, compiled):
    return run_in(Surroundings(), tmp_path_factory.mktemp("plain"), compiled)


@pytest.mark.parametrize("names", TOGETHER, ids="; ".join)
def test_surroundings_change_no_byte(names, plain, tmp_path, compiled):
    now = run_in(together(*(ROWS[name] for name in names)), tmp_path, compiled)
    assert len(now) > 20
    same(plain, now)


def test_each_row_is_tried():
    assert {name for names in TOGETHER for name in names} | ALONE == ROWS.keys()


@pytest.fixture(scope="module")
def everything(tmp_path_factory, compiled):
    return run_in(Surroundings(), tmp_path_factory.mktemp("everything"), compiled, (*COMMANDS, *TRAININGS))


@pytest.mark.slow
@pytest.mark.parametrize("name", ROWS)
def test_no_single_one_of_the_surroundings_changes_a_byte(name, everything, tmp_path, compiled):
    same(everything, run_in(ROWS[name], tmp_path, compiled, (*COMMANDS, *TRAININGS)))


def test_pages_may_differ_in_which_run_they_name_and_in_nothing_else_of_it(tmp_path):
    page = tmp_path / "index.html"
    seen = []
    for run, moment, value in (("se2mvjg", "29", 1), ("klbvkfe", "31", 1), ("klbvkfe", "31", 2)):
        page.write_text(
            f'"others":[{{"title":"maze (smoke), run {run}, 19 November 2026, 04:{moment} UTC","of":{value}}}]'
        )
        seen.append(without_times(page))
    assert seen[0] == seen[1] != seen[2]


def same(expected, now):
    assert now.keys() == expected.keys()
    assert [name for name in expected if now[name] != expected[name]] == []
