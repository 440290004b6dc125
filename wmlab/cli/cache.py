"""`wmlab cache ls` and `wmlab cache gc`: what is stored, and cleaning it up."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer

from wmlab.cli.common import TextOrJson, Trust, print_table

cache = typer.Typer(help="Look at the cache of results, and clean it up.", no_args_is_help=True)


@cache.command()
def ls(format: TextOrJson = "text", trust: Trust = False) -> None:
    """List what is stored, the most recently used first."""
    from wmlab.runtime.cache import cache_entries, format_duration, format_size
    from wmlab.runtime.store import Store

    entries = cache_entries(Store())
    if format == "json":
        print(json.dumps([asdict(entry) for entry in entries], indent=1))
        return
    lines = [(one.key[:12], format_size(one.size), format_duration(one.last_used), one.label) for one in entries]
    print_table(("key", "size", "last used", "stage"), lines, "the cache is empty")
    if entries:
        print(f"{len(entries)} entries, {format_size(sum(entry.size for entry in entries))}")


@cache.command()
def gc(
    max_size: Annotated[
        str | None, typer.Option(help="Keep at most this much, the most recently used: 2GiB.", metavar="SIZE")
    ] = None,
    older_than: Annotated[
        str | None, typer.Option(help="Remove what was not used for this long: 30d.", metavar="AGE")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be removed, and remove nothing.")] = False,
    format: TextOrJson = "text",
    trust: Trust = False,
) -> None:
    """Remove results that have not been used for long, or that do not fit, and so the pages that are kept of runs."""
    from wmlab.runtime import cache
    from wmlab.runtime.store import Store

    size = cache.parse_size(max_size) if max_size else None
    age = cache.parse_age(older_than) if older_than else None
    cleanup = cache.gc(Store(), max_size=size, older_than=age, dry_run=dry_run)
    if format == "json":
        print(json.dumps(asdict(cleanup), indent=1))
        return
    for entry in cleanup.removed:
        print(f"{entry.key[:12]}  {entry.label}")
    print(
        f"{'would remove' if dry_run else 'removed'} {len(cleanup.removed)} entries and {cleanup.leftovers} leftovers "
        f"({cache.format_size(cleanup.freed)}); {cleanup.kept} entries stay"
        + (f", {cleanup.in_use} of them because they are in use" if cleanup.in_use else "")
    )
