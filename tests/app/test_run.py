"""A study's run among clean-ups, in caches that cannot be written, and on disks that are full."""

from __future__ import annotations

import errno
import json
import shutil
from pathlib import Path

import pytest

from tests.faults.disk import failing
from tests.runtime.test_border import reseal
from wmlab.app import run as running
from wmlab.app.report_folder import TIMES
from wmlab.graph.study import open_study
from wmlab.runtime import cache
from wmlab.runtime.layout import CacheError
from wmlab.runtime.store import Store

SPECS = Path(__file__).parents[2] / "specs"


@pytest.fixture(scope="module")
def study():
    return open_study(str(SPECS / "quickstart.yaml"))


@pytest.fixture(autouse=True)
def without_figures(monkeypatch):
    monkeypatch.setattr("wmlab.report.gallery.gallery", lambda data, draw: [])


def run_in(study, folder, **options):
    """A run with its cache and report in a folder; its results but for times, and what was said."""
    said = []
    run = running.run_study(
        study, Store(folder / ".wmlab"), jobs=0, listener=said.append, reports=folder / "reports", **options
    )
    return run, said


def results_in(folder):
    results = json.loads((folder / "reports" / "quickstart" / "paper" / "results.json").read_text())
    results["provenance"] = {name: value for name, value in results["provenance"].items() if name not in TIMES}
    return results


@pytest.fixture(scope="module")
def first(study, tmp_path_factory):
    folder = tmp_path_factory.mktemp("first")
    run, _ = run_in(study, folder)
    assert run.ok
    return folder


@pytest.fixture
def known(first, tmp_path):
    """A folder in which the study was run before."""
    return Path(shutil.copytree(first, tmp_path / "known"))


def test_what_stages_took_is_told_also_where_all_of_them_were_stored_before(study, known):
    def spent():
        text = (known / "reports" / "quickstart" / "paper" / "results.json").read_text()
        return json.loads(text)["provenance"]["stage_seconds"]

    store = Store(known / ".wmlab")
    took = [json.loads((store.path(key.hash) / "manifest.json").read_text())["seconds"] for key in study.keys.values()]
    first = spent()
    run, _ = run_in(study, known)
    assert not run.outcome.ran and spent() == first == round(sum(took), 3) > 0


# --- clean-ups -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("again", [False, True], ids=["the first run", "a run that finds all cached"])
def test_no_clean_up_takes_results_away_before_they_are_in_the_report(study, first, tmp_path, monkeypatch, again):
    if again:
        shutil.copytree(first, tmp_path, dirs_exist_ok=True)
    store, kept = Store(tmp_path / ".wmlab"), []
    execute, write_down = running.execute, running.write_down

    def clean_up(then, *arguments, **options):
        kept.append(cache.gc(store, max_size=0).in_use)
        return then(*arguments, **options)

    monkeypatch.setattr(running, "execute", lambda *given, **options: clean_up(execute, *given, **options))
    monkeypatch.setattr(running, "write_down", lambda *given, **options: clean_up(write_down, *given, **options))
    run, _ = run_in(study, tmp_path)
    assert run.ok and kept == [len(study.stages) if again else 0, len(study.stages)]
    assert results_in(tmp_path) == results_in(first) and not results_in(tmp_path)["failures"]
    assert cache.gc(store, max_size=0).in_use == 0  # and afterwards everything may go


def test_results_that_vanish_before_they_are_reported_are_computed_again(study, first, tmp_path, monkeypatch):
    write_down, calls = running.write_down, []

    def lose_first(*arguments, **options):
        calls.append(1)
        if len(calls) == 1:
            shutil.rmtree(tmp_path / ".wmlab" / "objects")
        return write_down(*arguments, **options)

    monkeypatch.setattr(running, "write_down", lose_first)
    run, said = run_in(study, tmp_path)
    assert run.ok and len(calls) == 2 and results_in(tmp_path) == results_in(first)
    assert sum("is missing; recomputing" in str(event) for event in said) == 1


