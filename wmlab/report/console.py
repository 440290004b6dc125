"""The claims on the screen, at the end of a run."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from wmlab.report.claims import ClaimRow, claim_rows, tally
from wmlab.report.data import Results
from wmlab.report.names import printable

COLUMNS = ("claim", "test", "paper", "measured", "verdict")
STYLES = {"holds": "green", "fails": "bold red", "shown": "dim"}


def _columns(claims: Sequence[ClaimRow]) -> list[str]:
    """The paper has a column where it says something of a claim."""
    said = any(row.paper != "–" for row in claims)
    return [column for column in COLUMNS if said or column != "paper"]


def claims_table(results: Results) -> Table:
    """The claims of a run as a Rich table: what is tested, the paper's figure, ours, the verdict."""
    table = Table(box=SIMPLE_HEAD, title_justify="left", caption_justify="left", pad_edge=False)
    claims = claim_rows(results)
    columns = _columns(claims)
    for column in columns:
        right = column in ("paper", "measured")
        table.add_column(column, justify="right" if right else "left", no_wrap=column != "test", overflow="fold")
    for row in claims:
        style = STYLES[row.verdict]
        test = Text(printable(row.words))
        if row.reason:
            test.append(f"\n{printable(row.reason)}", style="red")
        verdict = Text(f"{row.mark} {row.verdict}", style=style)
        paper = [Text(row.paper)] if "paper" in columns else []
        table.add_row(Text(printable(row.id)), test, *paper, Text(row.measured), verdict)
    table.caption = Text(printable(tally(results).sentence))
    return table


def claims_text(results: Results) -> str:
    """The same as plain text with aligned columns, for logs and pipes."""
    claims = claim_rows(results)
    kept = [position for position, column in enumerate(COLUMNS) if column in _columns(claims)]
    rows = [COLUMNS] + [
        (printable(row.id), printable(row.words + (f" [{row.reason}]" if row.reason else "")), row.paper, row.measured,
         f"{row.mark} {row.verdict}")
        for row in claims
    ]  # fmt: skip
    widths = [max(len(row[column]) for row in rows) for column in range(len(COLUMNS))]
    lines = [
        "  ".join(cell.rjust(width) if column in (2, 3) else cell.ljust(width)
                  for column, (cell, width) in enumerate(zip(row, widths, strict=True)) if column in kept).rstrip()
        for row in rows
    ]  # fmt: skip
    sentence = printable(tally(results).sentence)
    return "\n".join([*lines, sentence] if len(rows) > 1 else [sentence])
