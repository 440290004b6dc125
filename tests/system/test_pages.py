"""The page of a run: text from a spec is only text, and nothing is written beside the report and the cache."""

from __future__ import annotations

import json
import re
import shutil
import subprocess

import pytest

from tests.system.lab import SMALL
from wmlab.report.scripts import FOLDER, script

TITLE = "<script>alert(1)</script>"
SOURCE = "<img src=x onerror=document.documentElement.dataset.ran=1>"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture(scope="module")
def hostile(small, tmp_path_factory):
    """The report of a spec whose words are markup; its stages are those of the small study."""
    lab = small.lab.copy(tmp_path_factory.mktemp("hostile") / "lab")
    text = SMALL.read_text().replace("A corridor with a corner", f"'{TITLE}'")
    spec = lab.folder / "hostile.yaml"
    spec.write_text(text.replace("at_most: 1e-8}", f"at_most: 1e-8, source: '{SOURCE}'}}"))
    lab.wmlab("run", spec)
    assert lab.ran() == []
    return lab.report("small") / "index.html"


def test_markup_in_a_spec_is_shown_as_text(hostile):
    page = hostile.read_text()
    assert TITLE not in page and SOURCE not in page and runs_ours_alone(page)
    assert "<h1>&lt;script&gt;alert(1)&lt;/script&gt;</h1>" in page and "&lt;img src=x onerror=" in page


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium here")
def test_a_browser_shows_the_text_and_runs_no_script(hostile, tmp_path):
    flags = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}", "--virtual-time-budget=2000"]
    command = [str(CHROMIUM), *flags, "--dump-dom", hostile.as_uri()]
    document = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    assert "<h1>&lt;script&gt;alert(1)&lt;/script&gt;</h1>" in document
    assert runs_ours_alone(document) and "data-ran" not in document and '<img src="x"' not in document


def runs_ours_alone(page):
    """Whether each script is one of ours, letter by letter, or data."""
    ours = {str(script(file.stem).text) for file in FOLDER.glob("*.js")}
    found = re.findall(r"<script([^>]*)>(.*?)</script>", page, re.DOTALL)
    data = [text for sort, text in found if "application/json" in sort]
    return all(json.loads(text) for text in data) and {text for sort, text in found if not sort} <= ours


def test_a_run_writes_into_the_cache_and_the_report_folder_only(small, tmp_path):
    lab = small.lab.copy(tmp_path)
    (lab.folder / "notes.txt").write_text("mine")
    (lab.folder / "small.yaml").write_text(SMALL.read_text())
    shutil.rmtree(lab.folder / "reports")
    lab.entry("small: measure goals=8 seed=0").rename(lab.folder / "moved")
    before = tree(lab.folder)
    lab.wmlab("run", "small.yaml", "--jobs", "1")
    after = tree(lab.folder)
    new = [name for name in after if after[name] != before.get(name)]
    assert before.keys() <= after.keys() and new
    assert all(name.startswith((".wmlab/", "reports/small/full/", "reports/index.html")) for name in new)
    litter = [name for name in after if name.startswith((".wmlab/tmp/", ".wmlab/locks/", ".wmlab/active/"))]
    assert litter == [] and not [name for name in new if name.rpartition("/")[2].startswith(".")]


def tree(folder):
    """Every file with its content; compiled programs are shared between the tests."""
    paths = [path for path in folder.rglob("*") if path.is_file() and ".wmlab/jax" not in str(path)]
    return {str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns) for path in paths}
