"""The tables of a page as files beside it: CSV with every digit, and LaTeX for a paper."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from wmlab.errors import visible
from wmlab.report.claims import ClaimRow, columns_of
from wmlab.report.data import Results
from wmlab.report.latex import latex_number, latex_table, latex_text
from wmlab.report.listing import chosen_entries, listings
from wmlab.report.listing_formats import as_csv, as_latex
from wmlab.report.template import page_bytes
from wmlab.report.text import MISSING

FOLDER = "tables"


def table_files(results: Results, claims: Sequence[ClaimRow], specs: Sequence[str] = ()) -> dict[str, bytes]:
    """The files of a page's tables by their paths in its folder; `specs` are those of the claims, in a suite."""
    texts: dict[str, str] = {}
    if claims:
        texts |= {"claims.csv": claims_csv(claims, specs), "claims.tex": claims_latex(claims, specs)}
    entries = chosen_entries(results, everything=True)
    related = [entry for entry in entries if str(entry["metric"]).startswith("relate.")]
    for name, chosen in (("metrics", [one for one in entries if one not in related]), ("relations", related)):
        if chosen:
            tables = listings(results, chosen)
            texts |= {f"{name}.csv": as_csv(tables), f"{name}.tex": as_latex(tables)}
    return {f"{FOLDER}/{name}": page_bytes(f"{text}\n") for name, text in texts.items()}


def claims_csv(claims: Sequence[ClaimRow], specs: Sequence[str]) -> str:
    """Claims with what was measured of them in full."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*(["spec"] if specs else []), "claim", "tested", "paper", "measured", "verdict", "source"])
    for place, claim in enumerate(claims):
        told = (claim.id, claim.words, claim.paper, claim.exact, claim.verdict, claim.source)
        row = [*([specs[place]] if specs else []), *told]
        writer.writerow(["" if text == MISSING else visible(text) for text in row])
    return out.getvalue().rstrip("\n")


def claims_latex(claims: Sequence[ClaimRow], specs: Sequence[str]) -> str:
    """Claims as the page shows them."""
    columns = columns_of(claims)
    rows = []
    for place, claim in enumerate(claims):
        cells = [(str(getattr(claim, column.field)), column.number) for column in columns]
        told = [latex_number(text) if number else latex_text(text) for text, number in cells]
        rows.append([*([latex_text(specs[place])] if specs else []), *told])
    heads = [*(["Spec"] if specs else []), *(column.heading for column in columns)]
    marks = "l" * bool(specs) + "".join("r" if column.number else "l" for column in columns)
    return "\n".join(latex_table(marks, heads, rows))
