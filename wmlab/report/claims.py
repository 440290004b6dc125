"""Claims in words: what is tested, what the paper says, what was measured, and whether it holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wmlab.report.claim_words import operator_of, part_text, step_text, words
from wmlab.report.data import Results
from wmlab.report.text import MISSING, apart, compact, exact, finite, grouped, number, point, stated, uncertain

MOST_CASES = 60  # of one claim, that a page shows; results.json has all
MARKS = {"holds": "✓", "fails": "✗", "shown": "○", "open": "…"}


@dataclass(frozen=True)
class Column:
    """A column of the claims table, on the screen and on a page."""

    field: str  # of ClaimRow
    title: str  # on the screen
    heading: str  # on a page
    number: bool = False  # aligned to the right
    may_lack: bool = False  # left out where no claim has anything in it


# A new column is a field of ClaimRow and a line here.
COLUMNS = (
    Column("id", "claim", "Claim"),
    Column("words", "test", "What is tested"),
    Column("paper", "paper", "Paper", number=True, may_lack=True),
    Column("measured", "measured", "Measured", number=True),
    Column("verdict", "verdict", "Verdict"),
)


@dataclass(frozen=True)
class CaseRow:
    """One of the comparisons that a claim consists of."""

    place: str
    measured: str
    exact: str
    bound: str
    holds: bool | None


@dataclass(frozen=True)
class ClaimRow:
    """One claim as it is printed."""

    id: str
    words: str
    paper: str
    measured: str
    exact: str  # full precision
    verdict: str  # holds, fails, shown, or open where points that it speaks of have not been run
    source: str = ""
    reason: str = ""
    mark_of_doubt: str = ""  # what speaks against reading anything into the verdict
    cases: tuple[CaseRow, ...] = ()  # those that are shown, failing ones first
    count: int = 0  # of all cases
    failing: int = 0  # of these

    @property
    def mark(self) -> str:
        """A sign that tells the verdict without colour."""
        return MARKS[self.verdict]

    def cell(self, column: Column) -> str:
        """What it has in a column, on the screen."""
        if column.field != "verdict":
            return str(getattr(self, column.field))
        return f"{self.mark} {self.verdict}" + (", not identified" if self.mark_of_doubt else "")


@dataclass(frozen=True)
class ClaimTally:
    """How many claims hold, of those that test something."""

    held: int
    tested: int
    shown: int
    failing: tuple[str, ...]
    open: tuple[str, ...] = ()

    @property
    def count(self) -> str:
        """The verdict in a few words."""
        return f"Claims hold: {self.held} of {self.tested}." if self.tested else "No claim is tested here."

    @property
    def sentence(self) -> str:
        """The verdict in a line, with the names of those that fail."""
        failing = f" Not so: {', '.join(self.failing)}." if self.failing else ""
        return self.count + failing + (f" Open until more is run: {', '.join(self.open)}." if self.open else "")


def tally(rows: Sequence[ClaimRow]) -> ClaimTally:
    """The verdict over claims."""
    failing = tuple(row.id for row in rows if row.verdict == "fails")
    shown = sum(row.verdict == "shown" for row in rows)
    waiting = tuple(row.id for row in rows if row.verdict == "open")
    tested = len(rows) - shown - len(waiting)
    return ClaimTally(tested - len(failing), tested, shown, failing, waiting)


def columns_of(rows: Sequence[ClaimRow]) -> list[Column]:
    """The columns that say something of at least one claim."""
    return [each for each in COLUMNS if not each.may_lack or any(getattr(row, each.field) != MISSING for row in rows)]


def claim_rows(results: Results) -> list[ClaimRow]:
    """Every claim in the order of the spec."""
    return [_row(claim, results) for claim in results.get("claims") or ()]


def _row(claim: Mapping[str, Any], results: Results) -> ClaimRow:
    holds = claim.get("holds")
    operator, _ = operator_of(claim)
    measured, error = claim.get("measured"), standard_error(claim, results)
    shown = _against(measured, claim.get("bound"))
    if error is not None:
        both = uncertain(measured, error)
        # The digits that decide come first: keep the ± form only where it still shows the side of the bound.
        shown = both if shown == number(measured) else f"{shown} ± {number(error, 2)}"
    verdict = "shown" if holds is None and not operator else "holds" if holds else "fails"
    verdict = "open" if claim.get("open") else verdict
    ordered = sorted(claim.get("cases") or (), key=lambda case: case.get("holds") is not False)
    return ClaimRow(
        id=str(claim.get("id", "")),
        words=words(claim, results),
        paper=stated(claim.get("paper")) + paper_interval(claim),
        measured=shown,
        exact=exact(measured),
        verdict=verdict,
        source=str(claim.get("source") or ""),
        reason=str(claim.get("reason") or ""),
        mark_of_doubt=str(claim.get("not_identified") or ""),
        cases=_cases(ordered, results.get("steps") or ()),
        count=len(ordered),
        failing=sum(case.get("holds") is False for case in ordered),
    )


def paper_interval(claim: Mapping[str, Any]) -> str:
    """The interval that a paper gives: ' [−0.99, −0.95]'; empty where it gives none."""
    ends = claim.get("paper_interval")
    return f" [{stated(ends[0])}, {stated(ends[1])}]" if ends else ""


def standard_error(claim: Mapping[str, Any], results: Results) -> float | None:
    """The standard error of what a claim measured, where that is one mean over seeds."""
    where = dict(claim.get("where") or {})
    if where.pop("step", "final") != "final" or claim.get("statistic", "mean") != "mean":
        return None
    if claim.get("across") or claim.get("difference"):
        return None
    for entry in (results.get("metrics") or {}).values():
        if entry.get("metric") == claim.get("metric") and point(entry.get("where") or {}) == point(where):
            by, whole = claim.get("by") or {}, entry.get("by") or {}
            parts = [one for name in by for one in (whole.get(name) or {}).values()] if by else [entry]
            found: Mapping[str, Any] = next((one for one in parts if one.get("mean") == claim.get("measured")), {})
            error = found.get("se_over_seeds")
            return error if finite(error) and (found.get("n") or 0) > 1 else None
    return None


def _against(measured: Any, bound: Any) -> str:
    if isinstance(bound, Sequence) and not isinstance(bound, str):
        return max((apart(measured, limit) for limit in bound), key=len, default=number(measured))
    return apart(measured, bound)


def _cases(ordered: Sequence[Mapping[str, Any]], steps: Sequence[int]) -> tuple[CaseRow, ...]:
    """The first of the cases in words: there may be thousands."""
    rows = []
    for case in ordered[:MOST_CASES]:
        bound, measured, step = case.get("bound"), case.get("measured"), case.get("step")
        place = [point(case.get("where") or {}), part_text(case.get("by")).removeprefix(" of ")]
        if isinstance(step, int) and 0 <= step < len(steps):
            place.append(f"step {grouped(steps[step])}")
        elif step is not None:
            place.append(step_text(step))
        if case.get("seed") is not None:
            place.append(f"seed {compact(case['seed'])}")
        shown = " to ".join(map(stated, bound)) if isinstance(bound, (list, tuple)) else stated(bound)
        text = ", ".join(part for part in place if part) or "the only point"
        rows.append(CaseRow(text, _against(measured, bound), exact(measured), shown, case.get("holds")))
    return tuple(rows)
