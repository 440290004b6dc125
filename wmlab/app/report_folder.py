"""The folder of a report: written whole, with a hash of each of its files, and verified before it is counted on.

`report.sha256` lists the hashes as `sha256sum --check` reads them. Files that are not in it are the user's own: they
stay when a report is written again.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wmlab.app.output_folder import replace_output
from wmlab.report.data import DRAWINGS, FIGURES, PAGE, RESULTS, SETTINGS

MANIFEST = "report.sha256"
LAST_RUN = ("run", "started", "seconds", "code")  # of the provenance: what the last run says of itself
TIMES = (*LAST_RUN, "stage_seconds")  # what no result depends on
MARK = "page_sha256"  # what tells pages apart that show different things
_SEAL = "# sha256 of the lines below: "
# What is ours where no list says so: reports had none before, and one can be lost.
_FIGURE = rf"{FIGURES}/(keys\.json|(bars|certain|curve|figure|heat|map|plane|scatter|sheet)-[^/]*\.(svg|pdf))"
_TABLE = r"tables/(claims|metrics|relations)\.(csv|tex)"
_OURS = re.compile("|".join((*map(re.escape, (PAGE, RESULTS, SETTINGS, DRAWINGS, MANIFEST)), _FIGURE, _TABLE)))


class ReportDamage(Exception):
    """A report is not as it was written; the message says in what way."""


@dataclass(frozen=True)
class StoredReport:
    """What lies in the folder of a report."""

    whole: bool = False
    damage: str = ""  # what is not as it was written; empty where all is, and where there is no report
    results: Mapping[str, Any] = field(default_factory=dict)  # results.json, where it is as it was written
    files: Collection[str] | None = None  # those that were written; None where no list says so

    @property
    def provenance(self) -> Mapping[str, Any]:
        known = self.results.get("provenance")
        return known if isinstance(known, dict) else {}

    def is_ours(self, name: str) -> bool:
        """Whether a file of the folder was written by us, and not put there by a user."""
        return _OURS.fullmatch(name) is not None if self.files is None else name in self.files


def read_report(folder: Path) -> StoredReport:
    """What lies in a folder, each file held against the hash that was written with it."""
    if not any(os.path.lexists(folder / name) for name in (MANIFEST, PAGE, RESULTS)):
        return StoredReport()
    try:
        hashes = _read_manifest(folder / MANIFEST)
    except ReportDamage as damage:
        return StoredReport(damage=str(damage))
    damages: list[str] = []
    results: dict[str, Any] = {}
    for name, expected in hashes.items():
        try:
            content = _read(folder / name, name)
            if hashlib.sha256(content).hexdigest() != expected:
                raise ReportDamage(f"{name} was changed")
            results = json.loads(content) if name == RESULTS else results
        except ReportDamage as damage:
            damages.append(str(damage))
    more = f" and {len(damages) - 1} more" if len(damages) > 1 else ""
    return StoredReport(not damages, f"{damages[0]}{more}" if damages else "", results, {*hashes, MANIFEST})


def read_verified(folder: Path, name: str) -> bytes:
    """One file of a report; ReportDamage where it is not there as it was written."""
    content, expected = _read(folder / name, name), _read_manifest(folder / MANIFEST).get(name)
    if hashlib.sha256(content).hexdigest() != expected:
        raise ReportDamage(f"{name} was changed")
    return content


def write_report(folder: Path, files: Mapping[str, bytes]) -> None:
    """Put a report in the place of the one that is there, in one step; what a user added to the folder stays."""

    def fill(new: Path) -> None:
        for name, content in {**files, MANIFEST: _manifest(files)}.items():
            (new / name).parent.mkdir(exist_ok=True)
            (new / name).write_bytes(content)

    replace_output(folder, fill, read_report(folder).is_ours)


def _manifest(files: Mapping[str, bytes]) -> bytes:
    lines = "".join(f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in sorted(files.items()))
    return f"{_SEAL}{hashlib.sha256(lines.encode()).hexdigest()}\n{lines}".encode()


def _read_manifest(path: Path) -> dict[str, str]:
    """The hash of each file of a report."""
    head, _, lines = _read(path, MANIFEST).partition(b"\n")
    if head.decode(errors="replace") != _SEAL + hashlib.sha256(lines).hexdigest():
        raise ReportDamage(f"{MANIFEST} was changed")
    pairs = (line.split("  ", 1) for line in lines.decode().splitlines())
    return {name: expected for expected, name in pairs}


def _read(path: Path, name: str) -> bytes:
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # what is no file might never end
            raise ReportDamage(f"{name} is no file")
        return path.read_bytes()
    except FileNotFoundError:
        raise ReportDamage(f"{name} is missing") from None
    except OSError as error:
        raise ReportDamage(f"{name} cannot be read: {error.strerror}") from None
