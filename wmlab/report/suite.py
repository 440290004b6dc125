"""The page over a suite: a line for each spec, all claims in one table, and bars of several specs in one grid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wmlab.report.claims import MARKS, ClaimRow, ClaimTally, claim_rows, tally
from wmlab.report.data import Results, SuiteRow
from wmlab.report.series import Bars, bars, describe_bars
from wmlab.report.text import MISSING, duration, plural

MOST_ROWS = 6  # more do not fit on a page


def suite_context(rows: Sequence[SuiteRow], title: str, results: Results) -> dict[str, Any]:
    """What the suite's template shows."""
    whole = (results.get("provenance") or {}).get("seconds")
    own = claim_rows(results)
    members = [claim_rows(row.results or {}) for row in rows]
    claims = [(row, claim) for row, each in zip(rows, members, strict=True) for claim in each]
    counted = tally([*own, *(claim for _, claim in claims)])
    specs = [_spec(row, tally(each), whole) for row, each in zip(rows, members, strict=True)]
    missing = sum(row.results is None for row in rows)
    apart = sum(_seconds(row.results or {}, None) or 0.0 for row in rows)
    return {
        "title": title,
        "tables": tables(claims, results),
        "specs": specs,
        "own": own,
        "claims": [claim for _, claim in claims],
        "claim_specs": [row.name for row, _ in claims],
        "findings": [(row, found) for row in rows if (found := (row.results or {}).get("findings"))],
        "tested": counted.tested,
        "bad": bool(counted.failing) or any(spec["verdict"] == "fails" for spec in specs),
        "sentence": counted.count,
        "facts": [
            plural(len(rows), "spec"),
            *([f"{missing} not run"] if missing else []),
            duration(apart if whole is None else whole),
        ],
    }


def tables(claims: Sequence[tuple[SuiteRow, ClaimRow]], results: Results) -> list[dict[str, Any]]:
    """The tables that the suite asks for: each cell says something and shows the claims that bear it out."""
    by_name = {f"{row.name}.{claim.id}": (row, claim) for row, claim in claims}
    made = []
    for table in (results.get("report") or {}).get("tables") or ():
        rows = [{**row, "cells": [_cell(cell, by_name) for cell in row["cells"]]} for row in table["rows"]]
        made.append({**table, "rows": rows})
    return made


def _cell(cell: Mapping[str, Any], claims: Mapping[str, tuple[SuiteRow, ClaimRow]]) -> dict[str, Any]:
    """One cell; it holds when every claim of it was tested and holds."""
    evidence = []
    for name in cell["claims"]:
        absent = ClaimRow(name.partition(".")[2], "not tested here", "", "", "", "shown")
        row, claim = claims.get(name, (None, absent))
        evidence.append((row.link if row else "", claim))
    verdicts = {claim.verdict for _, claim in evidence}
    verdict = "fails" if "fails" in verdicts else "holds" if verdicts == {"holds"} else "shown"
    return {"says": cell["says"], "source": cell["source"], "evidence": evidence, "verdict": verdict}


def _spec(row: SuiteRow, counted: ClaimTally, whole: float | None) -> dict[str, Any]:
    """The line of one spec."""
    if row.results is None:
        known = {"name": row.name, "profile": row.profile, "note": row.note}
        missing = {"title": "", "seeds": MISSING, "claims": "not run", "link": "", "seconds": None}
        return {**known, **missing, "mark": MARKS["shown"], "verdict": "shown"}
    failures = len(row.results.get("failures") or ())
    verdict = "fails" if counted.failing or failures else "holds" if counted.tested else "shown"
    failing = f"not so: {', '.join(counted.failing)}" if counted.failing else ""
    notes = [failing, plural(failures, "failure") if failures else "", row.note]
    return {
        "name": row.name,
        "title": row.results.get("title") or "",
        "profile": row.profile,
        "seeds": len(row.results.get("seeds") or ()),
        "claims": f"{counted.held} of {counted.tested} hold" if counted.tested else "none tested",
        "mark": MARKS[verdict],
        "verdict": verdict,
        "link": row.link,
        "note": "; ".join(note for note in notes if note),
        "seconds": _seconds(row.results, whole),
    }


def _seconds(results: Results, whole: float | None) -> float | None:
    """What a spec's own stages took. Of a run that did not say so, its time, unless it ran the whole suite as one."""
    provenance = results.get("provenance") or {}
    if provenance.get("stage_seconds") is not None:
        return float(provenance["stage_seconds"])
    seconds = provenance.get("seconds")
    return None if seconds == whole else seconds


# --- figures ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SuiteBars:
    """Optimal returns against those of the policies planned in models, of specs that vary the same axis."""

    x_label: str
    names: tuple[str, ...]  # of the specs, without what all of them begin with
    rows: tuple[tuple[Bars, ...], ...]  # a row for each spec, a panel for each unseen goal
    seeds: tuple[int, ...]  # how many, of each spec
    left_out: int = 0


def suite_bars(rows: Sequence[SuiteRow]) -> list[SuiteBars]:
    """A figure for each axis along which at least two specs of a suite have returns on unseen goals."""
    by_axis: dict[str, list[tuple[SuiteRow, list[Bars]]]] = {}
    for row in rows:
        charts = bars(row.results) if row.results else []
        if charts:
            by_axis.setdefault(charts[0].x_label, []).append((row, charts))
    return [_suite_bars(axis, members) for axis, members in by_axis.items() if len(members) > 1]


def _suite_bars(axis: str, members: Sequence[tuple[SuiteRow, list[Bars]]]) -> SuiteBars:
    drawn = members[:MOST_ROWS]
    return SuiteBars(
        axis,
        _short([row.name for row, _ in drawn]),
        tuple(tuple(charts) for _, charts in drawn),
        tuple(len((row.results or {}).get("seeds") or ()) for row, _ in drawn),
        len(members) - len(drawn),
    )


def _short(names: Sequence[str]) -> tuple[str, ...]:
    """Names without the words that all of them begin with."""
    words = [name.split("_") for name in names]
    shared = 0
    while all(len(parts) > shared + 1 and parts[shared] == words[0][shared] for parts in words):
        shared += 1
    return tuple("_".join(parts[shared:]) for parts in words)


def describe_suite_bars(figure: SuiteBars) -> str:
    """The figure in sentences, for those who do not see it."""
    return " ".join(
        f"{name}: {describe_bars(chart)}"
        for name, charts in zip(figure.names, figure.rows, strict=True)
        for chart in charts
    )


def suite_bars_caption(figure: SuiteBars) -> str:
    """What the bars are, over how many seeds."""
    counts = set(figure.seeds)
    many = plural(max(counts), "seed") if len(counts) == 1 else "the seeds of each spec"
    spread = "one seed" if counts == {1} else f"mean ± standard error over {many}"
    left = f" {plural(figure.left_out, 'further spec')} not drawn." if figure.left_out else ""
    return (
        "Optimal return against that of the policy planned in the extracted model, a row for each spec and a panel for"
        f" each unseen goal; {spread}.{left}"
    )
