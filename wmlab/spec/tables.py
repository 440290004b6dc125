"""Tables of a suite against its members: cells that fit its columns, claims that are there."""

from __future__ import annotations

from collections.abc import Iterator

from wmlab.errors import SpecError, suggest
from wmlab.spec.document import read
from wmlab.spec.node import Node, show_path
from wmlab.spec.resolve import PAPER, Resolved, choose_profile, resolve


def table_errors(resolved: Resolved) -> Iterator[SpecError]:
    """Mistakes in `report.tables`; a smaller profile may lack claims, and its cells are then empty."""
    tables = resolved.sections["report"].at(["tables"]) if "report" in resolved.sections else None
    if tables is None or not tables.value:
        return
    if not resolved.is_suite:
        yield SpecError(tables.source, "report.tables", "only a suite has tables")
        return
    known = known_claims(resolved) if resolved.profile == PAPER else None
    for i, table in enumerate(tables.value):
        columns = table.value["columns"].value
        for j, row in enumerate(table.value["rows"].value):
            path = ("report", "tables", i, "rows", j, "cells")
            cells = row.value["cells"]
            if len(cells.value) != len(columns):
                message = f"{len(cells.value)} cells for {len(columns)} columns"
                yield SpecError(cells.source, show_path(path), message)
            for k, cell in enumerate(cells.value):
                yield from claim_errors(cell, (*path, k), known)


def claim_errors(cell: Node, path: tuple[str | int, ...], known: set[str] | None) -> Iterator[SpecError]:
    claims = cell.at(["claims"])
    for i, claim in enumerate(claims.value if claims is not None else ()):
        if known is not None and claim.value not in known:
            message = f"no member has the claim '{claim.value}'; write it as spec.claim"
            yield SpecError(claim.source, show_path([*path, "claims", i]), message, suggest(str(claim.value), known))


def known_claims(resolved: Resolved) -> set[str]:
    """Every claim of every member, as spec.claim."""
    found = set()
    for path in resolved.data["suite"]:
        document = read(resolved.document.sibling(path))
        member = resolve(document, choose_profile(document, PAPER))
        found |= {f"{member.name}.{claim}" for claim in member.data.get("claims", {})}
    return found
