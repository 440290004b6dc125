"""The page of all runs: text stays text, and no script but ours may run."""

from __future__ import annotations

import base64
import hashlib
import json
import re

from tests.report.test_render import EVIL, Page
from wmlab.report.runs import RunRow, render_runs
from wmlab.report.scripts import embedded, policy, script

ROW = RunRow("abcdefg", "maze", "smoke", "2026-01-31T10:00:00+00:00", "done", held=2, shown=1, seconds=3.2, seeds=1)


def test_rows_are_shown_with_claims_profile_time_and_picture():
    page = Page(render_runs([ROW, RunRow("hijklmn", "rooms", "full", "2025", "died")]).decode())
    assert "2 runs of 2 specs." in page.text and "In 1 of them" in page.text and page.open == []
    assert all(
        text in page.text for text in ("maze", "smoke", "2 held, 1 shown", "3.2 s", "31 January 2026, 10:00 UTC")
    )
    assert page.text.count("no page is kept") == 2 and page.links == ["#main"]
    assert page.text.index("abcdefg") < page.text.index("hijklmn")


def test_names_that_are_markup_stay_text():
    hostile = {
        name: f"{EVIL}\"'" for name in ("id", "spec", "profile", "started", "state", "changed", "machine", "commit")
    }
    html = render_runs([RunRow(**hostile, link='"><b>', picture='x" onerror="alert(1)')]).decode()
    page = Page(html)
    assert page.text.count(EVIL) == 8 and page.tags.count("script") == 1 and "b" not in page.tags
    assert 'onerror="' not in html and "</script>alert" not in html


def test_the_policy_allows_our_script_by_its_hash_and_nothing_else():
    html = render_runs([ROW]).decode()
    (text,) = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    (said,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', html)
    assert f"script-src &#39;sha256-{digest}&#39;;" in said and said.startswith("default-src &#39;none&#39;;")
    assert "unsafe-eval" not in said and "script-src" not in policy()
    assert not re.search(r"\son\w+=", html)


def test_data_for_a_script_is_text_wherever_it_stands():
    hostile = {"</script><script>alert(1)</script>": ["<!--", "\u2028", "]]>", "&amp;", 'a"b\\']}
    text = str(embedded(hostile))
    assert json.loads(text) == hostile and not set("<>&\u2028") & set(text)


def test_no_runs_are_a_page_without_a_script():
    page = Page(render_runs([]).decode())
    assert "No runs yet." in page.text and "script" not in page.tags


def test_a_script_cannot_end_its_own_element():
    assert "</" not in script("runs").text
