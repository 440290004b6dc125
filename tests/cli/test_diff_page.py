"""The page of a difference: what differs on it, with origins, uncertainty, flipped claims and figures; text is text."""

from __future__ import annotations

import html
import json
import re

import numpy as np
import pytest
from scipy import stats

from tests.report.test_render import EVIL, Page
from wmlab.app.difference import claim_rows, metric_rows
from wmlab.report.diff import DiffPage, FigureRow, render_difference
from wmlab.report.differences import ClaimDifference, MetricDifference, ValueDifference
from wmlab.results.statistics import interval_of_difference


def compare(terminal, *words):
    place = terminal("diff", *words, "--html").strip()
    return Page((terminal.folder / place).read_text())


def test_the_interval_of_a_difference_is_scipy_s():
    one, other = [0.1, 0.4, 0.2, 0.9], [0.5, 0.8, 0.6]
    theirs = stats.ttest_ind(other, one, equal_var=False).confidence_interval(0.95)
    assert np.allclose(interval_of_difference([*one, None], other), [theirs.low, theirs.high], rtol=1e-12)
    assert interval_of_difference([1.0], other) is None and interval_of_difference([], []) is None
    assert interval_of_difference([1.0, 1.0], [3.0, 3.0]) == (2.0, 2.0)


def test_a_difference_is_within_chance_where_its_interval_holds_nothing():
    one = {"a": {"mean": 1.0, "values": [0.0, 2.0]}, "b": {"mean": 1.0, "values": [1.0, 1.0]}, "c": {"mean": 1.0}}
    other = {"a": {"mean": 2.0, "values": [1.0, 3.0]}, "b": {"mean": 2.0, "values": [2.0, 2.0]}, "c": {"mean": 3.0}}
    rows, same = metric_rows([one, other])
    assert same == 0 and [row.within for row in rows] == [(True,), (False,), (None,)]
    claims = [{"id": name, "holds": holds} for name, holds in (("kept", True), ("lost", True), ("gone", None))]
    flipped = claim_rows([{"claims": claims}, {"claims": [claims[0], {"id": "lost", "holds": False}]}])
    assert [(row.id, row.verdicts) for row in flipped] == [("lost", ("holds", "fails")), ("gone", ("shown", None))]


def test_two_specs_differ_in_a_value_with_its_origin_in_metrics_and_in_a_claim(terminal):
    change = ("--set", "agent.discount=0.5", "--set", "claims.near.at_most=-1")
    terminal.run("tiny.yaml")
    terminal.run("tiny.yaml", *change)
    page = compare(terminal, "tiny.yaml", *change)
    text = " ".join(page.text.split())
    assert re.search(r"near ?✓ holds ?✗ fails", text) and page.open == [] and "script" not in page.tags
    assert re.search(r"agent\.discount 0\.9tiny\.yaml:6:32 ?0\.5--set agent\.discount=0\.5", text)


def test_runs_are_compared_with_what_their_specs_said_and_where(terminal, monkeypatch):
    from wmlab.app import page_makers
    from wmlab.report.data import SETTINGS

    plain = page_makers.draw_page

    def drawn(data, draw):
        rows = [{"path": row.path, "value": row.value, "source": row.source} for row in data.resolved]
        figure = b"<svg>" + json.dumps([row["value"] for row in rows], default=str).encode() + b"</svg>"
        return {**plain(data, draw), SETTINGS: json.dumps(rows).encode(), "figures/map-a.svg": figure}

    monkeypatch.setattr(page_makers, "draw_page", drawn)
    first, second = terminal.run("tiny.yaml"), terminal.run("tiny.yaml", "--set", "agent.discount=0.5")
    page = compare(terminal, first, second)
    text = " ".join(page.text.split())
    assert re.search(r"agent\.discount 0\.9tiny\.yaml:6:32 ?0\.5--set agent\.discount=0\.5", text)
    assert page.tags.count("img") == 2 and "Different: 1 value." in text and "3 metrics the same" in text
    assert "spec_sha256" not in text and "sets" not in text  # they are of the run: what came of them is told
    said = terminal("diff", first, second)
    assert "spec_sha256" in terminal("diff", first, second, "--exact")
    assert re.search(r"agent\.discount +0\.9 \(tiny\.yaml:6:32\) +→ 0\.5 \(--set agent\.discount=0\.5\)", said)
    assert "No difference." in compare(terminal, first, first).text


def test_only_what_differs_is_on_the_page_and_all_of_it_is_text_however_many_sides_there_are():
    evil = f'<svg onload="alert(1)">{EVIL}</svg>'.encode()
    page = render_difference(
        DiffPage(
            (EVIL, EVIL, "third"),
            values=(ValueDifference(EVIL, (EVIL, None, EVIL), (EVIL, None, EVIL)),),
            metrics=(
                MetricDifference(EVIL, (1.0, 2.0, 1.0), ((0.5, 1.5), (0.0, 0.0))),
                MetricDifference("wm.tv", (1.0, 1.5, None), ((-1, 2), None)),
            ),
            same_metrics=3,
            claims=(
                ClaimDifference(EVIL, ("holds", "fails", "holds")),
                ClaimDifference("new", (None, "shown", None)),
            ),
            figures=(FigureRow(EVIL, (evil, None, evil)),),
            same_figures=1,
        )
    ).decode()
    read = Page(page)
    assert read.open == [] and "script" not in read.tags and EVIL not in page and html.escape(EVIL) in page
    assert "3 metrics the same" in read.text and "1 figure the same" in read.text and "not made" in read.text
    assert "1 metric beyond what chance over seeds explains." in read.text and "within chance" in read.text
    assert "onload" not in page and page.count("data:image/svg+xml;base64,") == 2
    assert "C: third" in read.text and "as A" in read.text and page.count('<th scope="col">C</th>') == 2


@pytest.mark.parametrize(
    ("words", "reason"),
    [(("--open",), "--open is for pages"), (("--html", "--format", "json"), "--format is for the screen")],
)
def test_what_does_not_go_together_is_refused(terminal, words, reason):
    terminal("diff", "tiny.yaml", "--profile", "smoke", "--profile", "full", *words, code=2)
    assert reason in terminal.err
