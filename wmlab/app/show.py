"""What the commands print."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wmlab.graph import show as shown
from wmlab.graph.why import Reason
from wmlab.spec.compose.resolve import PAPER, choose_profile

MOST_FINDINGS = 5  # on the screen; the report has all

if TYPE_CHECKING:
    from wmlab.app.export import Exported
    from wmlab.app.run import Finished
    from wmlab.app.study import Study
    from wmlab.runtime.cache import Cleanup, Row
    from wmlab.runtime.runlog import RunSummary


def show_plan(study: Study, reasons: Mapping[str, Reason], format: str, verbose: bool) -> str:
    """The plan of a study in one of the formats."""
    if format == "mermaid":
        return shown.as_mermaid(study.graph, reasons, verbose=verbose).rstrip()
    if format == "dot":
        return shown.as_dot(study.graph, reasons, verbose=verbose).rstrip()
    if format == "json":
        head = {"spec": study.name, "profile": study.profile}
        return json.dumps(head | shown.as_json(study.graph, reasons, study.keys), indent=1, ensure_ascii=False)
    return f"{headline(study)}\n{shown.as_text(study.graph, reasons, study.keys, verbose=verbose)}".rstrip()


def headline(study: Study) -> str:
    members = f", {len(study.plans)} specs" if study.is_suite else ""
    default = " (the spec's default; --profile paper is the paper's own)" if is_default(study) else ""
    return f"{study.name}: profile {study.profile}{default}{members}"


def is_default(study: Study) -> bool:
    return study.profile != PAPER and study.profile == choose_profile(study.resolved.document, None)


def show_resolved(study: Study, format: str) -> str:
    """Every value of a resolved spec beside the place that it comes from."""
    from wmlab.app.drawings.pages import resolved_rows

    tables = {plan.resolved.name or "": list(resolved_rows(plan.resolved)) for plan in study.plans}
    if format == "json":
        data = {name: [vars(row) for row in rows] for name, rows in tables.items()}
        return json.dumps(data if study.is_suite else data[study.name], indent=1, ensure_ascii=False)
    lines = []
    for name, rows in tables.items():
        width = max((len(row.path) for row in rows), default=0)
        values = [one_line(row.value) for row in rows]
        room = min(max((len(value) for value in values), default=0), 40)
        lines.append(f"{name}: profile {study.profile}")
        for row, value in zip(rows, values, strict=True):
            paper = f"   (paper: {one_line(row.paper_value)})" if row.changed else ""
            lines.append(f"  {row.path:<{width}}  {value:<{room}}  {row.source}{paper}")
    return "\n".join(lines)


def one_line(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = " ".join(text.split())
    return text if len(text) <= 60 else text[:57] + "…"


def announce(study: Study) -> None:
    print(headline(study), file=sys.stderr)


def show_finished(finished: Finished) -> None:
    """The claims and the path of the report; a table on a terminal, aligned text elsewhere."""
    from rich.console import Console

    from wmlab.report.console import claims_table, claims_text

    written = finished.written
    for results in (*written.members, written.results):
        if results["claims"] or not written.members:
            if sys.stdout.isatty() and results["claims"]:
                console = Console()
                console.print(results["spec"], style="bold", markup=False)
                console.print(claims_table(results))
            else:
                print(claims_text(results))
        for finding in results.get("findings", ())[:MOST_FINDINGS]:
            print(f"note: {finding}")
    print(f"report: {relative(written.page)}")


def relative(path: Path) -> str:
    found = os.path.relpath(path)
    return str(path) if found.startswith("..") else found


def show_exported(study: Study, found: Exported) -> None:
    """The folders that were written, and what had nothing to give."""
    for folder in found.folders:
        print(relative(folder))
    for label in found.missing:
        print(f"wmlab: nothing stored of {label}; run {study.name} to compute it", file=sys.stderr)


def show_runs(runs: Sequence[RunSummary]) -> None:
    from wmlab.runtime.cache import format_duration

    rows = [
        (
            run.started[:19].replace("T", " "),
            run.spec,
            run.profile,
            run.state,
            format_duration(run.seconds) if run.seconds is not None else "",
            ", ".join(f"{count} {name}" for name, count in run.counts.items() if count),
        )
        for run in runs
    ]
    table(("started", "spec", "profile", "state", "took", "stages"), rows, "no runs yet")


def show_cache(rows: Sequence[Row]) -> None:
    from wmlab.runtime.cache import format_duration, format_size

    lines = [(row.key[:12], format_size(row.size), format_duration(row.last_used), row.label) for row in rows]
    table(("key", "size", "last used", "stage"), lines, "the cache is empty")
    if rows:
        print(f"{len(rows)} entries, {format_size(sum(row.size for row in rows))}")


def show_cleanup(cleanup: Cleanup) -> None:
    from wmlab.runtime.cache import format_size

    word = "would remove" if cleanup.dry_run else "removed"
    for row in cleanup.removed:
        print(f"{row.key[:12]}  {row.label}")
    print(
        f"{word} {len(cleanup.removed)} entries and {cleanup.leftovers} leftovers ({format_size(cleanup.freed)}); "
        f"{cleanup.kept} entries stay"
        + (f", {cleanup.in_use} of them because they are in use" if cleanup.in_use else "")
    )


def table(head: Sequence[str], rows: Sequence[Sequence[str]], empty: str) -> None:
    if not rows:
        print(empty)
        return
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    for row in [head, *rows]:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
