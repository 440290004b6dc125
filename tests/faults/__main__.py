"""Fail each call of a quickstart run in turn, then run again in peace: the same bytes must come out.

`python -m tests.faults [--every K] [--from N] [--mode error|kill] [--part 1/2] [--case N]`. For each n the n-th call
that changes the disk fails once (`error`), or is the last thing that the process does (`kill`). The failing run must
end with an exit code and at most a line of words; the run after it must end well, with the objects and the report
of a run that nothing disturbed.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.faults.compare import changes, contents
from tests.faults.disk import FaultyDisk, Killed, Mode, nth

if TYPE_CHECKING:
    from wmlab.report.data import ReportData
    from wmlab.report.drawings import Draw

QUICKSTART = Path(__file__).parents[2] / "specs" / "quickstart.yaml"


@dataclass(frozen=True)
class Ended:
    """How a run ended: its exit code (none when it was killed) and what it printed."""

    code: int | None
    text: str


def run(folder: Path, disk: FaultyDisk) -> Ended:
    """`wmlab run quickstart.yaml --jobs 0 --check` in this process, in a folder, on a disk."""
    from wmlab.cli import main

    screen = io.StringIO()
    code: int | None = None
    here = os.getcwd()
    os.chdir(folder)
    try:
        with disk.mounted(), contextlib.redirect_stdout(screen), contextlib.redirect_stderr(screen):
            main(["run", str(QUICKSTART), "--jobs", "0", "--check"])
    except SystemExit as end:
        code = int(end.code or 0)
    except Killed:
        disk.close_what_is_open()
    finally:
        os.chdir(here)
    return Ended(code, screen.getvalue())


def faults(folder: Path, n: int, mode: Mode, expected: dict[str, bytes]) -> list[str]:
    """What is wrong after the n-th call failed, in words."""
    disk = FaultyDisk(folder, nth(n, mode))
    first = run(folder, disk)
    where = f"{mode} {n} ({disk.calls[-1].replace(str(folder), '') if disk.calls else 'no call'})"
    wrong = []
    if "Traceback" in first.text or (mode == "error" and first.code not in (0, 1, 2)):
        wrong.append(f"{where}: exit {first.code}, {first.text}")
    if mode == "error" and first.code == 0 and contents(folder) != expected:
        wrong.append(f"{where}: exit 0, but {changes(expected, contents(folder))}")
    second = run(folder, FaultyDisk(folder))
    if second.code != 0 or "Traceback" in second.text:
        wrong.append(f"{where}: the next run ended with {second.code}, {second.text}")
    if contents(folder) != expected:
        wrong.append(f"{where}: after the next run {changes(expected, contents(folder))}")
    return wrong


def case(n: int, mode: Mode, expected: dict[str, bytes]) -> list[str]:
    """One n in a fresh folder."""
    folder = Path(tempfile.mkdtemp(prefix="wmlab-faults-"))
    try:
        prepare(folder)
        return faults(folder, n, mode, expected)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def draw_each_page_once() -> None:
    """Keep drawn pages: they are drawn hundreds of times here, and it is writing them that is tried."""
    from wmlab.app import page_makers, reporting

    draw, pages = page_makers.draw_page, {}

    def draw_once(data: ReportData, painted: Draw) -> dict[str, bytes]:
        mark = data.results["provenance"][reporting.MARK]
        if mark not in pages:
            pages[mark] = draw(data, painted)
        return pages[mark]

    page_makers.draw_page = draw_once


def prepare(folder: Path) -> None:
    (folder / ".wmlab").mkdir()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--every", type=int, default=1, help="only every K-th call")
    parser.add_argument("--mode", choices=("error", "kill"), action="append")
    parser.add_argument("--part", default="1/1", help="the share of this process, as 1/2")
    parser.add_argument("--case", type=int, help="only this n")
    options = parser.parse_args()
    part, parts = map(int, options.part.split("/"))
    draw_each_page_once()
    undisturbed = Path(tempfile.mkdtemp(prefix="wmlab-faults-"))
    prepare(undisturbed)
    disk = FaultyDisk(undisturbed)
    clock = time.monotonic()
    peaceful = run(undisturbed, disk)
    if peaceful.code != 0:
        print(peaceful.text)
        return 1
    expected = contents(undisturbed)
    calls = len(disk.calls)
    print(f"an undisturbed run makes {calls} calls that change the disk and {len(expected)} files", flush=True)
    shutil.rmtree(undisturbed)
    turns = [options.case] if options.case else list(range(1, calls + 1, options.every))[part - 1 :: parts]
    wrong = []
    for mode in options.mode or ("error", "kill"):
        for n in turns:
            for line in case(n, mode, expected):
                wrong.append(line)
                print(line, flush=True)
    done = len(turns) * len(options.mode or (1, 2))
    print(json.dumps({"calls": calls, "cases": done, "wrong": len(wrong), "seconds": round(time.monotonic() - clock)}))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
