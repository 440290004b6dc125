"""`wmlab cache ls` and `wmlab cache gc`: what is stored, and cleaning it up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from wmlab.cli.common import print_table

if TYPE_CHECKING:
    from wmlab.runtime.cache import CacheEntry, Cleanup

cache = typer.Typer(help="Look at the cache of results, and clean it up.", no_args_is_help=True)


@cache.command()
def ls() -> None:
    """List what is stored, the most recently used first."""
    from wmlab.runtime.cache import cache_entries
    from wmlab.runtime.store import Store, find_root

    print_entries(cache_entries(Store(find_root())))


@cache.command()
def gc(
    max_size: Annotated[
        str | None, typer.Option(help="Keep at most this much, the most recently used: 2GiB.", metavar="SIZE")
    ] = None,
    older_than: Annotated[
        str | None, typer.Option(help="Remove what was not used for this long: 30d.", metavar="AGE")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be removed, and remove nothing.")] = False,
) -> None:
    """Remove results that have not been used for long, or that do not fit."""
    from wmlab.runtime import cache
    from wmlab.runtime.store import Store, find_root

    size = cache.parse_size(max_size) if max_size else None
    age = cache.parse_age(older_than) if older_than else None
    print_cleanup(cache.gc(Store(find_root()), max_size=size, older_than=age, dry_run=dry_run))


def print_entries(entries: Sequence[CacheEntry]) -> None:
    from wmlab.runtime.cache import format_duration, format_size

    lines = [
        (entry.key[:12], format_size(entry.size), format_duration(entry.last_used), entry.label) for entry in entries
    ]
    print_table(("key", "size", "last used", "stage"), lines, "the cache is empty")
    if entries:
        print(f"{len(entries)} entries, {format_size(sum(entry.size for entry in entries))}")


def print_cleanup(cleanup: Cleanup) -> None:
    from wmlab.runtime.cache import format_size

    word = "would remove" if cleanup.dry_run else "removed"
    for entry in cleanup.removed:
        print(f"{entry.key[:12]}  {entry.label}")
    print(
        f"{word} {len(cleanup.removed)} entries and {cleanup.leftovers} leftovers ({format_size(cleanup.freed)}); "
        f"{cleanup.kept} entries stay"
        + (f", {cleanup.in_use} of them because they are in use" if cleanup.in_use else "")
    )
