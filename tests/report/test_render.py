"""The page: whole, the same for the same results, safe with any text, and honest about what is missing."""

from __future__ import annotations

import dataclasses
import json
import math
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.report import sample
from wmlab.cli.run import claims_text
from wmlab.report.data import GridMap, KindEdge, PlanRows, ReportData, ResolvedRow, StageRow, SuiteRow
from wmlab.report.render import json_text, render, render_suite
from wmlab.report.scripts import FOLDER, script

EVIL = "<script>alert(1)</script>"
VOID = {"meta", "br", "hr", "img", "link", "input"}


class Page(HTMLParser):
    """A page as a browser reads it: its text, its tags, its ids and links."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text, self.attributes, self.tags = "", "", list[str]()
        self.ids, self.links, self.open = list[str](), list[str](), list[str]()
        self.scripts = list[str]()  # what stands in them
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            self.attributes += f" {value}"
            if name == "id":
                self.ids.append(str(value))
            if name in ("href", "xlink:href", "src"):
                self.links.append(str(value))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            self.scripts.append(data)
        else:
            self.text += data

    @property
    def runs_ours_alone(self) -> bool:
        """Whether each script is one of ours, letter by letter, or data."""
        ours = {str(script(file.stem).text) for file in FOLDER.glob("*.js")}
        data = [text for text in self.scripts if text not in ours]
        assert all(json.loads(text) for text in data)
        return self.tags.count("script") == len(self.scripts) and len(data) <= 3


def page_of(document: ReportData) -> Page:
    return Page(html_of(render(document)))


def html_of(files: dict[str, bytes]) -> str:
    return files["index.html"].decode()


def figures_of(files: dict[str, bytes]) -> set[str]:
    return {name.removeprefix("figures/") for name in files if name.endswith((".svg", ".pdf"))}


def bare(**results: Any) -> ReportData:
    return ReportData({"spec": "a", "profile": "p", "seeds": [0], "metrics": {}, "claims": [], **results})


@pytest.fixture(scope="module")
def rendered() -> dict[str, bytes]:
    return render(sample.document())


def test_a_report_is_one_page_with_figures_and_results_beside_it(rendered: dict[str, bytes]) -> None:
    page = Page(html_of(rendered))
    assert page.open == []
    assert "Claims hold: 5 of 5." in page.text and "give away where the teleports lead?" in page.text
    names = figures_of(rendered)
    assert {"curve-wm.mse.svg", "bars-one_unsafe.pdf", "map-teleport_unsafe.svg"} <= names and len(names) == 18
    assert {"figure-wm.mse.svg", "figure-wm.tv.pdf"} <= names  # along the axis, unasked
    assert json.loads(rendered["results.json"])["spec"] == "fourrooms_teleporting"


def test_a_page_asks_nothing_of_the_network_and_every_link_leads_somewhere(rendered: dict[str, bytes]) -> None:
    page = Page(html_of(rendered))
    for link in page.links:
        if link.startswith("#"):
            assert link[1:] in page.ids
        elif not link.startswith("data:"):
            assert link in rendered
    assert len(page.ids) == len(set(page.ids))
    assert page.runs_ours_alone and not {"link", "img", "iframe", "object"} & set(page.tags)


def test_tables_have_captions_and_figures_have_descriptions(rendered: dict[str, bytes]) -> None:
    page = Page(html_of(rendered))
    assert page.tags.count("table") == page.tags.count("caption")
    assert page.tags.count("figure") == page.tags.count("figcaption") == 9
    assert "R* 0.8712, Rᵂᴹ 0.8702" in page.attributes
    assert "optimal way: 20 steps; model way: 20 steps, the same." in page.attributes


def test_the_same_results_give_the_same_bytes(rendered: dict[str, bytes]) -> None:
    assert render(sample.document()) == rendered


def evil_document() -> ReportData:
    """Every string that comes from outside is an attack."""
    claim = sample.claim(
        EVIL, EVIL, {EVIL: EVIL}, {"at_most": EVIL}, 1.0, 2.0, holds=False, reason=EVIL, source=EVIL, paper=EVIL
    )
    claim["cases"] = [claim["cases"][0]] * 2
    curve = {"values": [[1.0, 2.0]], "mean": [1.0, 2.0], "se_over_seeds": [None, None], "n": [1, 1]}
    metric = {**sample.entry(EVIL, {EVIL: EVIL}, [1.0]), "curve": curve, "by": {EVIL: EVIL}, "notes": [EVIL]}
    pair = {f"{EVIL}/{what}": sample.entry(f"unseen.{EVIL}.{what}", {EVIL: EVIL}, [1.0]) for what in ("r_star", "r_wm")}
    grid = dataclasses.replace(sample.maps()[0], title=EVIL, note=EVIL, paths={EVIL: ((1, 1), (1, 2))})
    results = {
        "spec": EVIL,
        "profile": EVIL,
        "title": EVIL,
        "seeds": [EVIL],
        "steps": [1, 2],
        "axes": {EVIL: {"paths": [EVIL], "values": [EVIL]}},
        "metrics": {EVIL: metric, **pair},
        "claims": [claim],
        "assumptions": {EVIL: EVIL},
        "failures": [{"label": EVIL, "error": EVIL, "traceback": EVIL, "seed": EVIL}, EVIL],
        "report": {"curves": {"metrics": [EVIL]}},
        "provenance": {"started": EVIL, "seconds": 1.0, EVIL: EVIL},
    }
    plan = PlanRows((StageRow(EVIL, EVIL, EVIL, 1.0, EVIL),), (KindEdge(EVIL, EVIL),))
    return ReportData(results, (ResolvedRow(EVIL, EVIL, EVIL, True, EVIL),), plan, (grid,))


def test_text_from_a_spec_is_shown_and_never_run() -> None:
    files = render(evil_document())
    page = Page(html_of(files))
    assert page.runs_ours_alone and page.open == [] and json.loads(page.scripts[0])["axes"][0]["name"] == EVIL
    assert page.text.count(EVIL) > 30
    drawings = [content for name, content in files.items() if name.endswith(".svg")]
    assert drawings and not any(b"<script" in content for content in drawings)
    rows = [SuiteRow(EVIL, EVIL, "a/index.html", evil_document().results, EVIL), SuiteRow(EVIL, EVIL, "", None, EVIL)]
    suite = Page(html_of(render_suite(rows, title=EVIL, results=evil_document().results)))
    assert "script" not in suite.tags and suite.text.count(EVIL) > 10


def test_dollars_control_characters_and_other_scripts_do_no_harm() -> None:
    odd = "$\\frac{1$ \x00\x1b[31m 世界 \ud800"
    grid = dataclasses.replace(sample.maps()[0], title=odd, paths={odd: ((1, 1), (1, 2))})
    page = page_of(dataclasses.replace(bare(title=odd), maps=(grid,)))
    assert "$\\frac{1$" in page.text and "世界" in page.text


def test_a_failed_seed_is_seen_in_its_own_section_and_in_n() -> None:
    results = sample.results(failures=[{"label": "train", "seed": 1, "where": {"goals": 10}, "error": "Q is NaN"}])
    broken = sample.entry("wm.mse", {"goals": 10}, [0.1, None, 0.2])
    results["metrics"] = {"goals=10/wm.mse": broken}
    page = page_of(ReportData(results))
    assert "failures" in page.ids and "train, goals = 10, seed 1" in page.text and "Q is NaN" in page.text
    assert "2 of 3 seeds" in page.text and "1 failure" in page.text


def test_a_failing_claim_is_told_by_more_than_colour() -> None:
    results = sample.results()
    results["claims"][1]["holds"] = False
    page = page_of(ReportData({**results, "metrics": {}}))
    assert "Not so: teleport_unsafe." in page.text and "✗ fails" in page.text


def test_a_claim_on_a_model_that_is_not_identified_is_marked_and_the_page_begins_with_it() -> None:
    results = sample.results()
    mark = "not identified: the values determine 1 of 4 directions"
    results["claims"][0]["not_identified"] = mark
    worst = {"id": "standing_still", "severity": "failed", "sentence": "It stands still.", "points": 1, "of": 1}
    first = {**worst, "id": "not_identified", "severity": "doubtful", "sentence": "The model may be wrong."}
    page = page_of(ReportData({**results, "metrics": {}, "findings": [first, worst]}))
    assert "The reading is doubtful: The model may be wrong." in page.text and page.text.count(mark) == 1
    assert page.text.index("The model may be wrong.") < page.text.index("It stands still.")
    assert "✓ holds, not identified" in claims_text(results)
    bare = {**results, "claims": [], "metrics": {}, "findings": [first, worst]}
    assert "summary bad" in render(ReportData(bare))["index.html"].decode()


def test_a_page_without_claims_metrics_or_plan_still_stands() -> None:
    page = page_of(bare())
    assert "No claim is tested here." in page.text and "This profile makes no claims." in page.text
    assert page.open == [] and not {"plan", "metrics", "figures", "spec"} & set(page.ids)


def test_a_study_of_ones_own_speaks_of_no_paper() -> None:
    claim = {"id": "a", "metric": "b", "test": {"at_most": 1}, "bound": 1, "measured": 0.5, "holds": True}
    own = bare(claims=[{**claim, "source": "ours"}])
    page = page_of(own)
    assert (
        "the paper" not in page.text
        and "Paper" not in page.text
        and "paper" not in page.ids
        and "What is expected" in page.text
    )
    assert claims_text(own.results).splitlines()[0].split() == ["claim", "test", "measured", "verdict"]
    changed = dataclasses.replace(own, resolved=[ResolvedRow("seeds", 1, "a.yaml:3:1", True, 3)])
    page = page_of(changed)
    assert "What this profile changes" in page.text and "profile p (1 setting changed)" in page.text
    page = page_of(bare(claims=[{**claim, "source": "App. F"}]))
    assert "What differs from the paper" in page.text


def test_missing_and_infinite_numbers_are_dashes_in_tables_and_null_in_json() -> None:
    curve = {"mean": [None, math.nan], "se_over_seeds": [None, None]}
    entry = {"metric": "wm.mse", "where": {}, "values": [math.nan, math.inf], "mean": math.nan, "n": 0, "curve": curve}
    star = {name: {**entry, "metric": f"unseen.g.{name}"} for name in ("r_star", "r_wm")}
    document = bare(seeds=[0, 1], metrics={"wm.mse": entry, **star}, report={"curves": {"metrics": ["wm.mse"]}})
    page = page_of(document)
    assert "–" in page.text and "∞" in page.text and "NaN" not in page.text
    stored = json.loads(render(document)["results.json"], parse_constant=pytest.fail)
    assert stored["metrics"]["wm.mse"]["values"] == [None, None]


def test_an_error_that_falls_to_zero_and_values_without_hope_can_be_drawn() -> None:
    curve = {"mean": [0.1, 1e-4, 0.0], "se_over_seeds": [0.01, 1e-5, 0.0], "n": [2, 2, 2]}
    entry = {"metric": "wm.mse", "where": {}, "values": [0.0, 0.0], "mean": 0.0, "se_over_seeds": 0.0, "n": 2}
    lost = dataclasses.replace(sample.maps()[0], values=np.zeros(68), paths={"optimal": (), "model": ((1, 1),)})
    document = bare(
        seeds=[0, 1], metrics={"wm.mse": {**entry, "curve": curve}}, report={"curves": {"metrics": ["wm.mse"]}}
    )
    page = page_of(dataclasses.replace(document, maps=(lost,)))
    assert page.tags.count("figure") == 2


def test_three_hundred_metrics_are_folded_and_all_there() -> None:
    metrics = {f"m{index}": sample.entry(f"m{index}", {}, [index / 7]) for index in range(300)}
    html = html_of(render(bare(metrics=metrics)))
    assert "300 metrics by name" in html and all(f"<code>m{index}</code>" in html for index in range(300))
    assert "<details open>" not in html and "One seed" not in Page(html).text.split("300 metrics")[0]


def test_a_large_map_is_one_image_and_not_ten_thousand_shapes() -> None:
    cells = np.argwhere(np.ones((100, 100)))
    grid = GridMap("large", (100, 100), cells, ((0, 0),), np.linspace(0, 1, 10_000), ((99, 99),))
    svg = render(dataclasses.replace(bare(), maps=(grid,)))["figures/map-large.svg"].decode()
    assert "<image" in svg and len(svg) < 200_000


def test_a_heatmap_over_two_axes_is_drawn() -> None:
    metrics = {
        f"{a}{b}": sample.entry("wm.mse", {"depth": a, "width": b}, [a * b / 10 if b else None])
        for a in (1, 2)
        for b in (0, 32)
    }
    axes = {"depth": {"values": [1, 2]}, "width": {"values": [0, 32]}}
    asked = {"heatmaps": {"metrics": ["wm.mse"], "rows": "depth", "columns": "width"}}
    assert "heat-wm.mse.pdf" in figures_of(render(bare(metrics=metrics, axes=axes, report=asked)))


def test_names_of_figure_files_are_safe_and_never_shared() -> None:
    grid = dataclasses.replace(sample.maps()[0], title="../../x y")
    names = figures_of(render(dataclasses.replace(bare(), maps=(grid, grid))))
    assert names == {"map-x-y.svg", "map-x-y.pdf", "map-x-y-2.svg", "map-x-y-2.pdf"}


def test_a_suite_leads_to_its_reports_and_counts_all_claims() -> None:
    rows = [
        SuiteRow("fourrooms_teleporting", "laptop", "fourrooms_teleporting/laptop/index.html", sample.results()),
        SuiteRow("reacher", "laptop", "", None, "never run with this profile"),
    ]
    own = {"claims": [sample.claim("all_hold", "wm.mse", {"spec": "all"}, {"at_most": 1}, 0.5, 1)], "seeds": [0]}
    html = html_of(render_suite(rows, title="The paper", results=own))
    page = Page(html)
    assert "Claims hold: 6 of 6." in page.text and "not run" in page.text and "all_hold" in page.text
    assert "fourrooms_teleporting/laptop/index.html" in page.links and page.open == []
    assert "never run with this profile" in page.text


def test_a_suite_shows_statements_beside_the_claims_that_bear_them_out() -> None:
    results = sample.results()
    claim = results["claims"][0]["id"]
    cell = {"says": "one goal is enough", "source": EVIL, "claims": [f"a.{claim}", "a.nothing"]}
    table = {"title": "Table 1", "caption": "", "columns": ["Finite"], "rows": [{"name": "Generic", "cells": [cell]}]}
    own = {"spec": "s", "claims": [], "report": {"tables": [table]}}
    page = Page(html_of(render_suite([SuiteRow("a", "p", "../a.html", results)], results=own)))
    assert "one goal is enough" in page.text and EVIL in page.text and "script" not in page.tags
    assert "../a.html#claims" in page.links and "not tested here" in page.attributes


def test_the_time_of_a_suite_is_that_of_its_run() -> None:
    results = sample.results()
    results["provenance"]["seconds"] = 100.0
    rows = [SuiteRow(name, "p", "", results) for name in "abc"]
    own = {"spec": "s", "claims": [], "provenance": {"seconds": 100.0}}
    assert Page(html_of(render_suite(rows, results=own))).text.count("1 min 40 s") == 1


def test_a_member_of_a_suite_says_what_its_own_stages_took_on_its_page_and_in_the_suite() -> None:
    results = sample.results()
    results["provenance"] |= {"seconds": 100.0, "stage_seconds": 12.0}
    page = Page(html_of(render(ReportData(results)))).text
    assert "stages of 12 s" in page and page.count("1 min 40 s") == 1  # the run's time is in its provenance alone
    own = {"spec": "s", "claims": [], "provenance": {"seconds": 100.0}}
    page = Page(html_of(render_suite([SuiteRow("a", "p", "", results)], results=own))).text
    assert page.count("12 s") == 1 and page.count("1 min 40 s") == 1


def test_a_page_names_the_commit_of_wmlab_where_it_is_known() -> None:
    results = sample.results()
    for code, named in ((None, 0), ("5ee5a11, changed since", 1)):
        results["provenance"]["code"] = code
        text = Page(html_of(render(ReportData(results)))).text
        assert text.count("Commit of wmlab") == text.count("5ee5a11, changed since") == named


def test_results_are_written_as_json_writes_them_with_null_for_what_is_no_number():
    data = {"a": [1, 2.5, -1e-300, True, None, []], "ü <": {"b": {}, "c": (0.1, "x\u2028\n")}, 3: [[1], [2]]}
    assert json_text(data) == json.dumps(data, indent=1, ensure_ascii=False)
    odd = [math.nan, np.float64("inf"), np.float64(0.1), Path("here")]
    assert json.loads(json_text(odd), parse_constant=pytest.fail) == [None, None, 0.1, "here"]
