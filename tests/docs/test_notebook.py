"""The page on Python, run as a notebook: every cell in order, and what each would show."""

from __future__ import annotations

import json

import pytest

from tests.docs.notebook import cells, notebook, run_cell
from tests.docs.reader import enter


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.delenv("WMLAB_HOME", raising=False)
    monkeypatch.setattr("wmlab.app.run.usable_cores", lambda: 0)
    monkeypatch.chdir(tmp_path)
    enter(tmp_path)
    return tmp_path


def test_the_page_on_python_runs_as_a_notebook_and_shows_claims_and_figures(here):
    names: dict[str, object] = {}
    shown = [text for block in cells() for text in run_cell(block, names)]
    assert "<wmlab experiment corridor (full): 2 points, 2 seeds, 18 stages>" in shown
    (page,) = [text for text in shown if text.startswith("<h4>A corridor with a corner</h4>")]
    assert "Claims hold: 1 of 1." in page and page.count("<img ") == 4 and "1 more figure" in page
    assert [text.count("<svg") for text in shown if "</svg>" in text] == [1]  # the figure that is asked for


@pytest.mark.slow
def test_the_page_on_python_is_run_by_jupyter(here):
    """The real thing, where it is installed: pip install nbclient ipykernel."""
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    (here / "python.ipynb").write_text(json.dumps(notebook()))
    document = nbformat.read(here / "python.ipynb", as_version=4)
    nbformat.validate(document)
    nbclient.NotebookClient(document, timeout=600, resources={"metadata": {"path": str(here)}}).execute()
    forms = {form for cell in document.cells for output in cell.outputs for form in output.get("data", {})}
    assert {"text/plain", "text/html", "image/svg+xml"} <= forms
