"""The claims on the screen, at the end of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wmlab.report.claims import ClaimRow, Column, claim_rows, columns_of, tally
from wmlab.report.data import Results
from wmlab.report.names import printable

if TYPE_CHECKING:
    from rich.table import Table

STYLES = {"holds": "green", "fails": "bold red", "shown": "dim"}


def cell(row: ClaimRow, column: Column) -> str:
    """What a claim has in a column."""
    return f"{row.mark} {row.verdict}" if column.field == "verdict" else printable(getattr(row, column.field))


def claims_table(results: Results) -> Table:
    """The claims of a run as a Rich table: what is tested, the paper's figure, ours, the verdict."""
    from rich.box import SIMPLE_HEAD  # not needed where the claims are printed as text
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, title_justify="left", caption_justify="left", pad_edge=False)
    claims = claim_rows(results)
    columns = columns_of(claims)
    for column in columns:
        table.add_column(
            column.title,
            justify="right" if column.number else "left",
            no_wrap=column.field != "words",
            overflow="fold",
        )
    for row in claims:
        cells = {column.field: Text(cell(row, column)) for column in columns}
        cells["verdict"].stylize(STYLES[row.verdict])
        if row.reason:
            cells["words"].append(f"\n{printable(row.reason)}", style="red")
        table.add_row(*cells.values())
    table.caption = Text(printable(tally(results).sentence))
    return table


def claims_text(results: Results) -> str:
    """The same as plain text with aligned columns, for logs and pipes."""
    claims = claim_rows(results)
    columns = columns_of(claims)
    lines = [[column.title for column in columns]]
    for row in claims:
        reason = {"words": f" [{printable(row.reason)}]"} if row.reason else {}
        lines.append([cell(row, column) + reason.get(column.field, "") for column in columns])
    widths = [max(len(line[i]) for line in lines) for i in range(len(columns))]
    aligned = [
        [text.rjust(width) if column.number else text.ljust(width) for text, width, column in parts]
        for parts in (zip(line, widths, columns, strict=True) for line in lines)
    ]
    sentence = printable(tally(results).sentence)
    return "\n".join([*("  ".join(line).rstrip() for line in aligned), sentence] if claims else [sentence])
