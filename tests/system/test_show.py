"""Numbers without a browser: what `wmlab show` prints, and how a run without claims ends."""

from __future__ import annotations

import csv
import gc
import io
import json
import re

import pytest

from tests.system.lab import QUICKSTART, SMALL, Said
from wmlab.cli import main


@pytest.fixture(scope="module")
def without_claims(small, tmp_path_factory):
    """The same study with no claims, in a copy of the folder in which it was run."""
    lab = small.lab.copy(tmp_path_factory.mktemp("show"))
    path = lab.folder / "plain.yaml"
    path.write_text(SMALL.read_text().partition("claims:")[0].replace("name: small", "name: plain"))
    return lab, lab.wmlab("run", path)


@pytest.fixture
def show(small, capsys, monkeypatch):
    """`wmlab show` in the folder where the small study was run, in this process: a new one takes a second to start."""

    def shown(*arguments, code=0, lab=small.lab):
        monkeypatch.chdir(lab.folder)
        monkeypatch.setenv("WMLAB_HOME", str(lab.root))
        with pytest.raises(SystemExit) as end:
            main(["show", *map(str, arguments)])
        gc.enable()  # short-lived commands switch it off
        out, err = capsys.readouterr()
        assert end.value.code == code, err
        return Said(out, err)

    return shown


def test_a_run_without_claims_ends_with_the_metrics_that_say_most(without_claims):
    _, said = without_claims
    lines = said.out.splitlines()
    head = lines.index(next(line for line in lines if line.startswith("metric ")))
    assert lines[head].split() == ["metric", "goals=1", "goals=8"]
    more = lines.index("14 more metrics: see `wmlab show`")
    names = [line.split()[0] for line in lines[head + 1 : more]]
    assert names[:5] == ["agent.return", "wm.mse", "wm.tv", "fit.residual", "fit.explained"]
    assert all(name.startswith("unseen.corner.") for name in names[5:])
    assert lines[-1].startswith("report: ")


def test_a_run_with_claims_ends_with_its_claims_alone(small):
    assert "wm.mse" not in small.said.out and "Claims hold: 2 of 2." in small.said.out


def test_a_spec_is_shown_from_the_store_without_jax_and_without_a_report(small, tmp_path):
    lab = small.lab.copy(tmp_path)
    for page in lab.folder.glob("reports/**/results.json"):
        page.unlink()
    said = lab.wmlab("show", SMALL, python=("-X", "importtime"))
    modules = {line.rpartition("|")[2].strip() for line in said.err.splitlines()}
    assert modules.isdisjoint({"jax", "matplotlib", "pandas"}) and "numpy" in modules
    rows = {line.split()[0]: line for line in said.out.splitlines()}
    error = rows["wm.mse"].replace("\u00a0", " ")
    assert re.fullmatch(r"wm\.mse +0\.00844 ± 0\.00039 +\(\S+ ± \S+\) × 10⁻³[²³]", error)
    assert "wm.l1_max" not in rows and "13 more metrics; --all shows them, or name some: 'unseen.*'" in said.err


def test_all_and_patterns_show_the_rest(show):
    every = show(SMALL, "--all").out
    assert "wm.l1_max" in every and "ident.sigma_min" in every
    unseen = show(SMALL, "unseen.corner.*").out.splitlines()
    assert [line.split()[0] for line in unseen[1:]] == [
        f"unseen.corner.{name}" for name in ("r_believed", "r_star", "r_wm", "ratio")
    ]


def test_any_axis_stands_across(show):
    table = show(SMALL, "wm.mse", "--by", "seed").out.splitlines()
    assert table[0].split() == ["metric", "goals", "seed=0", "seed=1"] and len(table) == 3
    assert show(SMALL, "wm.*", "--by", "metric").out.split()[:2] == ["goals", "wm.l1_max"]
    said = show(SMALL, "--by", "gaols", code=2)
    assert said.err == "wmlab: --by gaols: there is no such axis; did you mean 'goals'?\n"


def test_a_folder_and_a_results_file_show_what_the_spec_does(show):
    table = show(SMALL, "wm.*").out
    for target in ("reports/small", "reports/small/full", "reports/small/full/results.json"):
        assert show(target, "wm.*").out == table


def test_a_run_is_shown_by_the_beginning_of_its_id(small, show):
    log = min((small.lab.root / "runs").glob("*.jsonl"))  # other tests may have run it again
    id = log.stem.rpartition("-")[2]
    for beginning in (id, id[:4]):
        assert show(beginning, "wm.*").out == show(SMALL, "wm.*").out


def test_tools_get_every_digit(small, show):
    stored = small.lab.results("small")["metrics"]["goals=1/wm.mse"]
    data = json.loads(show(SMALL, "wm.mse", "--format", "json").out)
    assert data["metrics"][0] == {key: stored[key] for key in data["metrics"][0]} and data["spec"] == "small"
    head, row = csv.reader(io.StringIO(show(SMALL, "wm.mse", "--format", "csv").out))
    assert dict(zip(head, row, strict=True))["goals=1"] == repr(stored["mean"])
    latex = show(SMALL, "wm.mse", "--format", "latex").out
    assert "wm.mse & $0.00844 \\pm 0.00039$ & $" in latex and latex.endswith("\\end{tabular}\n")
    assert "| wm.mse | 0.00844 ± 0.00039 |" in show(SMALL, "wm.mse", "--format", "markdown").out


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ((SMALL, "wm.mes"), 2, "there is no metric 'wm.mes' here; did you mean 'wm.mse'?"),
        ((QUICKSTART,), 1, "quickstart (paper) has not been run: there is nothing to show yet"),
        (
            ("reports/small", "--seeds", "1"),
            2,
            "reports/small: results are as they are; --profile, --set and --seeds are",
        ),
        (("reports",), 2, "reports is no folder of a report: there is no results.json in it; name a spec or a report"),
        (("broken.json",), 1, "broken.json is no results.json of an experiment"),
        (("odd.json",), 1, "odd.json is no results.json of an experiment"),
        (("nobody",), 2, "there is no run 'nobody' in the cache"),
        (("nobody.yam",), 2, "nobody.yam: no such file"),
    ],
)
def test_what_cannot_be_shown_is_refused_in_words(without_claims, show, arguments, code, message):
    lab, _ = without_claims
    (lab.folder / "broken.json").write_text('{"metrics": [')
    (lab.folder / "odd.json").write_text('{"metrics": {"wm.mse": {"metric": "wm.mse", "mean": "high"}}}')
    said = show(*arguments, code=code, lab=lab)
    assert message in said.err and "Traceback" not in said.err and said.out == ""


def test_what_was_changed_since_is_said(without_claims, show):
    lab, _ = without_claims
    said = show(lab.folder / "plain.yaml", "--set", "agent.discount=0.8", code=1, lab=lab)
    assert "has not been run as it is now" in said.err
