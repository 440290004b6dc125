"""Tables of values from files: what is read is what was written, and what is wrong is told before it is used."""

from __future__ import annotations

import itertools
import json
import pickle
import struct

import numpy as np
import pytest
import safetensors.numpy

from tests.agents.external.robot import as_rows, exact_view, spec
from wmlab.errors import StageError
from wmlab.graph.study import open_study
from wmlab.registry import build
from wmlab.spec.check.validate import validate_all
from wmlab.stages.finite import train
from wmlab.stages.params import TrainParams

AXES = ("goal", "state", "action")


@pytest.fixture(scope="module")
def exact():
    return exact_view()


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def params(text):
    """The parameters of the stage that reads the agent, as the plan has them."""
    with open("audit.yaml", "w") as file:
        file.write(text)
    study = open_study("audit.yaml")
    (run,) = study.plans[0].runs
    return study.stages[run.stage("train")].params


def read_agent(params):
    return train.read_agent(build(TrainParams, params))


def told(text):
    """The mistakes that validation finds."""
    with open("audit.yaml", "w") as file:
        file.write(text)
    return [
        f"{error.path}: {error.message}" + (f" ({error.hint})" if error.hint else "")
        for error in validate_all(["audit.yaml"])
    ]


@pytest.mark.parametrize("order", [*itertools.permutations(range(3))])
def test_declared_axes_put_a_table_right(order, exact, here):
    np.savez("q.npz", other=np.zeros(2), q=exact.q.transpose(order))
    axes = [AXES[axis] for axis in order]
    found = read_agent(params(spec(f"{{file: q.npz, tensor: q, axes: {axes}}}"))).arrays
    assert np.array_equal(found["q"], exact.q)
    assert np.array_equal(found["reward"], exact.reward) and np.array_equal(found["continues"], exact.continues)
    value = (found["policy"] * found["q"]).sum(axis=-1)
    np.testing.assert_allclose(value, exact.value, rtol=0, atol=1e-12)


def test_text_arrays_and_tensors_give_the_same_agent(exact, here):
    table = np.ascontiguousarray(exact.q.transpose(1, 2, 0))
    names = (exact.space.names, exact.space.actions, [exact.space.names[s] for s in exact.reward.argmax(axis=1)])
    np.savez("q.npz", table)
    safetensors.numpy.save_file({"q": table}, "q.safetensors")
    (here / "q.csv").write_text(as_rows(table, names, "value"))
    axes = "axes: [state, action, goal]"
    files = [f"{{file: q.npz, {axes}}}", f"{{file: q.safetensors, {axes}}}", "{file: q.csv}"]
    one, two, three = (read_agent(params(spec(file))) for file in files)
    for name in one.arrays:
        assert np.array_equal(one.arrays[name], two.arrays[name]) and np.array_equal(
            one.arrays[name], three.arrays[name]
        )


def test_a_policy_may_come_from_a_file_as_probabilities_or_as_actions(exact, here):
    uniform = np.full((11, 4), 0.25)
    np.savez("both.npz", q=exact.q, mixed=uniform, best=exact.q.argmax(axis=-1))
    q = "{file: both.npz, tensor: q, axes: [goal, state, action]}"
    mixed = read_agent(params(spec(q, "{kind: file, file: both.npz, tensor: mixed, axes: [state, action]}")))
    assert np.array_equal(mixed.arrays["policy"], np.broadcast_to(uniform, exact.q.shape))
    best = read_agent(params(spec(q, "{kind: file, file: both.npz, tensor: best, axes: [goal, state]}")))
    assert np.array_equal(best.arrays["policy"], np.eye(4)[exact.q.argmax(axis=-1)])


def test_another_file_is_another_question(exact, here):
    np.savez("q.npz", exact.q)
    text = spec("{file: q.npz, axes: [goal, state, action]}")
    before = params(text)
    np.savez("q.npz", exact.q + 1e-9)
    assert params(text)["files"].keys() == before["files"].keys() and params(text)["files"] != before["files"]
    with pytest.raises(StageError, match="q.npz was changed after the plan was made"):
        read_agent(before)


