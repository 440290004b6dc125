"""`python -m tests.fuzz.guided TARGET`: one reader under inputs that are bred by the code they reach, with atheris.

What it finds is printed by libFuzzer, with the input as base64; the exit code is not 0 then.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

SPECS = Path(__file__).parents[2] / "specs"
TARGETS = ("yaml", "expression", "npz", "safetensors", "csv")
MISSING = "atheris is not installed, so nothing is bred by coverage: pip install -e '.[fuzz]'"


def available() -> bool:
    return importlib.util.find_spec("atheris") is not None


def run_all(seconds: float, seed: int) -> int:
    """Every target in a process of its own, for an equal share of the time; how many of them failed."""
    failed = 0
    for target in TARGETS:
        words = [sys.executable, "-m", "tests.fuzz.guided", target, str(int(seconds / len(TARGETS)) or 1), str(seed)]
        failed += subprocess.run(words).returncode != 0
    return failed


def seeds(target: str) -> list[bytes]:
    """What breeding starts from."""
    from tests.fuzz.readers import SOUND_FILES

    if target == "yaml":
        return [path.read_bytes() for path in sorted(SPECS.rglob("*.yaml"))]
    if target == "expression":
        return [b"1/sqrt(2)", b"clip(x + 1, -8, 8) < 2 and not (speed == 1)", b"where(x > 0, 1e3, -pi) ** 2 // 3"]
    return [content for name, content in SOUND_FILES.items() if name.endswith(target)]


def reader(target: str, folder: Path) -> Callable[[bytes], None]:
    from tests.fuzz import readers

    if target == "yaml":
        return readers.read_yaml
    if target == "expression":
        return lambda content: readers.read_expression(content.decode("utf-8", "replace"))
    return lambda content: readers.read_arrays_of(folder / f"fuzzed.{target}", content)


def main(target: str, seconds: str, seed: str) -> None:
    import atheris

    with atheris.instrument_imports(include=["wmlab", "zipfile", "csv"]), tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        corpus = folder / "corpus"
        corpus.mkdir()
        for number, content in enumerate(seeds(target)):
            (corpus / str(number)).write_bytes(content)
        limits = [f"-max_total_time={seconds}", f"-seed={int(seed) + 1}", "-timeout=10", "-rss_limit_mb=2000"]
        limits += ["-max_len=20000", "-print_final_stats=1", "-verbosity=0", f"-artifact_prefix={name}/"]
        print(f"guided: {target}", flush=True)
        atheris.Setup([sys.argv[0], *limits, str(corpus)], reader(target, folder))
        atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])
