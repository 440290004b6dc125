"""The Python interface: specs from text and mappings, short forms for notebooks, and nothing taken for another."""

from __future__ import annotations

import builtins
import importlib.metadata
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml

import wmlab
from wmlab.errors import SpecErrors, UsageError

SMALL = Path(__file__).parents[1] / "system" / "small.yaml"
EXAMPLES = Path(__file__).parents[2] / "specs" / "examples"
CURVES = """\
wmlab: 1
name: learning
mdp: {kind: gridworld, map: "#####\\n#...#\\n#####", actions: [right, left], reset: uniform, horizon: 10}
goals: {reward: {kind: indicator}, at: {first: 2, of: states}, terminate: on_arrival}
agent: {kind: q_learning, discount: 0.8, policy: uniform, steps: 3_000, envs: 4, explore: 1.0, checkpoints: 3}
extract: {kind: lp, when: checkpoints}
evaluate: {model_error: {states: all}}
seeds: [3, 5]
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with a cache, in which the studies here are run."""
    folder = tmp_path_factory.mktemp("python")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WMLAB_HOME", str(folder / ".wmlab"))
        patch.chdir(folder)
        yield folder


@pytest.fixture(scope="module")
def found(home) -> wmlab.RunResults:
    return wmlab.load(SMALL).run(jobs=0, progress=False)


@pytest.fixture(autouse=True)
def in_that_folder(home):
    yield


def test_the_version_is_the_packages():
    assert wmlab.__version__ == importlib.metadata.version("wmlab")
    with pytest.raises(AttributeError, match="no attribute 'versoin'"):
        _ = wmlab.versoin


# --- loading -------------------------------------------------------------------------------------------------------


def test_a_file_its_text_and_its_mapping_are_the_same_study():
    keys = [wmlab.load(spec).study.keys for spec in (SMALL, SMALL.read_text(), yaml.safe_load(SMALL.read_text()))]
    assert keys[0] == keys[1] == keys[2]


def test_text_in_braces_is_a_spec_unless_it_is_a_file(home):
    assert repr(wmlab.load("{wmlab: 1, name: one, extends: small.yaml}" if copied(home) else ""))
    (home / "{odd}.yaml").write_text(SMALL.read_text())
    assert wmlab.load("{odd}.yaml").study.name == "small"


def copied(home: Path) -> Path:
    return Path(shutil.copy(SMALL, home / "small.yaml"))


def test_paths_in_text_count_from_the_current_folder(home):
    copied(home)
    assert wmlab.load("wmlab: 1\nname: child\nextends: small.yaml\n").study.resolved.title == ""
    with pytest.raises(SpecErrors) as mistakes:
        wmlab.load({"wmlab": 1, "name": "child", "extends": "smal.yaml"})
    (mistake,) = mistakes.value.errors
    assert str(mistake) == "<mapping>:4:14: extends: there is no file smal.yaml"
    assert mistake.hint == "did you mean 'small.yaml'?"


def test_numbers_and_arrays_of_numpy_may_stand_in_a_mapping():
    spec = yaml.safe_load(SMALL.read_text())
    spec["agent"]["discount"] = np.float64(0.5)
    spec["sweep"]["goals"]["goals.at.first"] = np.array([1, 8])
    data = wmlab.load(spec).data
    assert [point["agent"]["discount"] for point in data] == [0.5, 0.5]
    assert [point["where"] for point in data] == [{"goals": 1}, {"goals": 8}]


def test_a_mistake_is_shown_at_its_line_of_text_and_of_a_mapping():
    text = SMALL.read_text().replace("discount: 0.9", "discount: 2")
    places = {"<text>": text, "<mapping>": yaml.safe_load(text)}
    for name, spec in places.items():
        with pytest.raises(SpecErrors) as mistakes:
            wmlab.load(spec)
        (mistake,) = mistakes.value.errors
        assert mistake.source.file == name and str(mistake).endswith("agent.discount: must be below 1, not 2")
        assert "discount" in mistake.excerpt()


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (3, "a spec is the path of a file, YAML text or a mapping, not a value of type int"),
        ({"name": {1}}, "this mapping cannot be a spec: a value of type set has no form in YAML"),
        ({"name": float("nan")}, "this mapping cannot be a spec: it holds nan, an infinity, or itself"),
    ],
)
def test_what_is_no_spec_is_refused_in_words(spec, message):
    with pytest.raises(UsageError) as refusal:
        wmlab.load(spec)
    assert str(refusal.value) == message


# --- short forms ---------------------------------------------------------------------------------------------------


def test_reprs_are_one_short_line(found):
    assert repr(wmlab.load(SMALL)) == "<wmlab experiment small (full): 2 points, 2 seeds, 22 stages>"
    assert repr(found) == f"<wmlab results of small (full): Claims hold: 2 of 2. {found.report}>"


def test_a_notebook_shows_claims_metrics_and_figures(found):
    page = found._repr_html_()
    assert page.startswith("<h4>A corridor with a corner</h4><p>Claims hold: 2 of 2.</p>")
    assert "<td>all_goals</td>" in page and "<td>wm.mse</td>" in page
    assert len(found.figures) == 5 and page.count("<img ") == 4 and f"1 more figure: {list(found.figures)[4]}" in page


def test_nothing_from_a_spec_is_markup_in_a_notebook(home):
    title = "<script>alert(1)</script>"
    spec = yaml.safe_load(SMALL.read_text()) | {"title": title, "name": "hostile", "seeds": 1}
    spec["sweep"] = {"kind": {"goals.at.first": {"<img onerror>": 1}}}
    spec["claims"] = {"a": {"metric": "wm.tv", "where": {"kind": "<img onerror>"}, "at_most": 1}}
    page = wmlab.load(spec).run(jobs=0, progress=False)._repr_html_()
    assert title not in page and "&lt;script&gt;" in page
    assert "<img onerror" not in page and "&lt;img onerror" in page


