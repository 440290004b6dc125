"""Claims on parts of metrics: of a variable, an action or a goal."""

from __future__ import annotations

import pytest

from tests.results.judging import judge
from wmlab.results.collect import collect

SPLIT = collect(
    [{}],
    [0, 1],
    [
        [
            {
                "wm.nmse": {"value": 0.3, "by": {"dimension": {"x": x, "v": 0.5}}},
                "wm.identity_nmse": {"value": 0.9, "by": {"dimension": {"x": 0.2, "v": 1.0}}},
            }
            for x in (0.1, 0.3)
        ]
    ],
)


@pytest.mark.parametrize(
    ("claim", "holds"),
    [
        ({"by": {"dimension": "x"}, "at_most": 0.25}, True),
        ({"by": {"dimension": "v"}, "at_most": 0.25}, False),
        ({"by": {"dimension": ["x", "v"]}, "at_most": 0.25}, False),
        ({"by": {"dimension": "all"}, "at_most": 0.5}, True),
        ({"by": {"dimension": "x"}, "statistic": "each_seed", "at_most": 0.25}, False),
        ({"by": {"dimension": "all"}, "at_most": {"metric": "wm.identity_nmse"}}, True),  # each against its own part
        ({"by": {"dimension": "x"}, "at_most": {"metric": "wm.identity_nmse", "times": 0.9}}, False),
        ({"by": {"dimension": "v"}, "at_most": {"metric": "wm.identity_nmse", "times": 0.9}}, True),
        ({"by": {"dimension": "v"}, "at_most": {"by": {}}}, False),  # against the whole
        ({"at_least": {"by": {"dimension": "x"}}}, True),
        ({"by": {"dimension": "y"}, "at_most": 1}, False),
        ({"by": {"goal": "all"}, "at_most": 1}, False),
    ],
)
def test_a_claim_may_speak_of_a_part_of_a_metric(claim, holds):
    found = judge({"metric": "wm.nmse", **claim}, SPLIT, [{}])
    assert found["holds"] is holds and found.get("by") == claim.get("by")


def test_a_part_that_was_not_measured_is_said_to_be_missing():
    found = judge({"metric": "wm.nmse", "by": {"dimension": "y"}, "at_most": 1}, SPLIT, [{}])
    assert found["reason"] == "no value of wm.nmse of dimension y"
    (case,) = judge({"metric": "wm.nmse", "by": {"dimension": "x"}, "at_most": 1}, SPLIT, [{}])["cases"]
    assert case["by"] == {"dimension": "x"} and case["measured"] == pytest.approx(0.2)
