"""The page's recipes with the real libraries, word for word; and the agent that they train, wired wrongly."""

from __future__ import annotations

import itertools

import pytest
import yaml

from tests.docs.pages import ROOT, blocks_of
from tests.docs.reader import Reader, enter
from wmlab.spec.check.validate import validate_all

PAGE = ROOT / "docs" / "agents_from_elsewhere.md"
COMMANDS, LINES = 6, 25  # from `pip install` to a report, at most
pytestmark = [
    pytest.mark.audit,
    pytest.mark.filterwarnings("default"),  # those of other libraries are theirs
]


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    return tmp_path_factory.mktemp("audit")


def test_the_recipes_can_be_followed_word_by_word(here, capsys, monkeypatch):
    """Claims in the page's own specs say how good models and plans must be; `run --check` fails where they are not."""
    monkeypatch.delenv("WMLAB_HOME", raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.chdir(here)
    enter(here)
    reader = Reader(here, capsys, real=True)
    for block in blocks_of(PAGE):
        if block.real:
            reader.follow(block)
    claims = yaml.safe_load((here / "point.yaml").read_text())["claims"]
    assert claims["moves"]["metric"] == "wm.delta_nmse_interior" and claims["moves"]["at_most"] <= 0.05
    assert claims["plans"]["metric"] == "unseen.corner.ratio" and claims["plans"]["at_least"] >= 0.95
    claims = yaml.safe_load((here / "push.yaml").read_text())["claims"]
    assert claims["moves"]["metric"] == "wm.delta_nmse_interior" and claims["moves"]["at_most"] <= 0.10


def test_it_takes_six_commands_and_twenty_five_lines_of_which_most_were_written(here):
    text = (here / "point.yaml").read_text()
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    own = next(block.text for block in blocks_of(PAGE) if block.real and block.marked == ("in", "point.yaml"))
    assert len(lines) <= LINES and len(own.splitlines()[1:]) < len(lines) / 2
    recipe = [block for block in blocks_of(PAGE) if block.real and block.language == "sh"]
    until = next(place for place, block in enumerate(recipe) if "--check" in block.text)
    typed = [line for block in recipe[: until + 1] for line in block.text.splitlines() if line.strip()]
    assert typed[0].startswith("pip install") and len(typed) <= COMMANDS


def test_critics_take_no_more_lines(here):
    lines = [
        line for line in (here / "push.yaml").read_text().splitlines() if line.strip() and not line.startswith("#")
    ]
    assert len(lines) <= LINES


def wrong(here, monkeypatch, old: str, new: str, name: str = "point") -> list[str]:
    """What is said of the agent with one thing said otherwise; `old` is in the spec."""
    monkeypatch.chdir(here)
    text = (here / f"{name}.yaml").read_text()
    assert old in text
    (here / "wrong.yaml").write_text(text.replace(f"name: {name}", "name: wrong").replace(old, new))
    return [f"{error.path}: {error.hint}" for error in validate_all(["wrong.yaml"])]


def test_every_wrong_order_of_inputs_is_refused(here, monkeypatch):
    right = "inputs: [state, goal, achieved]"
    for order in itertools.permutations(("state", "goal", "achieved")):
        said = wrong(here, monkeypatch, right, f"inputs: [{', '.join(order)}]")
        if order[1] == "goal":  # the point's state is what it achieves: these two are the same network
            assert said == []
        else:
            assert said == ["agent.check.file: they agree with inputs: [state, goal, achieved]"] or (
                said == ["agent.check.file: they agree with inputs: [achieved, goal, state]"]
            )


def test_every_wrong_order_of_variables_is_refused(here, monkeypatch):
    for key in ("observation", "wanted"):
        said = wrong(here, monkeypatch, f"{key}: [x, y]", f"{key}: [y, x]")
        assert len(said) == 1 and said[0].startswith("agent.check.file: ")


def test_every_wrong_order_of_actions_is_refused(here, monkeypatch):
    names = ("stay", "right", "left", "up", "down")
    for order in list(itertools.permutations(names))[1:]:
        said = wrong(here, monkeypatch, "  discount: 0.9", f"  actions: [{', '.join(order)}]\n  discount: 0.9")
        assert said == [f"agent.check.file: they agree with actions: [{', '.join(names)}]"]


def test_every_wrong_order_of_a_critics_inputs_is_refused(here, monkeypatch):
    right = ("state", "goal", "achieved", "action")
    for order in itertools.permutations(right):
        said = wrong(here, monkeypatch, f"inputs: [{', '.join(right)}]", f"inputs: [{', '.join(order)}]", "push")
        same = order in (right, ("achieved", "goal", "state", "action"))  # the point's state is what it achieves
        assert (
            said == [] if same else [each.startswith("agent.check.file: they agree with ") for each in said] == [True]
        )


def test_a_wrong_order_of_components_is_refused(here, monkeypatch):
    said = wrong(here, monkeypatch, "  discount: 0.9", "  actions: [dy, dx]\n  discount: 0.9", "push")
    assert said == ["agent.check.file: they agree with actions: [dx, dy]"]
