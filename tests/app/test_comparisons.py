"""What a page can be compared with: other stored results, only what differs, and nothing of files that are none."""

from __future__ import annotations

import json
import os

import pytest

from wmlab.app.comparisons import comparisons
from wmlab.runtime.store import Store


def results(spec="maze", profile="smoke", value=0.5, mark="a", **more):
    values = [value, value + 0.01]
    metric = {"metric": "wm.tv", "where": {}, "values": values, "mean": value + 0.005, "se_over_seeds": 0.005, "n": 2}
    claim = {"id": "near", "holds": value < 1}
    told = {"page_sha256": mark, "run": "abcdefg", "started": "2026-02-03T10:00:00+00:00"}
    named = {"spec": spec, "profile": profile, "seeds": [0, 1], "sets": []}
    return {**named, "metrics": {"wm.tv": metric}, "claims": [claim], "provenance": told, **more}


def write(folder, found, settings=()):
    folder.mkdir(parents=True)
    (folder / "results.json").write_text(json.dumps(found))
    rows = [{"path": path, "value": value, "source": source} for path, value, source in settings]
    (folder / "settings.json").write_text(json.dumps(rows))


@pytest.fixture
def place(tmp_path):
    """A folder of reports and a cache with one earlier run."""
    store = Store(tmp_path / ".wmlab")
    kept = store.root / "runs" / "bbbbbbb" / "maze" / "smoke"
    write(kept, results(value=2.0, mark="b"), [("agent.discount", 0.5, "maze.yaml:4")])
    (store.root / "runs" / "20260203-100000-000000-1-bbbbbbb.jsonl").write_text("")
    return tmp_path / "reports" / "maze" / "smoke", store


def compare(place, found=None):
    folder, store = place
    return comparisons(found or results(), {"agent.discount": (0.9, "maze.yaml:6")}, folder, store)


def test_an_earlier_run_differs_in_a_value_a_metric_and_a_claim(place):
    (other,) = compare(place)
    assert other.sort == "an earlier run" and other.title == "maze (smoke), run abcdefg, 3 February 2026, 10:00 UTC"
    (value,) = other.values
    assert (value.path, value.values, value.sources) == ("agent.discount", (0.9, 0.5), ("maze.yaml:6", "maze.yaml:4"))
    (metric,) = other.metrics
    (interval,) = metric.intervals
    assert metric.name == "wm.tv" and metric.within == (False,) and interval[0] < 1.5 < interval[1]
    assert [(claim.id, claim.verdicts) for claim in other.claims] == [("near", ("holds", "fails"))]


def test_what_shows_the_same_is_not_offered(place):
    assert compare(place, results(mark="b")) == []


def test_other_profiles_and_other_specs_follow_the_latest_first_and_not_without_end(place):
    reports = place[0].parents[1]
    write(reports / "maze" / "paper", results(profile="paper", mark="c"))
    for day in range(6):
        folder = reports / f"other{day}" / "smoke"
        write(folder, results(spec=f"other{day}", mark=f"d{day}"))
        os.utime(folder / "results.json", (day, day))
    found = compare(place)
    assert [other.sort for other in found] == ["an earlier run", "another profile", *["another spec"] * 3]
    assert [other.title.split()[0] for other in found[2:]] == ["other5", "other4", "other3"]


@pytest.mark.parametrize(
    "content", ["", "[]", "{", '{"metrics": []}', '{"metrics": {"a": 3}}', '{"metrics": {}, "claims": 7}']
)
def test_files_that_are_no_results_are_passed_over(place, content):
    folder = place[0].parents[1] / "broken" / "smoke"
    folder.mkdir(parents=True)
    (folder / "results.json").write_text(content)
    assert [other.sort for other in compare(place)] == ["an earlier run"]


def test_the_page_itself_is_not_offered(place):
    write(place[0], results(value=0.7, mark="z"))
    assert [other.sort for other in compare(place)] == ["an earlier run"]
