"""Reasons to run, in the words that a user reads."""

from __future__ import annotations

import copy
import json

from tests.graph.toy import SUM, by_label, stages_of, write_code
from wmlab.graph.key import keys
from wmlab.graph.stage import digest
from wmlab.graph.why import Reason, differences, reasons, shorten

VERSIONS = {"python": "3.11", "jax": "0.10.1", "jaxlib": "0.10.1", "numpy": "2.4"}


class Lab:
    """A store made of dicts: what has been run, and under which key last."""

    def __init__(self, folder):
        self.folder, self.store, self.last = folder, set(), {}

    def ask(self, plan=SUM, *, versions=VERSIONS, device="cpu x86_64", code=None, **options):
        self.stages = stages_of(plan, **options)
        self.keys = keys(self.stages, versions=versions, device=device, code=write_code(self.folder, **(code or {})))
        found = reasons(self.stages, self.keys, self.store.__contains__, self.last.get)
        return {
            label: reason.text if not reason.cached else "cached"
            for label, reason in by_label(self.stages, found).items()
        }

    def run(self, *arguments, **options):
        self.ask(*arguments, **options)
        for label, key in by_label(self.stages, self.keys).items():
            self.store.add(key.hash)
            self.last[label] = json.loads(json.dumps(key.parts))  # as a store would keep it
        return self


def test_what_never_ran_says_so_and_what_ran_is_cached(tmp_path):
    lab = Lab(tmp_path)
    assert set(lab.ask().values()) == {"never run"}
    assert set(lab.run().ask().values()) == {"cached"}


def test_a_changed_parameter_is_named_where_it_is_and_as_an_input_further_on(tmp_path):
    plan = copy.deepcopy(SUM)
    plan["three"] = ("number", {"n": 4}, {})
    assert Lab(tmp_path).run().ask(plan) == {
        "two": "cached",
        "three": "n changed: 3 → 4",
        "five": "input 'right' will run",
        "ten": "input 'of' will run",
    }


def test_nested_parameters_are_named_by_their_dotted_path(tmp_path):
    lab = Lab(tmp_path).run()
    assert (
        lab.ask({**SUM, "ten": ("scale", {"by": {"factor": 3}}, {"of": "five"})})["ten"] == "by.factor changed: 2 → 3"
    )
    assert lab.ask({**SUM, "ten": ("scale", {"by": {}}, {"of": "five"})})["ten"] == "by.factor removed: was 2"
    more = {"by": {"factor": 2, "at": "s0"}}
    assert lab.ask({**SUM, "ten": ("scale", more, {"of": "five"})})["ten"] == "by.at added: s0"


def test_an_integer_that_became_a_float_is_a_change_though_python_calls_them_equal(tmp_path):
    changed = {**SUM, "two": ("number", {"n": 2.0}, {})}
    assert Lab(tmp_path).run().ask(changed)["two"] == "n changed: 2 → 2.0"


def test_an_input_whose_other_answer_is_known_changed_but_will_not_run(tmp_path):
    lab, other = Lab(tmp_path).run(), {**SUM, "three": ("number", {"n": 4}, {})}
    lab.run({"three": other["three"]})
    found = lab.ask(other)
    assert found["three"] == "cached" and found["five"] == "input 'right' changed"


def test_changed_code_versions_and_devices_are_named(tmp_path):
    lab = Lab(tmp_path).run()
    assert lab.ask(code={"rules": "scale = 3\n"})["ten"] == "code of toy.rules changed"
    assert lab.ask(versions={**VERSIONS, "jax": "0.10.2"})["ten"] == "jax 0.10.1 → 0.10.2"
    assert lab.ask(device="gpu x86_64")["two"] == "device cpu x86_64 → gpu x86_64"
    assert lab.ask(cores=2)["two"] == "cores 1 → 2"


def test_a_new_import_names_the_cause_before_the_effect(tmp_path):
    changed = {"number": "from toy import rules\ndef run(params, inputs, context): return params['n']\n"}
    assert Lab(tmp_path).run().ask(code=changed)["two"] == "code of toy.number changed; code of toy.rules is new"


def test_new_and_lost_inputs_and_another_kind_are_named(tmp_path):
    lab = Lab(tmp_path).run()
    assert lab.ask({**SUM, "five": ("add", {}, {"left": "two", "more": "three"})})["five"] == (
        "input 'more' is new; input 'right' is gone"
    )
    other = lab.ask({**SUM, "five": ("scale", {}, {"left": "two", "right": "three"})})["five"]
    assert other.startswith("kind changed: toy.add → toy.scale")


def test_an_entry_removed_from_the_cache_is_told_apart_from_a_change(tmp_path):
    lab = Lab(tmp_path).run()
    lab.store.discard(by_label(lab.stages, lab.keys)["five"].hash)
    assert lab.ask() == {"two": "cached", "three": "cached", "five": "cached entry was removed", "ten": "cached"}


def test_a_record_of_another_make_is_not_called_a_removed_entry(tmp_path):
    lab = Lab(tmp_path).run()
    lab.last["two"] = {**lab.last["two"], "salt": 1}
    lab.store.clear()
    assert lab.ask()["two"] == "the last run's key was taken in another way"


def test_many_reasons_are_cut_to_three_on_a_line_and_kept_in_the_record():
    reason = Reason(cached=False, why=("a", "b", "c", "d", "e"))
    assert reason.text == "a; b; c; and 2 more" and len(reason.why) == 5


def test_lists_are_compared_place_by_place_when_they_are_of_one_length():
    before, after = {"at": [[1, 2], [3, 4]]}, {"at": ((1, 2), (3, 5))}
    assert list(differences(before, after)) == [("at[1][1]", 4, 5)]
    assert list(differences({"at": [1]}, {"at": [1, 2]})) == [("at", [1], [1, 2])]


def test_long_values_are_shortened_and_line_breaks_go():
    assert shorten("a\n  b") == "a b"
    assert shorten(list(range(100))) == "[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,…"
    assert len(shorten("x" * 1000)) == 40


def test_a_digest_survives_the_store(tmp_path):
    lab = Lab(tmp_path).run()
    assert all(digest(parts) in lab.store for parts in lab.last.values())
