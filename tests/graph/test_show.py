"""The plan as people and programs read it."""

from __future__ import annotations

import json
import time

import pytest

from tests.graph.toy import SUM, by_label, stages_of
from wmlab.graph.key import Key
from wmlab.graph.show import as_dot, as_json, as_mermaid, as_text
from wmlab.graph.why import Reason

CACHED = Reason(cached=True)


def runs(*why: str) -> Reason:
    return Reason(cached=False, why=why)


def plan_of(plan, states):
    stages = stages_of(plan)
    reasons = {identity: states.get(stages[identity].label, CACHED) for identity in stages}
    return stages, reasons, {identity: Key(identity, {}) for identity in stages}


def sweep(n):
    """A world, n agents and two extractions from each."""
    plan = {"world": ("oracle", {}, {})}
    for i in range(n):
        plan[f"train {i}"] = ("train", {"seed": i}, {"world": "world"})
        for method in ("lp", "matching"):
            plan[f"{method} {i}"] = ("extract", {"method": method, "i": i}, {"agent": f"train {i}", "world": "world"})
    return plan


def test_a_small_plan_is_a_tree_of_its_kinds():
    stages, reasons, keys = plan_of(SUM, {"three": runs("n changed: 3 → 4"), "five": runs("input 'right' will run")})
    assert as_text(stages, reasons, keys) == (
        "4 stages: 2 cached, 2 will run\n"
        "number × 2  (1 cached, 1 will run: n changed: 3 → 4)\n"
        "└─ add  (will run: input 'right' will run)\n"
        "   └─ scale  (cached)\n"
    )


def test_a_sweep_collapses_by_kind_and_tells_the_reasons_with_their_counts():
    change = runs("agent.discount changed: 0.99 → 0.95")
    stages, reasons, keys = plan_of(sweep(20), {"lp 3": change, "matching 7": change, "train 1": runs("never run")})
    assert as_text(stages, reasons, keys) == (
        "61 stages: 58 cached, 3 will run\n"
        "oracle  (cached)\n"
        "└─ train × 20  (19 cached, 1 will run: never run)\n"
        "   └─ extract × 40  (38 cached, 2 will run: agent.discount changed: 0.99 → 0.95)  ← also oracle\n"
    )


def test_several_reasons_are_counted_and_rare_ones_are_pooled():
    states = {f"train {i}": runs(why) for i, why in enumerate(["a", "a", "b", "c", "d", "e"])}
    stages, reasons, keys = plan_of(sweep(6), states)
    assert "train × 6  (6 will run: a (2), b (1), c (1), other reasons (2))" in as_text(stages, reasons, keys)


def test_verbose_lists_every_stage_with_its_key_and_all_its_reasons():
    stages, reasons, keys = plan_of(SUM, {"five": runs("a", "b", "c", "d")})
    text = as_text(stages, reasons, keys, verbose=True)
    ids = {label: key.hash[:12] for label, key in by_label(stages, keys).items()}
    assert f"{ids['two']}  two  (cached)" in text and f"{ids['five']}  five  (will run: a; b; c; d)" in text
    assert len(text.splitlines()) == 1 + 3 + 4


def test_a_plan_of_thousands_is_shown_in_a_few_lines_and_at_once():
    stages, reasons, keys = plan_of(sweep(1500), {})
    start = time.perf_counter()
    text = as_text(stages, reasons, keys)
    assert len(text.splitlines()) == 4 and time.perf_counter() - start < 3.0
    assert len(as_mermaid(stages, reasons).splitlines()) < 12 and len(as_dot(stages, reasons).splitlines()) < 12


def test_kinds_that_alternate_along_a_path_are_still_a_tree():
    plan = {
        "a": ("add", {"n": 1}, {}),
        "b": ("scale", {"n": 1}, {"of": "a"}),
        "c": ("add", {"n": 2}, {"of": "b"}),
        "d": ("add", {"n": 3}, {"of": "c"}),
    }
    stages, reasons, keys = plan_of(plan, {})
    assert as_text(stages, reasons, keys) == "4 stages: 4 cached, 0 will run\nadd × 3  (cached)\n└─ scale  (cached)\n"


def test_an_empty_plan_is_shown_as_one():
    stages, reasons, keys = plan_of({}, {})
    assert as_text(stages, reasons, keys) == "0 stages: 0 cached, 0 will run\n"
    assert as_json(stages, reasons, keys) == {"stages": [], "cached": 0, "will_run": 0}


def test_mermaid_is_grouped_and_coloured_by_state():
    stages, reasons, _ = plan_of(SUM, {"three": runs("never run"), "ten": runs("never run")})
    lines = as_mermaid(stages, reasons).splitlines()
    assert lines[:6] == [
        "flowchart TD",
        '  n0["number × 2<br/>1 cached, 1 will run: never run"]:::mixed',
        '  n1["add<br/>cached"]:::cached',
        '  n2["scale<br/>will run: never run"]:::will_run',
        "  n0 --> n1",
        "  n1 --> n2",
    ]


HOSTILE = 'x"] --> y; <b>&#35;`\\"}\n%% end'


@pytest.mark.parametrize("verbose", [False, True])
def test_labels_cannot_break_out_of_mermaid(verbose):
    stages, reasons, _ = plan_of({HOSTILE: ("number", {}, {})}, {HOSTILE: runs(HOSTILE)})
    [box] = [line for line in as_mermaid(stages, reasons, verbose=verbose).splitlines() if "n0" in line]
    assert box.count('"') == 2 and "`" not in box and box.replace("<br/>", "").count("<") == 0
    assert "x#quot;] --#gt; y; #lt;b#gt;#amp;#35;35;#96;" in box


@pytest.mark.parametrize("verbose", [False, True])
def test_labels_cannot_break_out_of_dot(verbose):
    stages, reasons, _ = plan_of({HOSTILE: ("number", {}, {})}, {HOSTILE: runs(HOSTILE)})
    [box] = [line for line in as_dot(stages, reasons, verbose=verbose).splitlines() if line.startswith("  n0 ")]
    assert 'x\\"] --> y; <b>&#35;`\\\\\\"}\\\\n%% end' in box
    assert box.replace("\\\\", "").replace('\\"', "").count('"') == 4


def test_dot_is_a_graph_of_the_kinds_or_of_every_stage():
    stages, reasons, _ = plan_of(SUM, {})
    grouped, full = as_dot(stages, reasons), as_dot(stages, reasons, verbose=True)
    assert grouped.startswith("digraph plan {\n") and grouped.endswith("}\n")
    assert grouped.count(" -> ") == 2 and full.count(" -> ") == 3 and full.count("[label=") == 4


def test_json_holds_every_stage_with_its_key_state_reasons_and_inputs():
    stages, reasons, keys = plan_of(SUM, {"five": runs("never run")})
    data = json.loads(json.dumps(as_json(stages, reasons, keys)))
    assert data["cached"] == 3 and data["will_run"] == 1
    five = next(stage for stage in data["stages"] if stage["label"] == "five")
    ids = {stage["label"]: stage["id"] for stage in data["stages"]}
    assert five == {
        "id": ids["five"],
        "label": "five",
        "kind": "add",
        "key": ids["five"],
        "state": "will run",
        "why": ["never run"],
        "inputs": {"left": ids["two"], "right": ids["three"]},
    }
