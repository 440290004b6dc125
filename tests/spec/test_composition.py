"""How a spec is put together: extends, profile, --set, variant, sweep, let; each value knows where it came from."""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.spec.composing import BASE, lay, resolved, write
from wmlab.cli import main
from wmlab.errors import Source, SpecErrors, UsageError
from wmlab.limits import FILES
from wmlab.spec.check.validate import checked, validate
from wmlab.spec.compose.document import choose_profile, read
from wmlab.spec.compose.merge import Merger
from wmlab.spec.compose.resolve import resolve
from wmlab.spec.compose.worlds import DEFAULT
from wmlab.spec.yaml.node import from_plain

HERE = Source("f.yaml", 1, 1, "")
KEYS = st.sampled_from("abcd")
TREES = st.recursive(
    st.integers(0, 3) | st.text("xy", max_size=1) | st.lists(st.integers(0, 3), max_size=2),
    lambda inner: st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
BODIES = st.dictionaries(KEYS, TREES, max_size=3)
OVERLAYS = st.dictionaries(KEYS, TREES | st.none(), max_size=3)


def merge(*layers):
    merger = Merger()
    body = from_plain({}, HERE)
    for layer in layers:
        body = merger.merge(body, from_plain(layer, HERE), None)
    return body.plain()


# --- the laws of merging -----------------------------------------------------------------------------------------


@given(BODIES, OVERLAYS)
def test_mappings_merge_lists_replace_and_null_removes(base, over):
    assert merge(base, over) == lay(base, over)


@given(BODIES)
def test_an_empty_overlay_changes_nothing(base):
    assert merge(base, {}) == merge({}, base) == merge(base)


@given(BODIES, OVERLAYS)
def test_an_overlay_laid_twice_is_an_overlay_laid_once(base, over):
    assert merge(base, over, over) == merge(base, over)


@given(BODIES, OVERLAYS)
def test_a_merge_leaves_its_parts_alone(base, over):
    merger, one, other = Merger(), from_plain(base, HERE), from_plain(over, HERE)
    merger.merge(one, other, None)
    assert repr(one) == repr(from_plain(base, HERE)) and repr(other) == repr(from_plain(over, HERE))


def test_another_kind_replaces_the_mapping_and_the_same_kind_does_not(tmp_path):
    found = resolved(tmp_path, {"extract": {"kind": "column_matching"}})
    assert found.points[0].data["extract"].keys() == {"kind", "norm", "when"}
    found = resolved(tmp_path, {"extract": {"kind": "lp", "when": "checkpoints"}})
    assert found.points[0].data["extract"]["tie_break"] == "least_norm"


def test_values_marked_whole_are_replaced_whole(tmp_path):
    found = resolved(tmp_path, {"goals": {"at": {"first": 3}}})
    assert found.points[0].data["goals"]["at"] == {"first": 3, "of": "states"}


def test_a_sweep_into_a_whole_value_keeps_its_siblings(tmp_path):
    found = resolved(tmp_path, {"sweep": {"goals": {"goals.at.first": [2, 4]}}})
    assert [point.data["goals"]["at"]["shuffle"] for point in found.points] == [0, 0]
    assert [point.data["goals"]["at"]["first"] for point in found.points] == [2, 4]


def test_one_axis_of_a_sweep_is_replaced_whole_and_the_others_stay(tmp_path):
    first = {"sweep": {"goals": {"goals.at.first": [1, 2]}, "gamma": {"agent.discount": [0.1, 0.2, 0.3]}}}
    found = resolved(tmp_path, first, {"sweep": {"goals": {"goals.at.first": [4]}}})
    assert {axis.name: axis.labels for axis in found.axes} == {"goals": (4,), "gamma": (0.1, 0.2, 0.3)}


def test_a_null_in_a_sweep_takes_the_value_away_at_its_points(tmp_path):
    found = resolved(tmp_path, {"sweep": {"way": {"extract.tie_break": {"plain": None, "least": "least_norm"}}}})
    assert not found.errors
    assert [point.data["extract"]["tie_break"] for point in found.points] == ["vertex", "least_norm"]


# --- the order ---------------------------------------------------------------------------------------------------

LAYERS = ("extends", "body", "profile", "set", "variant", "sweep")


def composed(tmp_path, present):
    """agent.discount as each layer that is present would have it: 0.01 for the first, 0.02 for the second, …"""
    value = {layer: (i + 1) / 100 for i, layer in enumerate(LAYERS)}
    parent = {"agent": {"discount": value["extends"]}} if "extends" in present else {}
    body: dict = {"agent": {"discount": value["body"]}} if "body" in present else {}
    if "profile" in present:
        body["profiles"] = {"smoke": {"agent": {"discount": value["profile"]}}}
    if "variant" in present:
        body["variants"] = {"one": {"agent": {"discount": value["variant"]}}}
    if "sweep" in present:
        body["sweep"] = {"gamma": {"agent.discount": [value["sweep"]]}}
    sets = (f"agent.discount={value['set']}",) if "set" in present else ()
    profile = "smoke" if "profile" in present else "paper"
    return resolved(tmp_path, parent, body, profile=profile, sets=sets), value


@pytest.mark.parametrize("present", [p for n in range(1, 7) for p in itertools.combinations(LAYERS, n)], ids=" ".join)
def test_later_layers_win(tmp_path, present):
    if "set" in present and "sweep" in present:
        with pytest.raises(SpecErrors, match="the sweep over gamma sets agent.discount at every point"):
            composed(tmp_path, present)
        return
    found, value = composed(tmp_path, present)
    assert found.points[0].data["agent"]["discount"] == value[present[-1]]


def test_let_is_worked_out_last(tmp_path):
    body = {
        "let": {"p": 0.1, "q": "2 * p"},
        "agent": {"discount": "q"},
        "variants": {"plain": {}, "more": {"let": {"p": 0.3}}},
        "sweep": {"gamma": {"let.q": {"made": "2 * p", "given": 0.9}}},
    }
    found = resolved(tmp_path, body, sets=("let.p=0.2",))
    values = {tuple(point.where.values()): point.data["agent"]["discount"] for point in found.points}
    assert values == {
        ("plain", "made"): 0.4,
        ("plain", "given"): 0.9,
        ("more", "made"): 0.6,
        ("more", "given"): 0.9,
    }


@given(st.lists(st.sampled_from([0.1, 0.2, 0.3]), min_size=1, unique=True), st.integers(1, 3))
def test_axes_multiply_and_paths_inside_one_move_together(tmp_path_factory, gammas, count):
    axis = {"agent.discount": gammas, "goals.at.first": list(range(1, len(gammas) + 1))}
    other = {"extract.tie_break": {f"way{i}": ["vertex", "least_norm"][i % 2] for i in range(count)}}
    found = resolved(tmp_path_factory.mktemp("axes"), {"sweep": {"gamma": axis, "ways": other}})
    assert len(found.points) == len(gammas) * count
    for point in found.points:
        assert point.data["agent"]["discount"] == point.where["gamma"]
        assert point.data["goals"]["at"]["first"] == gammas.index(point.where["gamma"]) + 1


# --- profiles ----------------------------------------------------------------------------------------------------


def test_a_profile_adds_to_the_ancestors_profile_of_that_name(tmp_path):
    parent = {"profiles": {"smoke": {"seeds": 2, "agent": {"discount": 0.1}}}}
    child = {"profiles": {"smoke": {"agent": {"discount": 0.2}}}}
    found = resolved(tmp_path, parent, child, profile="smoke")
    assert found.seeds == (0, 1) and found.points[0].data["agent"]["discount"] == 0.2


def test_a_null_profile_forgets_the_ancestors(tmp_path):
    parent = {"profiles": {"smoke": {"seeds": 2}, "night": {"seeds": 3}}}
    found = resolved(tmp_path, parent, {"profiles": {"smoke": None}})
    assert found.document.profiles == ("night",)
    with pytest.raises(UsageError, match="there is no profile 'smoke'"):
        choose_profile(found.document, "smoke")


def test_an_ancestors_profile_does_not_bring_back_what_a_descendant_removed(tmp_path):
    """Nor does it lay its options on a mapping that is of another kind by now."""
    parent = {
        "claims": {"close": {"metric": "wm.tv", "at_most": 1}},
        "profiles": {"smoke": {"claims": {"close": {"at_most": 2}}, "extract": {"tie_break": "vertex"}, "seeds": 2}},
    }
    child = {"claims": {"close": None}, "extract": {"kind": "column_matching"}}
    found = resolved(tmp_path, parent, child, profile="smoke")
    assert found.data["claims"] == {} and found.points[0].data["extract"]["kind"] == "column_matching"
    assert found.seeds == (0, 1) and validate(found.document) == []


def test_a_descendants_own_profile_may_bring_it_back(tmp_path):
    parent = {"profiles": {"smoke": {"agent": {"temperature": 1}}}}
    child = {"agent": {"temperature": None}, "profiles": {"smoke": {"agent": {"temperature": 2}}}}
    assert resolved(tmp_path, parent, child, profile="smoke").points[0].data["agent"]["temperature"] == 2
    assert "temperature" not in resolved(tmp_path, parent, child).points[0].data["agent"]


def test_the_default_profile_is_the_nearest_files(tmp_path):
    profiles = {"profiles": {"smoke": {"seeds": 2}, "laptop": {"seeds": 3}}}
    document = write(tmp_path, a={**BASE, **profiles, "default_profile": "smoke"}, b={"name": "b"})
    assert choose_profile(document, None) == "smoke"
    document = write(tmp_path, a={**BASE, **profiles, "default_profile": "smoke"}, b={"default_profile": "laptop"})
    assert choose_profile(document, None) == "laptop" and choose_profile(document, "paper") == "full"


@pytest.mark.parametrize(
    ("claims", "name"),
    [
        ({}, "full"),
        ({"low": {"metric": "wm.tv", "at_most": 1, "source": "ours"}}, "full"),
        ({"low": {"metric": "wm.tv", "at_most": 1, "source": "Table 2"}}, "paper"),
        ({"low": {"metric": "wm.tv", "paper": 0.1}}, "paper"),
    ],
)
def test_the_body_is_called_paper_only_where_a_claim_cites_one(tmp_path, claims, name):
    own = {**BASE, "assumptions": {"agent.discount": "none is given"}, "claims": claims}
    document = write(tmp_path, a=own, b={"name": "b", "claims": {"low": {"at_most": 2}} if claims else {}})
    assert {choose_profile(document, asked) for asked in (None, "paper", "full")} == {name}
    assert resolve(document, "paper") is resolve(document, "full") and resolve(document, "paper").is_body
    forgotten = write(tmp_path, a=own, b={"name": "b", "claims": dict.fromkeys(claims)})
    assert forgotten.body_profile == "full"


def test_a_profile_of_ones_own_may_be_called_full(tmp_path):
    document = write(tmp_path, a={**BASE, "name": "a", "profiles": {"full": {"seeds": 9}}})
    assert choose_profile(document, "full") == "full" and resolve(document, "full").seeds == tuple(range(9))
    assert choose_profile(document, "paper") == choose_profile(document, None) == "body"


def test_a_child_inherits_neither_name_nor_title(tmp_path):
    document = write(tmp_path, a={**BASE, "name": "a", "title": "A"}, b={"agent": {"discount": 0.9}})
    found = resolve(document, "paper")
    assert found.is_fragment and found.title == ""


# --- where values come from --------------------------------------------------------------------------------------


def test_every_resolved_value_knows_where_it_was_written(tmp_path):
    body = {
        "agent": {"temperature": 1},
        "profiles": {"smoke": {"seeds": 2}},
        "variants": {"soft": {"agent": {"temperature": 3}}},
        "sweep": {"goals": {"goals.at.first": [2]}},
    }
    found = resolved(tmp_path, body, profile="smoke", sets=("agent.discount=0.25",))
    point = found.points[0]
    files = {name: (tmp_path / f"{name}.yaml").read_text().split("\n") for name in ("base", "layer0")}

    def line(section, *path):
        source = point.sections[section].at(path).source
        return source.text if source.line is not None else source.file

    assert line("mdp", "states") == next(text for text in files["base"] if '"states"' in text)
    assert line("agent", "discount") == "--set agent.discount=0.25"
    assert line("agent", "temperature").strip() == '"temperature": 3'
    assert line("goals", "at", "first").strip() == "2"
    assert point.sections["goals"].at(["terminate"]).source == DEFAULT
    assert found.sections["seeds"].source.text.strip() == '"seeds": 2'


@pytest.mark.parametrize(
    ("flag", "message"),
    [
        ("agent.discount=1", "must be below 1, not 1"),
        ("agent.discount=nothing", "unknown name 'nothing'"),
        ("agent.discout=1", "unknown key 'discout'"),
        ("goals.at=[s9]", "no state 's9'"),
        ("extract.kind=lpp", "unknown extraction 'lpp'"),
        ("agent=null", "missing key 'agent'"),
    ],
)
def test_a_mistake_that_a_flag_made_names_the_flag(tmp_path, flag, message):
    document = resolved(tmp_path, {}).document
    with pytest.raises(SpecErrors) as caught:
        checked(document, "paper", (flag,))
    assert [(error.source.file, error.message[: len(message)]) for error in caught.value.errors] == [
        (f"--set {flag}", message)
    ]


def test_a_value_laid_by_a_flag_is_typed_as_yaml(tmp_path):
    found = resolved(tmp_path, {}, sets=("seeds=[3, 5]", "agent.policy={kind: uniform, mix_uniform: 1/4}"))
    assert found.seeds == (3, 5) and found.points[0].data["agent"]["policy"]["mix_uniform"] == 0.25


def test_the_resolved_spec_is_shown_with_the_places_of_its_values(tmp_path, capsys, monkeypatch):
    resolved(tmp_path, {"profiles": {"smoke": {"agent": {"temperature": 2}}}})
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WMLAB_HOME", str(tmp_path / "home"))
    with pytest.raises(SystemExit):
        main(["plan", "layer0.yaml", "--resolved", "--profile", "smoke", "--set", "agent.discount=0.25"])
    shown = {
        line.split()[0]: line.split(maxsplit=2)[1:] for line in capsys.readouterr().out.splitlines() if line[0] == " "
    }
    assert shown["agent.discount"][1].startswith("--set agent.discount=0.25")
    assert shown["agent.temperature"][1].startswith("layer0.yaml:")
    assert shown["mdp.states"][1].startswith("base.yaml:")
    assert shown["goals.terminate"][1] == "default"


# --- a list of specs ---------------------------------------------------------------------------------------------


def written(folder, **files):
    for name, data in files.items():
        (folder / f"{name}.yaml").write_text(json.dumps({"wmlab": 1, **data}, indent=1), encoding="utf-8")
    return read(str(folder / "last.yaml"))


WORLD = {"mdp": BASE["mdp"], "goals": BASE["goals"], "evaluate": BASE["evaluate"]}
AGENT = {"agent": BASE["agent"], "extract": BASE["extract"]}


def test_a_base_world_and_a_base_agent_make_one_spec_and_each_value_knows_its_file(tmp_path, capsys):
    written(tmp_path, world=WORLD, agent=AGENT, last={"name": "last", "extends": ["world.yaml", "agent.yaml"]})
    with pytest.raises(SystemExit) as stop:
        main(["plan", str(tmp_path / "last.yaml"), "--resolved"])
    assert not stop.value.code
    shown = capsys.readouterr().out.splitlines()
    rows = {line.split()[0]: line for line in shown if line.startswith("  ")}
    for path, place in (
        ("mdp.states", "world.yaml:5:"),
        ("agent.discount", "agent.yaml:5:"),
        ("extract.kind", "agent.yaml:8:"),
    ):
        assert place in rows[path], rows[path]


@pytest.mark.parametrize(
    ("names", "message"), [([], "an empty list"), (["a.yaml", "a.yaml"], r"a.yaml stands in the list already")]
)
def test_a_list_names_a_spec_and_none_twice(tmp_path, names, message):
    with pytest.raises(SpecErrors, match=message):
        written(tmp_path, a=BASE, last={"name": "last", "extends": names})


def test_specs_of_a_list_are_laid_over_each_other_in_order_and_the_file_over_them(tmp_path):
    over = {"agent": {"discount": 0.7}, "let": {"a": 1}}
    last = {"name": "last", "extends": ["one.yaml", "two.yaml"], "let": {"b": 3}}
    document = written(tmp_path, base=BASE, one={"extends": "base.yaml", "let": {"a": 2, "b": 2}}, two=over, last=last)
    point = resolve(document, "paper").points[0]
    assert point.names == {"a": 1, "b": 3} and point.data["agent"]["discount"] == 0.7


def test_a_file_that_two_of_a_list_extend_counts_once(tmp_path):
    one, two = ({"extends": "base.yaml", **more} for more in ({"agent": {"discount": 0.1}}, {"seeds": 4}))
    last = {"name": "last", "extends": ["one.yaml", "two.yaml"]}
    document = written(tmp_path, base=BASE, one=one, two=two, last=last)
    assert [file.source.file.rpartition("/")[2] for file in document.files] == [
        *("base.yaml", "one.yaml", "two.yaml", "last.yaml")
    ]
    assert resolve(document, "paper").points[0].data["agent"]["discount"] == 0.1


def test_profiles_of_a_list_are_laid_over_each_other_too(tmp_path):
    world = {**WORLD, "profiles": {"smoke": {"mdp": {"states": 3}}}}
    agent = {**AGENT, "profiles": {"smoke": {"agent": {"discount": 0.2}}, "large": {}}}
    document = written(
        tmp_path, world=world, agent=agent, last={"name": "last", "extends": ["world.yaml", "agent.yaml"]}
    )
    assert document.profiles == ("smoke", "large")
    data = resolve(document, "smoke").points[0].data
    assert (data["mdp"]["states"], data["agent"]["discount"]) == (3, 0.2)


OTHER = {"agent": {"kind": "q_learning", "discount": 0.5}}


def test_two_kinds_of_one_thing_in_a_list_are_refused_unless_the_file_itself_decides(tmp_path):
    last = {"name": "last", "extends": ["agent.yaml", "other.yaml", "world.yaml"]}
    with pytest.raises(
        SpecErrors, match=r"extends\[1\]: .*other.yaml says agent.kind: q_learning, and .*agent.yaml says exact"
    ):
        written(tmp_path, world=WORLD, agent=AGENT, other=OTHER, last=last)
    decided = {**last, "agent": {"kind": "exact", "discount": 0.3}}
    document = written(tmp_path, world=WORLD, agent=AGENT, other=OTHER, last=decided)
    assert resolve(document, "paper").points[0].data["agent"]["kind"] == "exact"


def test_a_kind_that_one_of_a_list_changes_of_what_both_inherit_is_no_conflict(tmp_path):
    changed = {"extends": "base.yaml", **OTHER}
    plain = {"extends": "base.yaml", "seeds": 2}
    for order in (["changed.yaml", "plain.yaml"], ["plain.yaml", "changed.yaml"]):
        document = written(tmp_path, base=BASE, changed=changed, plain=plain, last={"name": "last", "extends": order})
        assert resolve(document, "paper").body.at(["agent", "kind"]).value == "q_learning"


@pytest.mark.parametrize("files", [FILES, FILES + 1])
def test_a_chain_is_as_long_as_the_limit_says(tmp_path, files):
    last = files - 2
    chain = {f"f{number}": {"extends": f"f{number + 1}.yaml"} for number in range(last)}
    chain |= {f"f{last}": BASE, "last": {"name": "last", "extends": ["f0.yaml"]}}
    if files > FILES:
        with pytest.raises(SpecErrors, match="no more are read"):
            written(tmp_path, **chain)
    else:
        assert len(written(tmp_path, **chain).files) == files


def test_factors_of_a_bound_keep_their_names_until_a_point_is_known(tmp_path):
    bound = {"times": "2 * epsilon", "plus": "epsilon"}
    layer = {"let": {"epsilon": 0.5}, "claims": {"close": {"metric": "wm.tv", "at_most": bound}}}
    asked = resolved(tmp_path, layer).claims["close"].at_most
    assert (asked.times, asked.plus) == ("2 * epsilon", "epsilon")