# --- numbers and figures -------------------------------------------------------------------------------------------


def test_a_frame_has_a_row_for_each_metric_point_and_seed(found):
    frame = found.frame("wm.*")
    assert list(frame.columns) == ["metric", "goals", "seed", "value"]
    assert len(frame) == 3 * 2 * 2 and len(found.frame()) > len(frame)
    stored = found.metrics["goals=8/wm.tv"]["values"]
    assert frame.query("metric == 'wm.tv' and goals == 8").value.tolist() == stored
    means = frame.groupby(["metric", "goals"]).value.mean()
    assert means["wm.mse", 1] == pytest.approx(found.metrics["goals=1/wm.mse"]["mean"])


def test_a_frame_of_an_unknown_metric_is_refused(found):
    with pytest.raises(LookupError, match="there is no metric 'wm.mes' here; did you mean 'wm.mse'?"):
        found.frame("wm.mes")


def test_without_pandas_a_frame_says_what_to_install(found, monkeypatch):
    real = builtins.__import__

    def missing(name, *more):
        if name == "pandas":
            raise ImportError(name)
        return real(name, *more)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(ImportError) as refusal:
        found.frame()
    assert str(refusal.value) == "frame() needs pandas: pip install 'wmlab[pandas]'"


def test_figures_are_those_of_the_report_and_can_be_drawn(found):
    figure = found.figure("map-corner")
    assert figure._repr_svg_().endswith("</svg>\n") and "<svg" in figure.svg
    assert figure._repr_html_().startswith('<img alt="map-corner" src="data:image/svg+xml;base64,')
    assert figure.pdf.read_bytes().startswith(b"%PDF")
    with pytest.raises(LookupError, match="there is no figure 'map-cornr'; did you mean 'map-corner'?"):
        found.figure("map-cornr")


def test_curves_are_arrays_over_checkpoints(home):
    found = wmlab.load(CURVES).run(jobs=0, progress=False)
    curve = found.curves["wm.mse"]
    assert curve.steps.tolist() == found.results["steps"] and curve.mean.shape == curve.steps.shape == (3,)
    np.testing.assert_allclose(curve.values.mean(axis=0), curve.mean)
    assert curve.values[:, -1].tolist() == found.metrics["wm.mse"]["values"]


# --- arrays --------------------------------------------------------------------------------------------------------


def test_arrays_that_several_points_have_are_not_taken_from_the_first(found):
    with pytest.raises(LookupError) as refusal:
        found.arrays("extract")
    assert str(refusal.value) == (
        "'extract' is there 4 times: goals=1,seed=0; goals=1,seed=1; goals=8,seed=0; goals=8,seed=1. Say which, as in "
        "arrays('extract', goals=1, seed=0), or take them all with all_arrays('extract')"
    )
    with pytest.raises(LookupError, match="'extract' is there 2 times: goals=8,seed=0; goals=8,seed=1"):
        found.arrays("extract", goals=8)


def test_a_stage_that_several_points_share_is_one(found):
    assert found.arrays("oracle corner").keys() == found.arrays("oracle corner", goals=8, seed=1).keys()


def test_all_arrays_come_with_their_points_and_seeds(found):
    every = list(found.all_arrays("extract"))
    assert [(one.where, one.seed) for one in every] == [({"goals": g}, s) for g in (1, 8) for s in (0, 1)]
    last = found.arrays("extract", goals="8", seed=1)
    for name, array in every[-1].arrays.items():
        np.testing.assert_array_equal(array, last[name])
    assert [one.seed for one in found.all_arrays("extract", seed=1)] == [1, 1]


@pytest.mark.parametrize(
    ("role", "where", "message"),
    [
        ("extrct", {}, "there is no stage 'extrct'; did you mean 'extract'?"),
        ("extract", {"goals": 3}, "'extract' is not there at goals=3; it is at goals=1,seed=0; goals=1,seed=1; .*"),
        ("extract", {"depth": 1, "seed": 9}, "'extract' is not there at depth=1,seed=9; it is at goals=1,seed=0; .*"),
    ],
)
def test_arrays_that_are_not_there_are_refused_with_those_that_are(found, role, where, message):
    with pytest.raises(LookupError, match=message):
        found.arrays(role, **where)


# --- suites --------------------------------------------------------------------------------------------------------


def test_the_specs_of_a_suite_are_an_axis(found, home):
    copied(home)
    (home / "other.yaml").write_text(
        "wmlab: 1\nname: other\nextends: small.yaml\nseeds: [1]\nclaims: {all_goals: null}\n"
    )
    suite = wmlab.load({"wmlab": 1, "name": "both", "suite": ["small.yaml", "other.yaml"]}).run(jobs=0, progress=False)
    frame = suite.frame("wm.tv")
    assert list(frame.columns) == ["metric", "spec", "goals", "seed", "value"]
    assert frame.query("spec == 'other'").seed.tolist() == [1, 1]  # its own seeds
    assert suite.metrics["goals=8,spec=other/wm.tv"]["values"] == found.metrics["goals=8/wm.tv"]["values"][1:]
    assert suite.arrays("extract", spec="other", goals=8).keys() == found.arrays("extract", goals=8, seed=1).keys()
    assert "small" in suite._repr_html_()


def test_nothing_heavy_comes_with_the_package():
    code = "import sys, wmlab; print({'jax', 'pandas', 'matplotlib', 'numpy'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "set()\n"
