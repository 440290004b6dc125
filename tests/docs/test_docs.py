"""Every code block of the README and of docs/ is executed or validated: tests/docs/reader.py says how."""

from __future__ import annotations

import re

import pytest
import yaml

from tests.docs.notebook import PAGE as WITH_FIGURES
from tests.docs.pages import PAGES, ROOT, Block, blocks_of
from tests.docs.reader import Reader, enter


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_a_page_can_be_followed_word_by_word(page, tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("WMLAB_HOME", raising=False)
    monkeypatch.setattr("wmlab.app.run.usable_cores", lambda: 0)
    if page != WITH_FIGURES:
        monkeypatch.setattr("wmlab.report.gallery.gallery", lambda data, draw: [])  # half of the time
    monkeypatch.chdir(tmp_path)
    enter(tmp_path)
    reader = Reader(tmp_path, capsys)
    for block in blocks_of(page):
        reader.follow(block)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_every_link_between_pages_leads_somewhere(page):
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_a_block_that_says_what_is_not_so_is_noticed(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    reader = Reader(tmp_path, capsys)
    for language, text in (
        ("yaml", "mdp: {kind: gridwrld}\n"),
        ("sh", "wmlab validate missing.yaml\n"),
        ("sh", "make dinner\n"),
        ("sh", "rm -rf /\n"),
        ("python", "1 + 1  # 3\n"),
        ("text", "never said\n"),
        ("fortran", "END\n"),
    ):
        with pytest.raises(AssertionError):
            reader.follow(Block("page.md", 1, language, text))
    reader.follow(Block("page.md", 1, "python", "1 + 1  # 2\n"))
    reader.follow(Block("page.md", 1, "yaml", "claims: {good: {metric: wm.mse, equals: 0}}\n"))


def test_the_workflow_and_the_hook_run_the_commands_that_the_readme_shows():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    workflow = yaml.safe_load((ROOT / "docs" / "ci" / "validate.yml").read_text(encoding="utf-8"))
    last = workflow["jobs"]["validate"]["steps"][-1]["run"]
    assert f"- run: {last}" in readme
    assert last.startswith("wmlab validate --format github ")
    [hook] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert f"- id: {hook['id']} " in readme and hook["entry"] == "wmlab validate"
