"""Looking at the cache and cleaning it up: for `wmlab cache ls` and `wmlab cache gc`."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from wmlab.errors import UsageError
from wmlab.graph.key import FINGERPRINTS
from wmlab.runtime import folder, layout
from wmlab.runtime.compiled import compiled_root
from wmlab.runtime.durable import discard
from wmlab.runtime.hold import EntriesInUse, gate
from wmlab.runtime.layout import CacheError, children
from wmlab.runtime.livelog import LIVE
from wmlab.runtime.lock import KeyLock, LocksUnsupported
from wmlab.runtime.run_id import is_run_id, pages_of, run_logs
from wmlab.runtime.store import Store

_LEFTOVER_AGE = 3600.0  # seconds after which something in `tmp/` is nobody's any more
_PARTIAL_AGE = 14 * 86400.0  # and a partial result is of a question that nobody asks any more
_SIZES = {"": 1, "B": 1}
_SIZES |= {f"{prefix}B": 10 ** (3 * power) for power, prefix in enumerate("KMGT", start=1)}
_SIZES |= {f"{prefix}IB": 2 ** (10 * power) for power, prefix in enumerate("KMGT", start=1)}
_AGES = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


@dataclass(frozen=True)
class CacheEntry:
    """One entry of the cache."""

    key: str
    label: str
    size: int  # bytes
    age: float  # seconds since it was written
    last_used: float  # seconds since it was last loaded, or counted on by a run


@dataclass
class Cleanup:
    """What a clean-up removed, or would remove."""

    removed: list[CacheEntry] = field(default_factory=list)
    kept: int = 0  # entries
    in_use: int = 0  # entries that would have gone, were they not in use
    leftovers: int = 0  # files and folders that are no entries
    freed: int = 0  # bytes
    dry_run: bool = False


def cache_entries(store: Store) -> list[CacheEntry]:
    """The entries of the cache, the most recently used first."""
    entries = []
    now = time.time()
    for key in store.entries():
        path = store.path(key)
        written = _stat_time(path, now)
        used = _stat_time(path / folder.MANIFEST, written)
        try:
            label, size = folder.glance(path)
        except folder.Damaged:
            label, size = "(damaged)", _size(path)
        entries.append(CacheEntry(key, label, size, max(0.0, now - written), max(0.0, now - used)))
    return sorted(entries, key=lambda entry: (entry.last_used, entry.key))


def gc(store: Store, *, max_size: int | None = None, older_than: float | None = None, dry_run: bool = False) -> Cleanup:
    """Remove what was not used for `older_than` seconds, then the least recently used until `max_size` bytes are left.

    Leftovers of killed runs, stale partial results and damaged entries set aside go in any case. Entries that a
    living run counts on, or that are being computed, stay. Pages of runs that nobody looked at for so long go, too, and
    take the room that entries leave; logs of runs are small, and stay.
    """
    if not store.root.is_dir():
        return Cleanup(dry_run=dry_run)
    try:
        return _clean_up(store, Cleanup(dry_run=dry_run), max_size, older_than)
    except LocksUnsupported:
        raise CacheError(
            f"the file system of the cache {store.root} has no locks, so nobody can tell what a run is using; "
            "when nothing runs, remove the folder yourself"
        ) from None
    except OSError as error:
        why = layout.reason(error)
        raise CacheError(f"the cache {store.root} cannot be cleaned up: {why}; have its owner do it") from None


def _clean_up(store: Store, cleanup: Cleanup, max_size: int | None, older_than: float | None) -> Cleanup:
    active = EntriesInUse(store.root)
    with gate(store.root):
        pass  # the system can lock files there
    room = None  # for pages of runs, beside what is left of the entries
    if max_size is None and older_than is None:  # all of them stay, and are only counted
        cleanup.kept = sum(1 for _ in store.entries())
    else:
        left = _remove_entries(store, cleanup, active, max_size, older_than)
        room = None if max_size is None else max(0, max_size - left)
    _sweep(cleanup, [*_leftovers(store, active, older_than), *_old_pages(store.root, older_than, room)])
    for path in children(store.root / "locks"):
        _is_free(KeyLock(path.with_suffix(".lock")))  # which removes what a lock's dead holder left
    return cleanup


def _remove_entries(
    store: Store, cleanup: Cleanup, active: EntriesInUse, max_size: int | None, older_than: float | None
) -> int:
    """Remove what is too old, or does not fit, the least recently used first; the bytes of what is left."""
    entries = cache_entries(store)
    left = sum(entry.size for entry in entries)
    for entry in reversed(entries):
        old = older_than is not None and entry.last_used > older_than
        if not old and (max_size is None or left <= max_size):
            continue
        if _remove_entry(store, entry, active, cleanup.dry_run):
            cleanup.removed.append(entry)
            left -= entry.size
        else:
            cleanup.in_use += 1
    cleanup.kept = len(entries) - len(cleanup.removed)
    cleanup.freed = sum(entry.size for entry in cleanup.removed)
    return left


def _remove_entry(store: Store, entry: CacheEntry, active: EntriesInUse, dry_run: bool) -> bool:
    lock = store.lock(entry.key, "cache gc")
    if not lock.acquire(block=False):
        return False
    try:
        with gate(store.root):  # a run that begins now says what it counts on before, or looks for it after
            if entry.key in active:
                return False
            if not dry_run:
                store.remove(entry.key)
    finally:
        lock.release()
    return True


def _sweep(cleanup: Cleanup, leftovers: Iterable[Path]) -> None:
    for path in leftovers:
        cleanup.leftovers += 1
        cleanup.freed += _size(path)
        if not cleanup.dry_run:
            discard(path)


def _old_pages(root: Path, older_than: float | None, room: int | None) -> Iterator[Path]:
    """Pages of runs that nobody looked at for long, or that do not fit, and those whose run has no log any more."""
    now = time.time()
    logged = {pages_of(root, id) for id, _ in run_logs(root) if id}
    kept = [path for path in children(root / "runs") if is_run_id(path.name) and path.is_dir()]
    for path in sorted(kept, key=lambda path: _stat_time(path, now), reverse=True):
        age = now - _stat_time(path, now)
        room = None if room is None else room - _size(path)
        if (
            (path not in logged and age > _LEFTOVER_AGE)
            or (older_than is not None and age > older_than)
            or (room is not None and room < 0)
        ):
            yield path


def _leftovers(store: Store, active: EntriesInUse, older_than: float | None) -> Iterator[Path]:
    root, now = store.root, time.time()
    yield from children(root / layout.QUARANTINE)
    yield from root.glob(f"{layout.QUARANTINE}-*")
    if os.path.lexists(root / "jax"):  # where earlier versions kept compiled programs
        yield root / "jax"
    for path in (*children(root / "tmp"), *root.glob(f"{FINGERPRINTS}.*")):
        if now - _stat_time(path, now) > _LEFTOVER_AGE:
            yield path
    for path in children(root / "partial"):
        finished = store.has(path.name)
        stale = now - _stat_time(path, now) > (_PARTIAL_AGE if older_than is None else older_than)
        if (finished or stale) and path.name not in active and _is_free(store.lock(path.name)):
            yield path
    if older_than is not None:  # what a live page reads of runs that are over
        live = (path for path in children(root / "runs") if path.suffix == LIVE)
        boards = children(root / layout.BOARDS)  # and TensorBoard
        yield from (path for path in (*live, *boards) if now - _stat_time(path, now) > older_than)
    if older_than is not None:  # jobs that are over, and nobody asked about
        for path in children(root / "jobs"):
            closed = path / "closed.json"
            if closed.is_file() and now - _stat_time(closed, now) > older_than:
                yield path
    if older_than is not None:  # compiled programs: JAX makes them again when they are missed
        for group in children(compiled_root()):
            yield from (path for path in children(group) if now - _stat_time(path, now) > older_than)


def _is_free(lock: KeyLock) -> bool:
    if not lock.acquire(block=False):
        return False
    lock.release()
    return True


def _stat_time(path: Path, default: float) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return default


def _size(path: Path) -> int:
    """The bytes of a file, or of all files in a folder; what cannot be looked at counts for nothing."""
    if not path.is_dir() or path.is_symlink():
        names = [str(path)]
    else:
        names = [os.path.join(place, name) for place, _, names in os.walk(path) for name in names]
    total = 0
    for name in names:
        with suppress(OSError):
            total += os.lstat(name).st_size
    return total


def parse_size(text: str) -> int:
    """Bytes from '2GiB', '500MB' or '1000'."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", text)
    if not match or match[2].upper() not in _SIZES:
        raise UsageError(f"'{text}' is not a size; write it like 2GiB, 500MB or 1000 (bytes)")
    return int(float(match[1]) * _SIZES[match[2].upper()])


def parse_age(text: str) -> float:
    """Seconds from '7d', '12h', '30m', '45s' or '2w'."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([smhdw])\s*", text)
    if not match:
        raise UsageError(f"'{text}' is not an age; write it like 7d, 12h, 30m, 45s or 2w")
    return float(match[1]) * _AGES[match[2]]


def format_size(size: float) -> str:
    """'1.5 MiB', for people."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"


def format_duration(seconds: float) -> str:
    """'45 s', '3 min', '2.5 h' or '7 d', for people."""
    for limit, unit, length in ((90, "s", 1), (90 * 60, "min", 60), (36 * 3600, "h", 3600)):
        if seconds < limit:
            return f"{seconds / length:.0f} {unit}" if unit != "h" else f"{seconds / length:.1f} {unit}"
    return f"{seconds / 86400:.0f} d"
