"""The head of a page: whether claims hold and, claims or not, what is wrong with the reading."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wmlab.report.claims import MARKS, ClaimRow, tally
from wmlab.report.data import Results

LOOKS = {"failed": "bad", "doubtful": "doubt", "note": "none"}
SIGNS = {"bad": MARKS["fails"], "good": MARKS["holds"], "doubt": "!", "none": MARKS["shown"]}
WORDS = {"failed": "The reading failed", "doubtful": "The reading is doubtful", "note": "Note"}


@dataclass(frozen=True)
class Headline:
    """The verdict over a run, in a sentence and a look."""

    look: str  # bad, doubt, good or none
    sentence: str
    worst: str = ""  # the finding that comes first

    @property
    def mark(self) -> str:
        """A sign that tells it without colour."""
        return SIGNS[self.look]


def headline(claims: Sequence[ClaimRow], results: Results) -> Headline:
    """Claims decide the look where they test something; otherwise the worst finding does."""
    counted, found = tally(claims), results.get("findings") or ()
    worst = next(iter(found), None)
    told = "" if worst is None else f"{WORDS[worst['severity']]}{_extent(worst)}: {worst['sentence']}"
    if counted.failing or any(row.get("state") != "not run" for row in results.get("failures") or ()):
        return Headline("bad", counted.sentence, told)
    if results.get("missing"):
        return Headline("none", f"{counted.sentence} Not everything has been run.", told)
    if counted.tested:
        return Headline("good", counted.sentence, told)
    if worst is None:
        return Headline("none", f"{counted.sentence} Nothing that was measured speaks against this reading.")
    gravest = min((one["severity"] for one in found), key=list(LOOKS).index)
    return Headline(LOOKS[gravest], counted.sentence, told)


def _extent(finding: dict[str, object]) -> str:
    points, of = finding["points"], finding["of"]
    return "" if points == of else f" at {points} of {of} points"
