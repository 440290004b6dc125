"""The page over a suite: a line for each spec, and all claims in one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from wmlab.report.claims import MARKS, ClaimRow, claim_rows, tally
from wmlab.report.data import Results, SuiteRow
from wmlab.report.numbers import duration, plural


def suite_context(rows: Sequence[SuiteRow], title: str, results: Results | None) -> dict[str, Any]:
    """What the suite's template shows."""
    whole = ((results or {}).get("provenance") or {}).get("seconds")
    specs = [_spec(row, whole) for row in rows]
    own = claim_rows(results) if results else []
    of_specs = [(row.name, claim) for row in rows if row.results for claim in claim_rows(row.results)]
    every = own + [claim for _, claim in of_specs]
    tested = [claim for claim in every if claim.verdict != "shown"]
    held = sum(claim.verdict == "holds" for claim in tested)
    missing = sum(row.results is None for row in rows)
    apart = sum((row.results.get("provenance") or {}).get("seconds") or 0.0 for row in rows if row.results)
    return {
        "title": title,
        "tables": tables(rows, results or {}),
        "specs": specs,
        "own": own,
        "claims": [claim for _, claim in of_specs],
        "claim_specs": [name for name, _ in of_specs],
        "tested": len(tested),
        "bad": held < len(tested) or any(spec["verdict"] == "fails" for spec in specs),
        "sentence": _sentence(held, tested),
        "facts": [
            plural(len(rows), "spec"),
            *([f"{missing} not run"] if missing else []),
            duration(apart if whole is None else whole),
        ],
    }


def tables(rows: Sequence[SuiteRow], results: Results) -> list[dict[str, Any]]:
    """The tables that the suite asks for: each cell says something and shows the claims that bear it out."""
    claims = {
        f"{row.name}.{claim.id}": (row, claim) for row in rows if row.results for claim in claim_rows(row.results)
    }
    made = []
    for table in (results.get("report") or {}).get("tables") or ():
        lines = [
            {"name": row["name"], "cells": [_cell(cell, claims) for cell in row["cells"]]} for row in table["rows"]
        ]
        made.append({**table, "rows": lines})
    return made


def _cell(cell: Mapping[str, Any], claims: Mapping[str, tuple[SuiteRow, ClaimRow]]) -> dict[str, Any]:
    """One cell; it holds when every claim of it was tested and holds."""
    evidence = []
    for name in cell["claims"]:
        spec, _, claim = name.partition(".")
        row, found = claims.get(name, (None, None))
        missing = {"spec": spec, "id": claim, "link": row.link if row else "", "mark": MARKS["shown"]}
        if found is None:
            evidence.append({**missing, "verdict": "shown", "words": "not tested here", "measured": "", "exact": ""})
        else:
            seen = {"verdict": found.verdict, "mark": found.mark, "words": found.words}
            evidence.append({**missing, **seen, "measured": found.measured, "exact": found.exact})
    verdicts = {one["verdict"] for one in evidence}
    verdict = "fails" if "fails" in verdicts else "holds" if verdicts == {"holds"} else "shown"
    return {"says": cell["says"], "source": cell["source"], "evidence": evidence, "verdict": verdict}


def _sentence(held: int, tested: Sequence[ClaimRow]) -> str:
    return f"Claims hold: {held} of {len(tested)}." if tested else "No claim is tested here."


def _spec(row: SuiteRow, whole: float | None = None) -> dict[str, Any]:
    """The line of one spec; its time is left out where it is that of the whole suite, run as one."""
    if row.results is None:
        return {"name": row.name, "title": "", "profile": row.profile, "seeds": "–", "claims": "not run", "mark": "○",
                "verdict": "shown", "link": "", "note": row.note, "seconds": None}  # fmt: skip
    counted = tally(row.results)
    failures = len(row.results.get("failures") or ())
    verdict = "fails" if counted.failing or failures else "holds" if counted.tested else "shown"
    said = f"{counted.held} of {counted.tested} hold" if counted.tested else "none tested"
    notes = [f"not so: {', '.join(counted.failing)}" if counted.failing else "",
             plural(failures, "failure") if failures else "", row.note]  # fmt: skip
    seconds = (row.results.get("provenance") or {}).get("seconds")
    return {
        "name": row.name,
        "title": row.results.get("title") or "",
        "profile": row.profile,
        "seeds": len(row.results.get("seeds") or ()),
        "claims": said,
        "mark": MARKS[verdict],
        "verdict": verdict,
        "link": row.link,
        "note": "; ".join(note for note in notes if note),
        "seconds": None if seconds == whole else seconds,
    }
