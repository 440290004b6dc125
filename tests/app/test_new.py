"""A first spec: every template validates, runs, and is written where and how it was asked for."""

from __future__ import annotations

import csv
import itertools
import json
from pathlib import Path

import numpy as np
import pytest

import wmlab
from wmlab.app.new import FOLDER, MODELINE, templates, write_new
from wmlab.cli import main
from wmlab.errors import UsageError
from wmlab.spec.check.validate import validate_all
from wmlab.spec.schema import generate as schema

ROOT = Path(__file__).parent.parent.parent


def typed(*arguments: str) -> int:
    with pytest.raises(SystemExit) as end:
        main(arguments)
    return int(end.value.code or 0)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder, with a cache of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("WMLAB_HOME", raising=False)
    return tmp_path


@pytest.mark.parametrize("template", templates())
def test_a_template_is_valid_under_another_name_and_explains_itself(here, template):
    new = write_new("an_idea", template)
    text = new.spec.read_text()
    assert validate_all([str(new.spec)]) == []
    assert "name: an_idea " in text and "\n  smoke:" in text
    assert f"{template}_" not in "".join(path.name for path in new.beside)
    sections = [line for line in text.splitlines() if line[:1].isalpha() and line.endswith(":")]
    assert sections == [] and text.count("#") > 15  # no section of several lines comes without a word about it


SLOW = {"dynamics", "gymnax"}  # half a minute of compiling each
IN_THE_TUTORIAL = {"gridworld"}  # which runs it


@pytest.mark.parametrize(
    "template",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else [])
        for name in templates()
        if name not in IN_THE_TUTORIAL
    ],
)
def test_a_template_runs_at_smoke_and_its_claims_hold(here, template, monkeypatch):
    monkeypatch.setattr("wmlab.report.gallery.gallery", lambda data, draw: [])  # half of the time
    found = wmlab.load(write_new("an_idea", template).spec, "smoke").run(jobs=0, progress=False)
    assert found.run.ok and all(claim["holds"] is not False for claim in found.claims)
    assert found.report.is_file()


def test_the_table_from_elsewhere_has_the_optimal_values_of_a_floor_on_which_one_move_in_ten_fails():
    moves, goals, columns = {"up": (-1, 0), "right": (0, 1), "down": (1, 0), "left": (0, -1)}, (0, 3, 8, 11), 4
    kernel = np.zeros((12, 4, 12))
    for state, (action, (down, right)) in itertools.product(range(12), enumerate(moves.values())):
        row, column = state // columns + down, state % columns + right
        inside = 0 <= row < 3 and 0 <= column < columns
        kernel[state, action, row * columns + column if inside else state] += 0.9
        kernel[state, action, state] += 0.1
    with (FOLDER / "external_q.csv").open() as file:
        rows = list(csv.DictReader(file))
    table = {(int(row["state"]), row["action"], int(row["goal"])): float(row["value"]) for row in rows}
    for number, goal in enumerate(goals):
        value = np.zeros(12)
        for _ in range(200):
            worth = np.where(np.arange(12) == goal, 1, 0.9 * value)
            value = (kernel @ worth).max(axis=1)
        written = [[table[state, action, number] for action in moves] for state in range(12)]
        np.testing.assert_allclose(written, kernel @ worth, atol=1e-8)


def test_nothing_is_overwritten(here):
    before = write_new("maze", "gridworld").spec.read_text()
    with pytest.raises(UsageError, match=r"maze.yaml exists, and nothing is overwritten"):
        write_new("maze", "tabular")
    assert Path("maze.yaml").read_text() == before


def test_editors_find_the_schema_beside_the_spec_or_above_it(here):
    first = write_new("one", "gridworld")
    second = write_new("two", "tabular", Path("deep/down"))
    assert first.schema == Path("wmlab.schema.json") and second.schema is None
    assert json.loads(first.schema.read_text()) == schema.load("spec")
    assert first.spec.read_text().startswith(f"{MODELINE}wmlab.schema.json\n")
    assert second.spec == Path("deep/down/two.yaml")
    assert second.spec.read_text().startswith(f"{MODELINE}../../wmlab.schema.json\n")


def test_in_a_project_with_schemas_the_modeline_leads_there(here):
    schema.write(here / "schemas")
    new = write_new("maze", "gridworld", Path("specs/first.yaml"))
    assert new.spec == Path("specs/first.yaml") and new.schema is None
    assert new.spec.read_text().startswith(f"{MODELINE}../schemas/spec.schema.json\n")


@pytest.mark.parametrize(
    "name, template, message",
    [
        ("My-Maze.yaml", "gridworld", "say my_maze"),
        ("specs/maze", "gridworld", "say maze --output specs/maze.yaml"),
        ("2d", "gridworld", "beginning with a letter"),
        ("maze", "gidworld", "there is no template 'gidworld'; did you mean 'gridworld'?"),
        ("maze", "zzz", "there are "),
    ],
)
def test_what_cannot_be_is_said_with_what_can(here, name, template, message):
    with pytest.raises(UsageError) as raised:
        write_new(name, template)
    assert message in str(raised.value) and list(here.iterdir()) == []


def test_the_command_says_what_it_wrote_and_what_comes_next(here, capsys):
    assert typed("new", "maze") == 0
    assert capsys.readouterr().out.splitlines()[:3] == [
        "wrote maze.yaml",
        "wrote wmlab.schema.json: editors complete and explain specs from it",
        "next:",
    ]
    assert typed("new") == 2 and "wmlab new --list" in capsys.readouterr().err
    assert typed("new", "--list") == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == sorted(templates())


def test_data_comes_along_under_the_new_name(here):
    new = write_new("robot", "external")
    assert new.beside == (Path("robot_q.csv"),) and "file: robot_q.csv}" in new.spec.read_text()
    assert new.beside[0].read_bytes() == (FOLDER / "external_q.csv").read_bytes()


def test_a_long_name_keeps_its_comment_apart(here):
    name = "a_rather_long_name_for_an_experiment"
    assert f"name: {name} #" in write_new(name, "gridworld").spec.read_text()


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["vlidate"], "wmlab: No such command 'vlidate'. Did you mean 'validate'?\nTry 'wmlab --help'.\n"),
        (["run", "x", "--profil", "y"], "wmlab: No such option: --profil (did you mean --points, --profile?)\n"),
        (["run"], "wmlab: Missing argument 'SPEC'\nTry 'wmlab run --help'.\n"),
        (["plan", "x", "--format", "png"], "wmlab: Invalid value for '--format': 'png' is not one of 'text', "),
    ],
)
def test_a_slip_on_the_command_line_gets_a_hint(capsys, arguments, message):
    assert typed(*arguments) == 2
    assert message in capsys.readouterr().err


SHIPPED = sorted([*(ROOT / "specs").rglob("*.yaml"), *FOLDER.glob("*.yaml")])


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_shipped_spec_begins_with_the_modeline_of_editors(path):
    first = path.read_text(encoding="utf-8").split("\n")[0]
    assert first.startswith(MODELINE), f"begin {path.name} with {MODELINE}…/schemas/spec.schema.json"
    assert (path.parent / first.removeprefix(MODELINE)).resolve() == ROOT / "schemas" / "spec.schema.json"
