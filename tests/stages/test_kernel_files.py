"""Kernels from files: the same world as written out, and a clear error for everything that is none."""

from __future__ import annotations

import importlib
import json
import pickle

import numpy as np
import pytest

from wmlab.errors import StageError
from wmlab.graph.compile import compile_spec
from wmlab.graph.key import keys
from wmlab.graph.why import reasons
from wmlab.registry import WorldChoice
from wmlab.spec.check.validate import checked, validate
from wmlab.spec.compose.document import PAPER, read
from wmlab.stages.finite.records import world_of

ROWS = {"here": {"go": "there", "wait": {"here": 0.25, "there": 0.75}}, "there": {"go": "there", "wait": "here"}}
TABLE = np.array([[[0, 1], [0.25, 0.75]], [[0, 1], [1, 0]]])
LINES = """probability, state, action, successor
1, here, go, there
0.25, here, wait, here
0.75, here, 1, there
1.0, 1, go, 1
1, there, wait, here
"""
SPEC = {
    "wmlab": 1,
    "name": "two_states",
    "goals": {"reward": {"kind": "indicator"}, "at": "all", "terminate": "never"},
    "agent": {"kind": "exact", "discount": 0.9},
    "extract": {"kind": "lp"},
    "evaluate": {"model_error": {}, "value_error": {}, "fit": {}},
}


def mdp(**where):
    return {"kind": "tabular", "states": ["here", "there"], "actions": ["go", "wait"], **where}


def write(folder, name="spec.yaml", **sections):
    path = folder / name
    path.write_text(json.dumps({**SPEC, **sections}), encoding="utf-8")
    return str(path)


def plan(path):
    return compile_spec(checked(read(path), PAPER))


def metrics(path):
    """What all stages of a spec measure, computed here and now."""
    found, made = {}, plan(path)
    for identity, stage in made.stages.items():
        inputs = {name: found[other] for name, other in stage.inputs.items()}
        found[identity] = importlib.import_module(stage.module).run(stage.params, inputs, None)
    return found[made.runs[0].stage("measure")].data["metrics"]


def test_a_kernel_gives_the_same_results_inline_and_from_both_kinds_of_file(tmp_path):
    (tmp_path / "data").mkdir()
    np.savez(tmp_path / "data" / "named.npz", transitions=TABLE, other=np.zeros(3))
    np.savez(tmp_path / "data" / "alone.npz", TABLE)
    (tmp_path / "data" / "rows.csv").write_text(LINES)
    expected = metrics(write(tmp_path, mdp=mdp(transitions=ROWS)))
    assert float(expected["wm.tv"]["value"]) < 1e-9
    for name in ("named.npz", "alone.npz", "rows.csv"):
        assert metrics(write(tmp_path, mdp=mdp(file=f"data/{name}"))) == expected, name


def test_a_path_is_relative_to_the_file_that_wrote_it_wherever_it_is_read_from(tmp_path, monkeypatch):
    (tmp_path / "base").mkdir()
    np.savez(tmp_path / "base" / "kernel.npz", TABLE)
    write(tmp_path / "base", "base.yaml", mdp=mdp(file="kernel.npz"))
    (tmp_path / "child.yaml").write_text("wmlab: 1\nname: child\nextends: base/base.yaml\n")
    for folder, path, expected in (
        (tmp_path, "child.yaml", "base/kernel.npz"),
        (tmp_path / "base", "../child.yaml", "kernel.npz"),
        (tmp_path / "base", str(tmp_path / "child.yaml"), "kernel.npz"),
    ):
        monkeypatch.chdir(folder)
        [run] = plan(path).runs
        assert run.point.data["mdp"]["file"] == expected


def test_an_agent_may_believe_in_a_world_from_a_file(tmp_path):
    np.savez(tmp_path / "kernel.npz", TABLE)
    agent = {**SPEC["agent"], "world": mdp(file="kernel.npz")}
    found = metrics(write(tmp_path, mdp=mdp(transitions=ROWS), agent=agent))
    assert float(found["wm.tv"]["value"]) < 1e-9
    missing = write(tmp_path, mdp=mdp(transitions=ROWS), agent={**agent, "world": mdp(file="kernal.npz")})
    [error] = validate(read(missing))
    assert error.path == "agent.world.file" and error.hint == "did you mean 'kernel.npz'?"


def test_an_edited_file_reruns_what_depends_on_it_and_the_plan_says_so(tmp_path):
    np.savez(tmp_path / "kernel.npz", TABLE)
    path = write(tmp_path, mdp=mdp(file="kernel.npz"))
    before = plan(path)
    first = keys(before.stages)
    parts = {before.stage(identity).label: one.parts for identity, one in first.items()}
    assert {one.hash for one in keys(plan(path).stages).values()} == {one.hash for one in first.values()}
    np.savez(tmp_path / "kernel.npz", TABLE[:, ::-1])
    after = plan(path)
    second = keys(after.stages)
    stored = {one.hash for one in first.values()}
    assert stored.isdisjoint(one.hash for one in second.values())
    told = reasons(after.stages, second, stored.__contains__, parts.get)
    assert all("kernel.npz changed" in str(reason.why) for reason in told.values())


