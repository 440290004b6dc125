"""Tables of a suite against its members: cells that fit its columns, claims that are there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wmlab.errors import SpecError, suggest
from wmlab.spec.compose.document import read
from wmlab.spec.compose.resolve import PAPER, Resolved, choose_profile, resolve
from wmlab.spec.yaml.node import Node, show_path

Path = tuple[str | int, ...]


def table_errors(resolved: Resolved) -> Iterator[SpecError]:
    """Mistakes in `report.tables`; a smaller profile may lack claims, and its cells are then empty."""
    tables = resolved.sections["report"].at(["tables"]) if "report" in resolved.sections else None
    if tables is None or not tables.value:
        return
    if not resolved.is_suite:
        yield SpecError(tables.source, "report.tables", "only a suite has tables")
        return
    known = known_claims(resolved) if resolved.profile == PAPER else None
    for i, table in enumerate(tables.plain()):
        for j, row in enumerate(table["rows"]):
            path: Path = (i, "rows", j, "cells")
            cells, columns = len(row["cells"]), len(table["columns"])
            if cells != columns:
                yield wrong(tables, path, f"{cells} cells for {columns} columns")
            for k, cell in enumerate(row["cells"]):
                yield from claim_errors(tables, (*path, k, "claims"), cell, known)


def claim_errors(tables: Node, path: Path, cell: dict[str, Any], known: set[str] | None) -> Iterator[SpecError]:
    for position, claim in enumerate(cell["claims"]):
        if known is not None and claim not in known:
            message = f"no member has the claim '{claim}'; write it as spec.claim"
            yield wrong(tables, (*path, position), message, suggest(claim, known))


def wrong(tables: Node, path: Path, message: str, hint: str | None = None) -> SpecError:
    return SpecError((tables.at(path) or tables).source, show_path(["report", "tables", *path]), message, hint)


def known_claims(resolved: Resolved) -> set[str]:
    """Every claim of every member, as spec.claim."""
    found = set()
    for path in resolved.data["suite"]:
        document = read(resolved.document.sibling(path))
        member = resolve(document, choose_profile(document, PAPER))
        found |= {f"{member.name}.{claim}" for claim in member.data.get("claims", {})}
    return found