def test_a_report_of_stored_results_holds_them_too(study, known, monkeypatch):
    write_down, kept = running.write_down, []

    def clean_up(*arguments, **options):
        kept.append(cache.gc(Store(known / ".wmlab"), max_size=0).in_use)
        return write_down(*arguments, **options)

    monkeypatch.setattr(running, "write_down", clean_up)
    running.report_study(study, Store(known / ".wmlab"), known / "reports")
    assert kept == [len(study.stages)]


# --- caches that cannot be written -----------------------------------------------------------------------------


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES])
def test_a_run_of_what_is_cached_needs_no_write_access_to_the_cache(study, first, known, number):
    shutil.rmtree(known / "reports")
    with failing(known / ".wmlab", number) as failed:
        run, said = run_in(study, known)
    assert failed and run.ok and len(run.outcome.cached) == len(study.stages)
    assert results_in(known) == results_in(first)
    assert not [event for event in said if type(event).__name__ == "Notice"]


def test_a_run_that_has_something_to_compute_is_refused_in_words(study, known):
    store = Store(known / ".wmlab")
    store.remove(next(store.entries()))
    with failing(known / ".wmlab", errno.EROFS), pytest.raises(CacheError) as refused:
        run_in(study, known)
    assert str(refused.value) == (
        f"the cache {known / '.wmlab'} cannot be used: Read-only file system; name a folder that you can write to "
        "with WMLAB_HOME"
    )


def test_a_full_disk_costs_the_stage_at_hand_and_nothing_else(study, first, tmp_path):
    objects = tmp_path / ".wmlab" / "objects"
    with failing(objects, errno.ENOSPC, ("rename",), times=1) as failed:
        run, _ = run_in(study, tmp_path, keep_going=True)
    assert len(failed) == 1 and len(run.outcome.failed) == 1
    (failure,) = run.outcome.failed.values()
    assert failure.message.startswith("the result cannot be stored: No space left on device at ")
    assert failure.message.endswith("; make room (`wmlab cache gc` may) and run again") and not failure.traceback
    assert not list((tmp_path / ".wmlab" / "tmp").iterdir())
    again, _ = run_in(study, tmp_path)
    assert again.ok and results_in(tmp_path) == results_in(first)
    assert len(again.outcome.cached) == len(run.outcome.ran)


def test_everything_but_results_can_fail_on_a_full_disk_and_the_run_goes_on(study, first, tmp_path):
    root = tmp_path / ".wmlab"
    for name in ("runs", "active", "last"):
        (root / name).mkdir(parents=True)
    full = errno.ENOSPC
    with failing(root / "runs", full), failing(root / "active", full), failing(root / "last", full) as failed:
        run, said = run_in(study, tmp_path)
    assert failed and run.ok and results_in(tmp_path) == results_in(first)
    assert sorted(str(event) for event in said if type(event).__name__ == "Notice")[-2:] == [
        f"the cache {root} cannot be told what is in use (No space left on device): clean it up only when nothing runs",
        "the log of this run cannot be written (No space left on device); the run goes on without it",
    ]


# --- entries that are sealed but wrong -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "metrics", ["text", 3, [1], {"wm.mse": 3}, {"wm.mse": {"value": "text"}}, {"wm.mse": {"value": 0.0, "by": [["x"]]}}]
)
def test_metrics_of_another_type_are_damage_and_measured_again(study, first, known, metrics):
    store = Store(known / ".wmlab")
    (key,) = (key for key in store.entries() if store.manifest(key)["label"] == "quickstart: measure")
    reseal(store.path(key), "data.json", json.dumps({"metrics": metrics}).encode())
    run, said = run_in(study, known)
    assert run.ok and results_in(known) == results_in(first)
    assert [str(event) for event in said if "damaged" in str(event)] == [
        f"cache entry {key[:12]} of 'quickstart: measure' is damaged (its metrics are none); recomputing"
    ]
