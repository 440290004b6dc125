"""The memory of runs: what their logs tell, for `wmlab runs`."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from wmlab.errors import UsageError, suggest
from wmlab.runtime import layout
from wmlab.runtime.processes import is_alive
from wmlab.runtime.run_id import find_log, run_logs
from wmlab.runtime.runlog import ClaimCounts


@dataclass(frozen=True)
class RunSummary:
    """A line of `wmlab runs`."""

    id: str  # empty in logs of earlier versions
    path: Path
    spec: str
    profile: str
    started: str
    state: str  # done, failed, unfinished (its budget was spent), interrupted, running, or died
    seconds: float | None
    counts: Mapping[str, int]  # outcome: number of stages
    sets: tuple[str, ...] = ()  # what was changed on the command line
    seeds: int | None = None
    claims: ClaimCounts | None = None  # None where no report was written
    page: str = ""  # among the pages that are kept of the run
    host: str = ""
    commit: str = ""  # of the spec's tree; empty where it has none
    dirty: bool = False
    file: str = ""  # of the spec
    argv: tuple[str, ...] = ()
    jobs: tuple[str, ...] = ()  # on a cluster
    pid: int | None = None
    mark: str = ""  # of its process

    @property
    def is_on(self) -> bool:
        """Whether its process is alive; of another machine nobody here can tell, and it counts as alive."""
        return _alive(self.pid, self.host, self.mark)

    @property
    def last_word(self) -> str:
        """When the last record of its log was written; empty where the log is gone."""
        try:
            return datetime.fromtimestamp(self.path.stat().st_mtime, UTC).isoformat()
        except OSError:
            return ""

    @property
    def failed(self) -> bool:
        """Whether something went wrong: a stage, the run itself, or a claim."""
        return self.state in ("failed", "died") or (self.claims is not None and self.claims.failed > 0)


def list_runs(root: Path) -> list[RunSummary]:
    """All runs that the cache folder knows of, the latest first."""
    summaries = (_summary(path) for _, path in run_logs(root))
    return [summary for summary in summaries if summary is not None]


def find_run(root: Path, beginning: str) -> RunSummary:
    """The run whose id begins so; UsageError where there is none, or more than one."""
    id, path = find_log(root, beginning)
    summary = _summary(path)
    if summary is None:
        raise UsageError(f"the log of run '{id}' cannot be read: {path}")
    return summary


def named_runs(root: Path, name: str) -> list[RunSummary]:
    """The runs of a spec, the latest first, or the one whose id begins so; UsageError where there is none."""
    runs = [run for run in list_runs(root) if run.id]
    if of_spec := [run for run in runs if run.spec == name]:
        return of_spec
    if not any(run.id.startswith(name) for run in runs):
        known = dict.fromkeys(word for run in runs for word in (run.spec, run.id))
        hint = suggest(name, known) or "`wmlab runs` lists them"
        raise UsageError(f"there is no run or spec '{name}' in the cache {root}; {hint}")
    return [find_run(root, name)]


def read_log(path: Path) -> list[dict[str, Any]]:
    """The records of a run's log; a last line that a kill cut short, and any that is no record, are left out."""
    try:
        text = layout.read_file(path).decode(errors="replace")
    except OSError:
        return []
    records = []
    for line in text.split("\n"):
        with suppress(ValueError, RecursionError):
            record = json.loads(line)
            if isinstance(record, dict) and isinstance(record.get("type"), str):
                records.append(record)
    return records


def _summary(path: Path) -> RunSummary | None:
    records = read_log(path)
    if not records or records[0]["type"] != "run":
        return None
    head = records[0]
    last = next(record for record in reversed(records) if record["type"] in ("run", "stage", "end"))
    seconds, counts = None, _counts(last.get("counts"))
    if last["type"] == "end" and counts is not None:
        failed = counts.get("failed") or counts.get("skipped")
        state = "failed" if failed else "unfinished" if counts.get("left") else "done"
        state = "interrupted" if last.get("interrupted") else state
        seconds = last.get("seconds")
    else:
        state = "running" if _alive(head.get("pid"), head.get("host"), head.get("mark")) else "died"
        outcomes = [record.get("outcome") for record in records if record["type"] == "stage"]
        counts = {name: outcomes.count(name) for name in ("ran", "cached", "failed", "skipped")}
    spec, profile, started = (str(head.get(name, "")) for name in ("spec", "profile", "started"))
    seconds = seconds if isinstance(seconds, int | float) else None
    report: dict[str, Any] = next((record for record in reversed(records) if record["type"] == "report"), {})
    return RunSummary(
        *(str(head.get("id", "")), path, spec, profile, started, state, seconds, counts),
        **_question(head),
        claims=_claims(report.get("claims")),
        page=str(report.get("page", "")),
        jobs=tuple(dict.fromkeys(str(record.get("job")) for record in records if record["type"] == "job")),
    )


def _question(head: Mapping[str, Any]) -> dict[str, Any]:
    """What was asked, and where, as far as a header tells it."""
    seeds, commit = head.get("seeds"), head.get("commit")
    lists = {name: head.get(name) for name in ("sets", "argv")}
    return {
        **{name: tuple(map(str, words)) if isinstance(words, list) else () for name, words in lists.items()},
        "seeds": seeds if isinstance(seeds, int) else None,
        "host": str(head.get("host", "")),
        "commit": commit if isinstance(commit, str) else "",
        "dirty": head.get("dirty") is True,
        "file": str(head.get("file", "")),
        "pid": head["pid"] if isinstance(head.get("pid"), int) else None,
        "mark": str(head.get("mark", "")),
    }


def _claims(value: Any) -> ClaimCounts | None:
    counts = _counts(value)
    names = ("held", "failed", "shown")
    return None if counts is None else ClaimCounts(*(counts.get(name, 0) for name in names))


def _counts(value: Any) -> dict[str, int] | None:
    """Numbers of stages by outcome, where that is what is written."""
    if not isinstance(value, dict) or not all(isinstance(count, int) for count in value.values()):
        return None
    return value


def _alive(pid: Any, host: Any, mark: Any) -> bool:
    if host != socket.gethostname():
        return True  # nobody here can tell
    return isinstance(pid, int) and is_alive(pid, str(mark or ""))
