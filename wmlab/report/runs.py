"""The page of all runs: newest first, with their claims and a picture, to be searched and sorted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wmlab.report.scripts import script
from wmlab.report.template import draw_template
from wmlab.report.text import duration, moment, plural

MARK = '<meta name="generator" content="wmlab: all runs">'  # of a file that may be written over
HERE = "'self' file: data:"  # where pictures come from: files beside the page


@dataclass(frozen=True)
class RunRow:
    """One run as the page shows it."""

    id: str
    spec: str
    profile: str
    started: str  # as it is stored
    state: str
    changed: str = ""  # on the command line
    seeds: int | None = None
    held: int | None = None  # claims; None where no report was written
    failed: int = 0
    shown: int = 0
    seconds: float | None = None
    machine: str = ""
    commit: str = ""
    link: str = ""  # to its page; empty where there is none any more
    picture: str = ""  # to one of its figures

    @property
    def verdict(self) -> str:
        """How the row looks: a failure, claims that hold, or nothing tested."""
        if self.failed or self.state in ("failed", "died"):
            return "fails"
        return "holds" if self.held else "shown"

    @property
    def claims(self) -> str:
        if self.held is None:
            return ""
        counts = ((self.held, "held"), (self.failed, "failed"), (self.shown, "shown"))
        return ", ".join(f"{count} {word}" for count, word in counts if count) or "none"

    @property
    def when(self) -> str:
        return moment(self.started)

    @property
    def took(self) -> str:
        return "" if self.seconds is None else duration(self.seconds)


def render_runs(rows: Sequence[RunRow]) -> bytes:
    """The page, from rows with the newest run first."""
    specs = len({row.spec for row in rows})
    sentence = f"{plural(len(rows), 'run')} of {plural(specs, 'spec')}" if rows else "No runs yet"
    failed = sum(row.verdict == "fails" for row in rows)
    return draw_template(
        "runs.html.j2",
        scripts=(script("runs"),) if rows else (),
        images=HERE,
        rows=rows,
        sentence=sentence,
        failed=failed,
        mark=MARK,
    )
