"""The reference says all that the code declares, and its examples are good specs."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from wmlab.app.new import MODELINE
from wmlab.errors import UsageError
from wmlab.expressions.functions import FUNCTIONS, OPERATORS, UNARY
from wmlab.reference.page import FILE, find, markdown, show, show_topics
from wmlab.reference.topics import EXAMPLES, PLACES, SHAPED, WORDS, topics
from wmlab.registry import FAMILIES
from wmlab.registry.metrics import measurements
from wmlab.spec.check.validate import validate_all
from wmlab.spec.yaml.load import load

ROOT = Path(__file__).parent.parent.parent
KINDS = [f"{family.name}.{kind}" for family in FAMILIES.values() for kind in family.own]


def test_the_committed_reference_is_that_of_the_code():
    committed = (ROOT / "docs" / FILE).read_text(encoding="utf-8")
    assert committed == markdown(), "run `make schemas`, or `wmlab reference --write`, and commit docs/reference.md"


def test_every_example_is_a_good_spec():
    paths = sorted(EXAMPLES.glob("*.yaml"))
    assert validate_all([str(path) for path in paths]) == []
    for path in paths:
        assert path.read_text(encoding="utf-8").startswith(f"{MODELINE}../../../schemas/spec.schema.json\n")


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_an_example_that_uses_it(kind):
    family, _, name = kind.partition(".")
    path = EXAMPLES / f"{kind}.yaml"
    assert path.is_file(), f"write wmlab/reference/examples/{kind}.yaml: a whole spec that shows the kind"
    found = load(path).at(PLACES[family].split("."))
    assert found is not None and found.plain()["kind"] == name
    topic = next(topic for topic in topics() if topic.name == kind)
    assert topic.example is not None and topic.example.startswith(f"{PLACES[family].split('.')[0]}:")


@pytest.mark.parametrize("key", [*SHAPED, *WORDS, "expressions"])
def test_every_key_has_an_example(key):
    assert next(topic for topic in topics() if topic.name == key).example


def test_every_kind_and_option_has_an_anchor_of_its_own_and_every_link_leads_to_one():
    page = markdown()
    anchors = Counter(re.findall(r'<a id="([^"]*)"></a>', page))
    assert [name for name, count in anchors.items() if count > 1] == []
    assert set(re.findall(r"\]\(#([^)]*)\)", page)) <= set(anchors)
    assert {*KINDS, "claims", "evaluate.unseen.goals", "agent.pqn.network.depth", "metrics", "name"} <= set(anchors)


def test_every_option_of_every_kind_is_listed():
    for topic in topics():
        family, _, kind = topic.name.partition(".")
        if kind and family in FAMILIES:
            fields = set(FAMILIES[family][kind].options.__dataclass_fields__)
            assert {row.path for row in topic.rows} >= {field.rstrip("_") for field in fields}


def test_all_functions_and_operators_are_explained():
    assert all(operation.doc for operation in (*FUNCTIONS.values(), *OPERATORS.values(), *UNARY.values()))
    table = show("expressions")
    assert all(f"{name}(" in table for name in FUNCTIONS) and all(sign in table for sign in (*OPERATORS, *UNARY))


def test_the_language_page_lists_every_metric_under_what_asks_for_it():
    declared = {}
    for measurement in measurements():
        names = declared.setdefault(measurement.asked_at, [])
        names += [metric.name for metric in measurement.metrics]
    page = (ROOT / "docs" / "language.md").read_text(encoding="utf-8")
    table = page.partition("| asked for by | metrics |\n|---|---|\n")[2].partition("\n\n")[0]
    rows = [f"| `{path}` | {', '.join(f'`{name}`' for name in names)} |" for path, names in declared.items()]
    assert table.splitlines() == rows, "write these rows into docs/language.md:\n" + "\n".join(rows)


def test_a_topic_is_found_by_its_name_and_shown_as_plain_text():
    text = show("gridworld")
    assert text == show("mdp.gridworld") and text.startswith("mdp.gridworld\n") and "    kind: gridworld" in text
    assert "  slip.straight\n    number ≥ 0 and ≤ 1; required\n" in text
    assert show("agent.pqn.network.depth").splitlines()[1] == "  whole number ≥ 1; default 2"
    assert "sqrt(x)" in show("expressions") and "](" not in show("spec") + show("mdp") + show_topics()
    with pytest.raises(UsageError, match=r"no 'gridwrld'; did you mean 'gridworld'\?"):
        find("gridwrld")


def test_every_environment_of_gymnax_is_listed_with_its_variables():
    lines = show("mdp.gymnax", width=200).splitlines()
    rows = {line.split()[0]: line for line in lines if line.startswith("  ") and "-" in line.split()[0]}
    assert rows["Acrobot-v1"].split(maxsplit=1)[1] == (
        "theta1, theta2, omega1, omega2; derived height; actions torque (-1, 0, 1)"
    )
    assert rows["Swimmer-misc"].endswith("gymnax's state holds urchin_xys, xy, xy_vel, goal_xy")
    assert len(rows) >= 26 and "| `Swimmer-misc` |" in markdown()
