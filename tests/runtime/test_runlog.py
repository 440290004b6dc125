"""A log that cannot be written costs the log and nothing else."""

from __future__ import annotations

import errno
import os

import pytest

from tests.faults.disk import failing
from wmlab.runtime.events import Notice, RunFinished
from wmlab.runtime.run_list import list_runs
from wmlab.runtime.runlog import RunLog

SAID = "the log of this run cannot be written ({}); the run goes on without it"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_disk_that_is_full_when_the_log_is_flushed_is_said_once(tmp_path):
    notices = []
    with RunLog(tmp_path, spec="maze", notice=notices.append) as log:
        log._file.close()
        log._file = open("/dev/full", "w", encoding="utf-8")  # noqa: SIM115 - it is the log's from now on
        log(Notice("one"))
        log(Notice("two"))
        log(RunFinished({"ran": 1, "cached": 0, "failed": 0, "skipped": 0}, 1.0))
    assert notices == [SAID.format("No space left on device")]
    assert [run.state for run in list_runs(tmp_path)] == ["running"]


@pytest.mark.parametrize(
    ("number", "said"),
    [(errno.ENOSPC, [SAID.format("No space left on device")]), (errno.EROFS, []), (errno.EACCES, [])],
)
def test_a_log_that_cannot_be_begun_matters_only_where_it_could_have_been(tmp_path, number, said):
    notices = []
    with failing(tmp_path, number), RunLog(tmp_path, spec="maze", notice=notices.append) as log:
        log(Notice("one"))
    assert notices == said and list_runs(tmp_path) == []
