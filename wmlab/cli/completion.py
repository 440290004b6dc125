"""What the shell completes after a command: spec files, profiles of the spec that is typed, ids of runs.

Whatever goes wrong while a word is completed completes nothing: a shell has no place for messages.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import typer

SPECS = (".yaml", ".yml")
MOST_RUNS = 50  # ids that are offered, the latest first


def spec_files(incomplete: str) -> list[str]:
    """Spec files and folders whose path begins so."""
    folder, _, beginning = incomplete.rpartition("/")
    place = Path(f"{folder}/" if incomplete.startswith("/") else folder or ".").expanduser()
    try:
        with os.scandir(place) as entries:
            matching = sorted((entry for entry in entries if _fits(entry, beginning)), key=lambda entry: entry.name)
            names = [f"{entry.name}/" if entry.is_dir() else entry.name for entry in matching]
    except OSError:
        return []
    return [f"{folder}/{name}" if "/" in incomplete else name for name in names]


def clusters(incomplete: str) -> list[str]:
    """Where a run may go: names of engines, and files."""
    from wmlab.cluster.file import ENGINES

    return [*(name for name in ENGINES if name.startswith(incomplete)), *spec_files(incomplete)]


def _fits(entry: os.DirEntry[str], beginning: str) -> bool:
    if not entry.name.startswith(beginning) or (entry.name.startswith(".") and not beginning.startswith(".")):
        return False
    return entry.name.endswith(SPECS) or entry.is_dir()


def run_ids(incomplete: str) -> list[tuple[str, str]]:
    """Ids of runs that begin so, each with its spec."""
    from wmlab.errors import WmlabError
    from wmlab.graph.key import find_root
    from wmlab.runtime.run_id import run_logs
    from wmlab.runtime.run_list import find_run

    try:
        root = find_root()
        ids = [id for id, _ in run_logs(root) if id and id.startswith(incomplete)][:MOST_RUNS]
        runs = [find_run(root, id) for id in ids]
    except WmlabError:
        return []
    return [(run.id, f"{run.spec} {run.profile} {run.started[:16].replace('T', ' ')}") for run in runs]


def spec_or_run(incomplete: str) -> list[str | tuple[str, str]]:
    """Spec files, and ids of runs."""
    return [*spec_files(incomplete), *run_ids(incomplete)]


def profiles(context: typer.Context, incomplete: str) -> list[str]:
    """The profiles of the specs that are typed already."""
    return sorted({name for name in _profiles(context) if name.startswith(incomplete)})


def _profiles(context: typer.Context) -> Iterator[str]:
    from wmlab.errors import WmlabError
    from wmlab.spec.compose.document import PAPER, read

    for path in context.args:  # what was typed besides options: after `--profile` nothing more is taken apart
        try:
            yield from (PAPER, *read(path).profiles)
        except (WmlabError, OSError):
            continue
