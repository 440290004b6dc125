"""Points and checkpoints in a page: stored numbers to six digits, as many metrics as there is room for."""

from __future__ import annotations

import json
import math

import pytest

from tests.browser.pages import EVIL, sweep
from wmlab.report import sweep as module
from wmlab.report.data import ReportData
from wmlab.report.render import render
from wmlab.report.sweep import short_numbers, sweep_context, sweep_data


def test_every_point_has_its_numbers_by_the_places_of_its_labels():
    results = sweep()
    data = sweep_data(results)
    assert [axis["name"] for axis in data["axes"]] == ["depth", "width", EVIL]
    (tv,) = [metric for metric in data["metrics"] if metric["name"] == "wm.tv"]
    assert len(tv["at"]) == 11
    for entry in tv["at"]:
        found = results["metrics"][f"{tuple(entry['where'])}/wm.tv"]
        assert entry["mean"] == pytest.approx(found["mean"], rel=1e-5)
        assert entry["curve"]["mean"] == pytest.approx(found["curve"]["mean"], rel=1e-5)
        assert entry["steps"] == results["steps"] and entry["n"] == 2
    assert data["holes"] == [{"where": [1, 2, 0], "why": "not run"}]


def test_one_point_without_checkpoints_has_nothing_to_choose():
    entry = {"metric": "wm.tv", "where": {}, "values": [1.0], "mean": 1.0, "n": 1}
    results = {"spec": "s", "profile": "p", "seeds": [0], "metrics": {"wm.tv": entry}, "claims": []}
    assert sweep_context(results) == {"sweep": None}
    assert b"<script" not in render(ReportData(results))["index.html"]


def test_what_the_spec_draws_and_claims_is_kept_first_where_room_is_short(monkeypatch):
    results = sweep() | {"report": {"heatmaps": {"metrics": [EVIL]}}}
    assert [metric["name"] for metric in sweep_data(results)["metrics"]] == [EVIL, "wm.tv"]
    one = len(json.dumps(sweep_data(results)["metrics"][0]))
    monkeypatch.setattr(module, "SWEEP_BYTES", one + 10)
    assert [metric["name"] for metric in sweep_data(results)["metrics"]] == [EVIL]
    assert sweep_context(results)["sweep"]["left_out"] == "1 metric"


def test_numbers_are_short_and_what_is_none_is_none():
    told = short_numbers({"a": [1.23456789, None, math.nan, math.inf], "n": 123456789})
    assert told == {"a": [1.23457, None, None, None], "n": 123456789}