TABLE = "{file: q.npz, axes: [goal, state, action]}"
WRONG = {  # the form of q, the array that is saved: what validation says
    "axes in another order": (
        "{file: q.npz, axes: [state, action, goal]}",
        lambda q: {"q": q},
        "agent.q.axes: q.npz: shape [3, 11, 4] (state, action, goal): 3 states, and there are 11 (is it the axis of "
        "goals?)",
    ),
    "an axis too few": (
        TABLE,
        lambda q: {"q": q[0]},
        "agent.q.axes: q.npz: shape [11, 4] has 2 axes; the spec names 3: goal, state, action",
    ),
    "an axis that is none": (
        "{file: q.npz, axes: [goal, states, action]}",
        lambda q: {"q": q},
        "agent.q.axes[1]: no axis is called 'states' (did you mean 'state'?)",
    ),
    "no axes": (
        "{file: q.npz}",
        lambda q: {"q": q},
        "agent.q.axes: which axis is which? (as in axes: [state, action, goal])",
    ),
    "a missing tensor": (
        "{file: q.npz, tensor: q_tabel, axes: [goal, state, action]}",
        lambda q: {"q_table": q, "steps": np.zeros(3)},
        "agent.q.tensor: q.npz: no tensor 'q_tabel'; it holds q_table [3, 11, 4], steps [3] (did you mean 'q_table'?)",
    ),
    "which of two": (
        TABLE,
        lambda q: {"q": q, "old": q},
        "agent.q.tensor: q.npz: which tensor? it holds q [3, 11, 4], old [3, 11, 4] (say tensor: its name)",
    ),
    "objects": (
        TABLE,
        lambda q: {"q": q.astype(object)},
        "agent.q.file: q.npz: 'q' holds Python objects, which run code when they are read; save plain numbers with "
        "numpy.savez",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_validation_sees_from_the_header_that(case, exact, here):
    form, arrays, message = WRONG[case]
    np.savez("q.npz", **arrays(exact.q))
    assert told(spec(form)) == [message]


class Bomb:
    """Unpickled, it leaves a file behind."""

    def __reduce__(self):
        return open, ("exploded", "w")


def test_a_pickle_in_disguise_is_refused_and_never_opened(here):
    bomb = pickle.dumps(Bomb())
    np.savez("q.npz", q=np.array([Bomb()], dtype=object))
    (here / "bare.npz").write_bytes(bomb)
    (here / "q.safetensors").write_bytes(bomb)
    for name, says in (
        ("q.npz", "'q' holds Python objects"),
        ("bare.npz", "it is a pickle, which runs code when it is read"),
        ("q.safetensors", "it is a pickle, which runs code when it is read"),
    ):
        (message,) = told(spec(f"{{file: {name}, axes: [goal, state, action]}}"))
        assert f"{name}: {says}" in message
        agent = {"kind": "external", "q": {"file": name, "axes": list(AXES)}, "policy": "greedy", "discount": 0.9}
        mdp = {"kind": "unknown", "states": 2, "actions": 1}
        goals = {"reward": {"kind": "indicator"}, "at": "all", "terminate": "on_arrival"}
        with pytest.raises(StageError, match=says):
            read_agent({"mdp": mdp, "goals": goals, "agent": agent})
    assert not (here / "exploded").exists()


def header(entries):
    text = json.dumps(entries).encode()
    return struct.pack("<Q", len(text)) + text


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "it is no file of safetensors"),
        (b"q = 1\n" * 9, "it is no file of safetensors"),
        (struct.pack("<Q", 40) + b"{}", "it is no file of safetensors"),
        (header({"q": {"dtype": "F64", "shape": [132], "data_offsets": [0, 1056]}}) + b"\0" * 99, "it is cut short"),
        (header({"q": {"dtype": "BF16", "shape": [2], "data_offsets": [0, 4]}}) + b"\0" * 4, "'q' is of type BF16"),
        (header({"q": 5}), "it is no file of safetensors"),
        (struct.pack("<Q", 8) + b"[[[[[[[[", "it is no file of safetensors"),
    ],
)
def test_a_damaged_file_of_tensors_is_told(content, says, here):
    (here / "q.safetensors").write_bytes(content)
    (message,) = told(spec("{file: q.safetensors, axes: [goal, state, action]}"))
    assert message.startswith(f"agent.q.file: q.safetensors: {says}")


def test_a_truncated_archive_is_told(exact, here):
    np.savez("whole.npz", exact.q)
    (here / "q.npz").write_bytes((here / "whole.npz").read_bytes()[:-40])
    assert told(spec(TABLE)) == ["agent.q.file: q.npz: it is no whole archive of arrays; save them with numpy.savez"]


def test_a_number_that_is_none_is_named_when_the_file_is_read(exact, here):
    broken = exact.q.copy()
    broken[1, 5, 2] = np.nan
    np.savez("q.npz", broken)
    with pytest.raises(StageError, match=r"q.npz: the value at \(0, 3\), \(1, 2\), down is nan"):
        read_agent(params(spec(TABLE)))


def test_rows_of_text_say_what_is_wrong_with_them(exact, here):
    head = "state,action,goal,value\n"
    for rows, says in (
        (head, r"nothing said about \(0, 0\), up, \(0, 0\) and 131 more"),
        (head + '"(0, 0)",upp,"(0, 0)",1\n', r"line 2: no action 'upp'; did you mean 'up'\?"),
        (head + '"(0, 0)",up,"(0, 0)",1\n0,0,0,2\n', "line 3: 0, 0, 0 is listed twice"),
        (head + "0,0,0,nan\n", "line 2: the value is nan"),
        (head + "0,0,0,much\n", "line 2: 'much' is no number"),
        ("state,action,value\n0,0,1\n", "there are 3 goals, and no column 'goal'"),
    ):
        (here / "q.csv").write_text(rows)
        with pytest.raises(StageError, match=says):
            read_agent(params(spec("{file: q.csv}")))
    (here / "q.csv").write_text("state,act,goal,value\n")
    assert (
        "expected the columns state, action, goal, value, not state, act, goal, value" in told(spec("{file: q.csv}"))[0]
    )


def test_a_policy_that_is_no_distribution_is_told(exact, here):
    policy = np.full((11, 4), 0.25)
    policy[3] = 0.2
    np.savez("both.npz", q=exact.q, policy=policy, best=np.full(11, 4))
    q = "{file: both.npz, tensor: q, axes: [goal, state, action]}"
    with pytest.raises(StageError, match=r"at \(0, 0\), \(0, 3\) the actions are no distribution \(they sum to 0.8\)"):
        read_agent(params(spec(q, "{kind: file, file: both.npz, tensor: policy, axes: [state, action]}")))
    with pytest.raises(StageError, match="4 is no action; they count from 0 to 3"):
        read_agent(params(spec(q, "{kind: file, file: both.npz, tensor: best, axes: [state]}")))
