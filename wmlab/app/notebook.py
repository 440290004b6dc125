"""What a notebook shows of a run: its verdict, claims, the metrics that say most, and figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from wmlab.app.figures import ReportFigure
from wmlab.report.claims import claim_rows, columns_of, tally
from wmlab.report.data import Results
from wmlab.report.listing import chosen_entries, listings
from wmlab.report.text import plural

MOST_FIGURES = 4
MOST_ROWS = 24  # of a table of metrics


def results_html(measured: Results, results: Results, figures: Mapping[str, ReportFigure]) -> str:
    """A run at a glance; whatever comes from a spec is escaped."""
    claims = claim_rows(results)
    title = results.get("title") or results.get("spec") or ""
    parts = [Markup("<h4>{}</h4><p>{}</p>").format(title, tally(claims).sentence)]
    if claims:
        columns = columns_of(claims)
        parts.append(
            _table([column.heading for column in columns], [[row.cell(each) for each in columns] for row in claims])
        )
    for listing in listings(measured, chosen_entries(measured)):
        rows = [[*row.labels, *(cell.text for cell in row.cells)] for row in listing.rows]
        parts.append(_table([*listing.heads, *listing.columns], rows[:MOST_ROWS]))
        if len(rows) > MOST_ROWS:
            parts.append(_line(f"{plural(len(rows) - MOST_ROWS, 'more row')}: see frame()"))
    shown = list(figures.values())[:MOST_FIGURES]
    parts += [Markup(figure._repr_html_()) for figure in shown]
    if len(figures) > len(shown):
        parts.append(
            _line(f"{plural(len(figures) - len(shown), 'more figure')}: {', '.join(list(figures)[MOST_FIGURES:])}")
        )
    return str(Markup("\n").join(parts))


def _line(text: str) -> Markup:
    return Markup("<p>{}</p>").format(text)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Markup:
    head = Markup("").join(Markup("<th>{}</th>").format(title) for title in heads)
    body = Markup("").join(
        Markup("<tr>{}</tr>").format(Markup("").join(Markup("<td>{}</td>").format(cell) for cell in row))
        for row in rows
    )
    return Markup("<table><thead><tr>{}</tr></thead><tbody>{}</tbody></table>").format(head, body)
