"""What is told of a run: the log, and what a person sees."""

from __future__ import annotations

import io
import os
import re

from rich.console import Console

from tests.runtime.toys import plan_of, stage, tree
from wmlab.runtime.events import Notice, RunStarted, fan_out
from wmlab.runtime.executor import execute
from wmlab.runtime.progress import LiveProgress, PlainProgress, show_progress
from wmlab.runtime.run_list import list_runs, read_log
from wmlab.runtime.runlog import RunLog
from wmlab.runtime.store import Store


def run(tmp_path, stages, *listeners):
    stages_by_id, keys = plan_of(*stages)
    with RunLog(tmp_path, spec="toy", profile="quick", argv=["wmlab", "run"]) as log:
        execute(stages_by_id, keys, Store(tmp_path), jobs=0, keep_going=True, events=fan_out(log, *listeners))
    return log


def test_the_log_has_a_line_for_each_stage_and_the_totals(tmp_path):
    bad = stage("fail", "bad", how="raise")
    log = run(tmp_path, [bad, stage("add", "user", {"bad": bad}, number=1), stage("add", "leaf", number=1)])
    head, *middle, end = read_log(log.path)
    assert head["spec"] == "toy" and head["argv"] == ["wmlab", "run"] and "numpy" in head["versions"]
    lines = {record["label"]: record for record in middle}
    assert lines["leaf"]["outcome"] == "ran" and lines["leaf"]["peak_memory"] > 0 and len(lines["leaf"]["key"]) == 64
    assert lines["bad"]["failure"]["message"] == "seven is not a number"
    assert lines["user"]["outcome"] == "skipped" and lines["user"]["reason"] == "needs 'bad', which failed"
    assert end["counts"] == {"ran": 1, "cached": 0, "failed": 1, "skipped": 1}


def test_runs_are_listed_with_their_state_the_latest_first(tmp_path):
    run(tmp_path, tree())
    with RunLog(tmp_path, spec="other"):
        states = [(summary.spec, summary.state) for summary in list_runs(tmp_path)]
    assert states == [("other", "running"), ("toy", "done")]
    done = list_runs(tmp_path)[1]
    assert done.counts["ran"] == 12 and done.seconds is not None and done.profile == "quick"


def test_a_log_cut_short_by_a_kill_is_listed_as_died(tmp_path):
    log = run(tmp_path, tree())
    text = log.path.read_text().replace(f'"pid": {os.getpid()}', f'"pid": {2**30}')
    log.path.write_text(text[: text.rindex('{"type": "end"')] + '{"type": "sta')
    (summary,) = list_runs(tmp_path)
    assert summary.state == "died" and summary.counts["ran"] == 12


def test_without_a_terminal_a_short_run_prints_one_line(tmp_path):
    stream = io.StringIO()
    with show_progress(stream) as listener:
        run(tmp_path, tree(), listener)
    assert re.fullmatch(r"done: 12/12 stages in \d\.\d s\n", stream.getvalue())


def test_without_a_terminal_failures_and_notices_are_printed_when_they_come(tmp_path):
    stream = io.StringIO()
    listener = PlainProgress(stream)
    listener(Notice("something to know"))
    run(tmp_path, [stage("fail", "bad", how="raise"), *tree()], listener)
    first, second, last = stream.getvalue().splitlines()
    assert first == "something to know" and second == "failed: bad: ValueError: seven is not a number"
    assert re.fullmatch(r"done: 13/13 stages, 1 failed in \d\.\d s", last)


def test_on_a_terminal_the_display_counts_what_is_cached_and_what_ran(tmp_path):
    run(tmp_path, tree()[:4])
    stream = io.StringIO()
    display = LiveProgress(Console(file=stream, force_terminal=True, width=100))
    with display.live:
        run(tmp_path, [stage("fail", "bad [x]", how="raise"), *tree()], display)
    assert "9/9 stages, 4 cached, 1 failed" in stream.getvalue()
    assert "failed: bad [x]: ValueError: seven is not a number" in stream.getvalue()


def test_every_listener_hears_every_event():
    heard = []
    fan_out(heard.append, None, heard.append)(RunStarted(1, 0, 1))
    assert len(heard) == 2
