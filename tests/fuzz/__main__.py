"""`python -m tests.fuzz`: random cases until the time is up; the same seed throws the same cases.

A case must be refused in words or be sound. Whatever else is raised, or takes longer than LIMIT, is a fault: it is told
with the command that throws it again, and its case becomes a test.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

from tests.fuzz import guided
from tests.fuzz.cases import CASES, Folder

LIMIT = 10  # seconds of the processor a case
PATIENCE = 120  # seconds by the clock: a case that waits for something waits for ever


TIMERS = {signal.ITIMER_PROF: signal.SIGPROF, signal.ITIMER_REAL: signal.SIGALRM}


class TooSlow(Exception):
    pass


def stop(signum: int, frame: object) -> None:
    raise TooSlow(f"no answer within {LIMIT if signum == signal.SIGPROF else PATIENCE} s")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=CASES, help="one sort of case")
    parser.add_argument("--case", type=int, help="one case alone, by its number")
    parser.add_argument("--guided", action="store_true", help="half of the time for inputs bred by coverage")
    asked = parser.parse_args()
    for number in TIMERS.values():
        signal.signal(number, stop)
    warnings.simplefilter("error")
    failed = 0
    if asked.guided and not guided.available():
        print(guided.MISSING)
    elif asked.guided:
        asked.minutes /= 2
        failed = guided.run_all(60 * asked.minutes, asked.seed)
        print(f"seed {asked.seed}: {len(guided.TARGETS)} readers under bred inputs, {failed} with faults", flush=True)
    with tempfile.TemporaryDirectory() as name:
        return throw(asked, Folder(Path(name))) or int(failed > 0)


def throw(asked: argparse.Namespace, folder: Folder) -> int:
    """Throw cases until the time is up; the number of faults is 0 or the exit code is 1."""
    end, counts, faults = time.monotonic() + 60 * asked.minutes, Counter[str](), 0
    number, shown = asked.case or 0, time.monotonic()
    while time.monotonic() < end:
        rng = random.Random(f"{asked.seed}:{number}")
        sort = asked.only or rng.choice(tuple(CASES))
        signal.setitimer(signal.ITIMER_PROF, LIMIT)
        signal.setitimer(signal.ITIMER_REAL, PATIENCE)
        try:
            CASES[sort](rng, folder)
        except Exception:
            faults += 1
            again = f"python -m tests.fuzz --seed {asked.seed} --case {number}" + (
                f" --only {sort}" if asked.only else ""
            )
            print(f"{again}\n{traceback.format_exc()}", file=sys.stderr, flush=True)
        finally:
            for timer in TIMERS:
                signal.setitimer(timer, 0)
        counts[sort] += 1
        number += 1
        if asked.case is not None:
            break
        if time.monotonic() - shown > 30:
            print(f"{sum(counts.values())} cases, {faults} faults", flush=True)
            shown = time.monotonic()
    print(f"seed {asked.seed}: {sum(counts.values())} cases ({dict(sorted(counts.items()))}), {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
