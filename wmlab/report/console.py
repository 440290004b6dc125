"""The claims on the screen, at the end of a run."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from wmlab.report.claims import claim_rows, tally
from wmlab.report.data import Results
from wmlab.report.names import printable

COLUMNS = ("claim", "test", "paper", "measured", "verdict")
STYLES = {"holds": "green", "fails": "bold red", "shown": "dim"}


def claims_table(results: Results) -> Table:
    """The claims of a run as a Rich table: what is tested, the paper's figure, ours, the verdict."""
    table = Table(box=SIMPLE_HEAD, title_justify="left", caption_justify="left", pad_edge=False)
    for column in COLUMNS:
        right = column in ("paper", "measured")
        table.add_column(column, justify="right" if right else "left", no_wrap=column != "test", overflow="fold")
    for row in claim_rows(results):
        style = STYLES[row.verdict]
        test = Text(printable(row.words))
        if row.reason:
            test.append(f"\n{printable(row.reason)}", style="red")
        verdict = Text(f"{row.mark} {row.verdict}", style=style)
        table.add_row(Text(printable(row.id)), test, Text(row.paper), Text(row.measured), verdict)
    table.caption = Text(printable(tally(results).sentence))
    return table


def claims_text(results: Results) -> str:
    """The same as plain text with aligned columns, for logs and pipes."""
    rows = [COLUMNS] + [
        (printable(row.id), printable(row.words + (f" [{row.reason}]" if row.reason else "")), row.paper, row.measured,
         f"{row.mark} {row.verdict}")
        for row in claim_rows(results)
    ]  # fmt: skip
    widths = [max(len(row[column]) for row in rows) for column in range(len(COLUMNS))]
    lines = [
        "  ".join(cell.rjust(width) if column in (2, 3) else cell.ljust(width)
                  for column, (cell, width) in enumerate(zip(row, widths, strict=True))).rstrip()
        for row in rows
    ]  # fmt: skip
    sentence = printable(tally(results).sentence)
    return "\n".join([*lines, sentence] if len(rows) > 1 else [sentence])
