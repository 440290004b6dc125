"""Filling the gallery: finished runs as they are, and nothing else."""

from __future__ import annotations

import json

import pytest

from tests.gallery.collect import collect, report_of
from tests.gallery.contents import CONTENTS, Gallery, GalleryError
from tests.gallery.sample import MAZE, SAID, gallery_in, report_in
from wmlab.app.diff import side_of
from wmlab.app.results_diff import results_difference
from wmlab.app.show import stored_results
from wmlab.report.data import RESULTS


def photograph(page, picture):
    picture.write_bytes(page.read_bytes()[:9])


@pytest.fixture
def gallery(tmp_path):
    return gallery_in(tmp_path / "gallery")


def test_a_finished_run_comes_in_whole_and_one_that_is_not_there_stays_pending(gallery, tmp_path):
    report_in(tmp_path / "reports", {"seeds": [21, 22, 23]})
    assert collect(gallery, [tmp_path / "reports"], photograph) == ["maze"]
    place = gallery.folder / "maze"
    assert sorted(path.name for path in place.iterdir()) == ["figure.svg", "page.png", RESULTS, "settings.json"]
    assert (place / "page.png").read_bytes() == b"<!doctype"
    again = Gallery.at(gallery.folder)
    assert again.results("maze") == {**MAZE, "seeds": [21, 22, 23]}
    assert again.settings("maze") == {row["path"]: row["value"] for row in SAID}
    assert again.pending == ("later",)
    assert [path.name for path in gallery.folder.iterdir() if path.is_dir()] == ["maze"]


def test_a_run_that_was_pending_is_no_longer(gallery, tmp_path):
    report_in(tmp_path / "reports", {"spec": "later"})
    assert collect(gallery, [tmp_path / "reports"], photograph) == ["later"]
    assert Gallery.at(gallery.folder).pending == ()
    assert Gallery.at(gallery.folder).results("later")["spec"] == "later"


def test_wmlab_reads_what_the_gallery_holds(gallery, tmp_path):
    folder = report_in(tmp_path / "reports")
    collect(gallery, [tmp_path / "reports"], photograph)
    held = str(gallery.folder / "maze" / RESULTS)
    assert stored_results(held) == stored_results(str(folder))
    found = results_difference([side_of(held), side_of(str(folder / RESULTS))], exact=True)
    assert (found.values, found.metrics, found.claims) == ((), (), ())


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"failures": [{"state": "failed"}]}, "1 stage failed or did not run"),
        ({"missing": [{"where": {}, "seeds": [13]}]}, "not everything was run"),
        ({"claims": [{**MAZE["claims"][0], "open": True, "holds": None}]}, "claim 'exit' is open"),
        ({"provenance": {**MAZE["provenance"], "wmlab": "0.0.1"}}, "it was made by wmlab 0.0.1, and this is "),
        ({"provenance": {**MAZE["provenance"], "run": None}}, "it does not say which run it is of"),
    ],
)
def test_a_run_that_is_not_finished_is_refused_and_nothing_changes(change, why, gallery, tmp_path):
    before = {path: path.read_bytes() for path in gallery.folder.rglob("*") if path.is_file()}
    report_in(tmp_path / "reports", {"spec": "later"})
    report_in(tmp_path / "reports", change)
    with pytest.raises(GalleryError, match=why):
        collect(gallery, [tmp_path / "reports"], photograph)
    assert {path: path.read_bytes() for path in gallery.folder.rglob("*") if path.is_file()} == before


def test_a_report_that_was_changed_by_hand_is_refused(gallery, tmp_path):
    results = report_in(tmp_path / "reports") / RESULTS
    results.write_text(results.read_text().replace("0.99", "0.98"))
    with pytest.raises(GalleryError, match=r"results\.json was changed"):
        collect(gallery, [tmp_path / "reports"], photograph)


def test_a_report_without_the_figure_that_is_to_be_shown_is_refused(gallery, tmp_path):
    declared = gallery.folder / CONTENTS
    declared.write_text(declared.read_text().replace("map-exit", "map-way"))
    report_in(tmp_path / "reports")
    with pytest.raises(GalleryError, match="there is no figure 'map-way'; there are map-exit"):
        collect(Gallery.at(gallery.folder), [tmp_path / "reports"], photograph)


def test_a_claim_that_fails_is_shown_and_no_reason_to_refuse(gallery, tmp_path):
    report_in(tmp_path / "reports")
    collect(gallery, [tmp_path / "reports"], photograph)
    assert [claim["holds"] for claim in Gallery.at(gallery.folder).results("maze")["claims"]] == [True, False]


def test_a_suite_keeps_the_results_of_members_that_have_no_page_here(gallery, tmp_path):
    (gallery.folder / CONTENTS).write_text(
        "runs: {all: {spec: specs/all.yaml, profile: full}, maze: {spec: specs/maze.yaml, profile: laptop}}\n"
        "pending: [all]\nquoted: {}\n"
    )
    report_in(tmp_path / "reports")
    report_in(tmp_path / "reports", {"spec": "cave", "profile": "full"})
    report_in(tmp_path / "reports", {"spec": "all", "profile": "full", "suite": ["maze", "cave"], "claims": []})
    assert collect(Gallery.at(gallery.folder), [tmp_path / "reports"], photograph) == ["all", "maze"]
    assert [path.name for path in (gallery.folder / "all").iterdir() if path.is_dir()] == ["cave"]
    parts = Gallery.at(gallery.folder).parts("all")
    assert [part["spec"] for part in parts] == ["all", "maze", "cave"]


def test_a_report_is_found_by_its_folder_or_below_a_folder_of_reports(tmp_path):
    changed = report_in(tmp_path / "elsewhere", {"sets": ["seeds=[11]"]})
    plain = report_in(tmp_path / "reports")
    assert report_of("maze", "laptop", [tmp_path / "reports"]) == plain
    assert report_of("maze", "laptop", [tmp_path / "reports", changed]) == changed
    assert report_of("maze", "paper", [tmp_path / "reports", changed]) is None
    assert json.loads((plain / RESULTS).read_text())["spec"] == "maze"
