"""Listings as others read them: records of JSON, CSV, LaTeX and Markdown."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Sequence
from typing import Any

from wmlab.errors import visible
from wmlab.report.data import Results
from wmlab.report.latex import latex_number, latex_table, latex_text
from wmlab.report.listing import Entry, Listing
from wmlab.report.text import MISSING

KEPT = ("metric", "where", "mean", "se_over_seeds", "value", "ci", "n", "values")


def as_json(results: Results, entries: Sequence[Entry]) -> str:
    """The results as they are stored: every digit, and the value of each seed."""
    head: dict[str, Any] = {name: results.get(name) for name in ("spec", "profile", "sets", "seeds")}
    rows = [{name: entry[name] for name in KEPT if name in entry} for entry in entries]
    return json.dumps({**head, "metrics": rows}, indent=1, ensure_ascii=False)


def as_csv(tables: Sequence[Listing]) -> str:
    """Every digit, with standard errors and numbers of seeds in columns of their own; an empty line between tables."""
    return "\n".join(_csv(table) for table in tables).rstrip("\n")


def _csv(table: Listing) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    names = ["" if column == "value" else f"{column} " for column in table.columns]
    parts = [part for name in names for part in (name.strip() or "mean", f"{name}se_over_seeds", f"{name}n")]
    writer.writerow([visible(title) for title in (*table.heads, *parts)])
    for row in table.rows:
        labels = ["" if label == MISSING else visible(label) for label in row.labels]
        numbers = [part for cell in row.cells for part in (cell.value, cell.error, cell.n)]
        writer.writerow([*labels, *("" if part is None else part for part in numbers)])
    return out.getvalue()


def as_markdown(tables: Sequence[Listing]) -> str:
    """Tables as Markdown has them, numbers to the right."""
    return "\n\n".join("\n".join(_markdown(table)) for table in tables)


def _markdown(table: Listing) -> list[str]:
    def line(cells: Sequence[str]) -> str:
        return f"| {' | '.join(cells)} |"

    rows = [
        [*map(_markdown_text, row.labels), *(_markdown_text(cell.text) for cell in row.cells)] for row in table.rows
    ]
    head = [_markdown_text(title) for title in (*table.heads, *table.columns)]
    marks = ["---"] * len(table.heads) + ["---:"] * len(table.columns)
    return [line(head), f"|{'|'.join(marks)}|", *map(line, rows)]


def _markdown_text(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", visible(text))


def as_latex(tables: Sequence[Listing]) -> str:
    """Tables for a paper, with the rules of the package booktabs."""
    return "\n\n".join("\n".join(_latex(table)) for table in tables)


def _latex(table: Listing) -> list[str]:
    rows = [[*map(latex_text, row.labels), *(latex_number(cell.text) for cell in row.cells)] for row in table.rows]
    return latex_table("l" * len(table.heads) + "r" * len(table.columns), (*table.heads, *table.columns), rows)