def test_a_file_that_changes_behind_the_plans_back_is_noticed(tmp_path):
    np.savez(tmp_path / "kernel.npz", TABLE)
    made = plan(write(tmp_path, mdp=mdp(file="kernel.npz")))
    params = made.stage(made.runs[0].stage("train")).params
    np.savez(tmp_path / "kernel.npz", TABLE[::-1])
    with pytest.raises(StageError, match="was changed after the plan was made; run again"):
        world_of(WorldChoice(params["mdp"]), 0, params["files"])


def changed(state, action, row):
    table = TABLE.copy()
    table[state, action] = row
    return table


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (changed(0, 1, [0.25, 0.74]), "transitions.here.wait: sums to 0.99, not 1"),
        (changed(1, 0, [np.nan, 1]), "transitions.there.go: nan is no probability"),
        (changed(1, 0, [-0.5, 1.5]), "transitions.there.go: -0.5 is no probability"),
        (TABLE[:, :1], "transitions have shape [2, 1, 2]; expected [2, 2, 2]"),
        (TABLE[0], "transitions have shape [2, 2]; expected [states, actions, states]"),
        (np.array(["0", "1"]), "'arr_0' holds no plain numbers; save plain numbers with numpy.savez"),
        (
            np.array([{}, print], object),
            "'arr_0' holds Python objects, which run code when they are read; save plain numbers with numpy.savez",
        ),
    ],
)
def test_an_array_that_is_no_kernel_is_told_by_its_first_bad_row(tmp_path, table, message):
    file = str(tmp_path / "kernel.npz")
    np.savez(file, table)
    with pytest.raises(StageError) as error:
        world_of(WorldChoice(mdp(file=file)), 0, {})
    assert str(error.value) == f"{file}: {message}"


class Trap:
    """Runs code where it is unpickled."""

    sprung = False

    def __reduce__(self):
        return (setattr, (Trap, "sprung", True))


def test_a_pickle_in_disguise_is_refused_and_not_opened(tmp_path):
    file = tmp_path / "kernel.npz"
    file.write_bytes(pickle.dumps(Trap()))
    with pytest.raises(StageError, match="it is a pickle, which runs code when it is read"):
        world_of(WorldChoice(mdp(file=str(file))), 0, {})
    assert not Trap.sprung


def test_archives_that_are_none_say_what_to_save(tmp_path):
    file = tmp_path / "kernel.npz"
    for content in (b"", b"PK\x03\x04 cut short"):
        file.write_bytes(content)
        with pytest.raises(StageError, match="it is no whole archive of arrays; save them with numpy.savez"):
            world_of(WorldChoice(mdp(file=str(file))), 0, {})
    with file.open("wb") as handle:
        np.save(handle, TABLE)
    with pytest.raises(StageError, match="one bare array; save it with numpy.savez"):
        world_of(WorldChoice(mdp(file=str(file))), 0, {})
    np.savez(file, one=TABLE, two=TABLE)
    with pytest.raises(
        StageError, match="expected an array called 'transitions', or one array alone; it holds one, two"
    ):
        world_of(WorldChoice(mdp(file=str(file))), 0, {})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (LINES.replace("0.25", "0.24"), "transitions.here.wait: sums to 0.99, not 1"),
        (LINES.replace("0.25", "nan"), "transitions.here.wait: nan is no probability"),
        (LINES.replace("0.25", "-1"), "transitions.here.wait: -1 is no probability"),
        (LINES.replace("0.25", "some"), "line 3: 'some' is no probability"),
        (LINES.replace("1, here, go", "1, hear, go"), "line 2: no state 'hear'; did you mean 'here'?"),
        (LINES.replace("1, here, go", "1, here, 2"), "line 2: no action '2'"),
        (LINES + "0, here, go, there\n", "line 7: here, go, there is listed twice"),
        (LINES + "1, here\n", "line 7: expected 4 values, not 2"),
        (LINES.rsplit("\n", 2)[0], "transitions.there.wait: sums to 0, not 1"),
        (
            LINES.split("\n", 1)[1],
            "line 1: expected the columns state, action, successor, probability, not 1, here, go, there",
        ),
        ("", "line 1: expected the columns state, action, successor, probability, not nothing"),
    ],
)
def test_a_table_of_text_is_told_by_its_line_or_its_first_bad_row(tmp_path, text, message):
    file = tmp_path / "kernel.csv"
    file.write_text(text)
    with pytest.raises(StageError) as error:
        world_of(WorldChoice(mdp(file=str(file))), 0, {})
    assert str(error.value) == f"{file}: {message}"
