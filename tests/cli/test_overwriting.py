"""No run writes over the report of another question."""

from __future__ import annotations

import pytest

from tests.cli.conftest import SPEC


def test_a_run_with_other_seeds_or_values_has_a_folder_of_its_own(terminal):
    terminal.run("tiny.yaml")
    terminal.run("tiny.yaml", "--seeds", "3")
    terminal.run("tiny.yaml", "--set", "agent.discount=0.5")
    assert terminal.out.endswith("report: reports/tiny/full+agent.discount=0.5/index.html\n")
    assert terminal.report("tiny", "full")["seeds"] == [0, 1]
    assert terminal.report("tiny", "full+seeds=3")["seeds"] == [0, 1, 2]
    assert terminal.report("tiny", "full+agent.discount=0.5")["sets"] == ["agent.discount=0.5"]


def test_what_a_shell_would_have_to_quote_is_no_part_of_a_name_and_a_mark_tells_two_apart(terminal):
    for lp in ("{kind: lp}", "{kind:  lp}"):
        terminal.run("tiny.yaml", "--set", f"extract={lp}")
    names = sorted(path.name for path in (terminal.folder / "reports" / "tiny").iterdir())
    assert len(names) == 2 and all(name.startswith("full+extract=_kind_lp_~") for name in names)
    assert all(set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789+=_.~") for name in names)
    changed = ["--set", "agent.discount=" + "+".join(["0.01"] * 60)]
    terminal.run("tiny.yaml", "--seeds", "1", *changed)
    assert max(len(path.name) for path in (terminal.folder / "reports" / "tiny").iterdir()) < 120


@pytest.mark.parametrize("command", ["report", "export", "plan"])
def test_every_command_takes_seeds_as_run_does(terminal, command):
    terminal.run("tiny.yaml", "--seeds", "3")
    said = terminal(command, "tiny.yaml", "--seeds", "3")
    if command == "plan":
        assert " 0 will run" in said
    else:
        assert all("/tiny/full+seeds=3/" in line for line in said.splitlines())
        assert "seed=2" in said or command == "report"


def test_a_report_after_a_run_with_more_seeds_is_written_beside_it(terminal):
    terminal.run("tiny.yaml", "--seeds", "3")
    assert terminal("report", "tiny.yaml") == "reports/tiny/full/index.html\n"
    assert terminal.report("tiny", "full+seeds=3")["seeds"] == [0, 1, 2]
    assert terminal.report("tiny", "full")["seeds"] == [0, 1]


@pytest.mark.parametrize("command", ["run", "report", "export"])
def test_two_files_with_one_name_are_refused_as_validate_refuses_them(terminal, command):
    (terminal.folder / "copy.yaml").write_text(SPEC.format(name="tiny", bound=2))
    terminal("validate", "tiny.yaml", "copy.yaml", code=2)
    said = terminal.out
    assert "tiny.yaml has the name 'tiny' too: their reports would overwrite each other" in said
    terminal(command, "tiny.yaml", "copy.yaml", code=2)
    assert terminal.err == said and not (terminal.folder / "reports").exists()
    terminal.run("tiny.yaml", "./tiny.yaml")  # one file, named twice


def test_the_last_run_of_a_changed_value_does_not_explain_the_plan_of_the_spec(terminal):
    terminal.run("tiny.yaml")
    terminal.run("tiny.yaml", "--set", "agent.discount=0.5")
    spec = terminal.folder / "tiny.yaml"
    spec.write_text(spec.read_text().replace("discount: 0.9", "discount: 0.7"))
    assert "agent.discount changed: 0.9 → 0.7" in terminal("plan", "tiny.yaml")
    assert "agent.discount changed: 0.9 → 0.6" in terminal("plan", "tiny.yaml", "--set", "agent.discount=0.6")


def test_a_suite_passes_seeds_on_to_its_members(terminal):
    (terminal.folder / "all.yaml").write_text("wmlab: 1\nname: all\nsuite: [tiny.yaml]\n")
    terminal.run("all.yaml", "--seeds", "3")
    assert terminal.report("tiny", "full+seeds=3")["seeds"] == [0, 1, 2]
    page = (terminal.folder / "reports" / "all" / "full+seeds=3" / "index.html").read_text()
    assert "../../tiny/full%2Bseeds%3D3/index.html" in page
    (terminal.folder / "copy.yaml").write_text(SPEC.format(name="tiny", bound=2))
    terminal.run("all.yaml", "copy.yaml", code=2)
    assert "tiny.yaml has the name 'tiny' too" in terminal.err
