"""A folder in which a user types commands."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import wmlab
from wmlab.app.report_folder import TIMES
from wmlab.runtime.run_list import read_log

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[1]
SMALL = HERE / "small.yaml"
QUICKSTART = REPOSITORY / "specs" / "quickstart.yaml"


class Lab:
    """Commands in one folder, with a cache of its own but for compiled programs."""

    def __init__(self, folder: Path, compiled: Path, *, home: Path | None = None):
        self.folder = folder
        self.root = home or folder / ".wmlab"
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("WMLAB_")}
        self.environment["PYTHONPATH"] = str(Path(wmlab.__path__[0]).parent)
        if home is not None:
            self.environment["WMLAB_HOME"] = str(home)
        self.compiled = compiled
        self.environment["XDG_CACHE_HOME"] = str(compiled)
        self.root.mkdir(parents=True, exist_ok=True)

    def start(self, *arguments: str | Path, python: tuple[str, ...] = ()) -> subprocess.Popen[str]:
        """A command, begun in a session of its own."""
        return subprocess.Popen(
            [sys.executable, *python, "-m", "wmlab", *map(str, arguments)],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def wmlab(self, *arguments: str | Path, code: int = 0, python: tuple[str, ...] = ()) -> Said:
        """A command from its beginning to its end."""
        return finish(self.start(*arguments, python=python), code)

    def copy(self, folder: Path) -> Lab:
        """The same folder, cache and reports included, at another place."""
        shutil.copytree(self.folder, folder, symlinks=True, dirs_exist_ok=True)
        return Lab(folder, self.compiled)

    def report(self, name: str, profile: str | None = None) -> Path:
        """The folder of a report; of the body as it stands, paper where the spec cites one and full elsewhere."""
        above = self.folder / "reports" / name
        return above / (profile or ("paper" if (above / "paper").exists() else "full"))

    def results(self, name: str, profile: str | None = None) -> dict[str, Any]:
        """results.json but for times."""
        found = json.loads((self.report(name, profile) / "results.json").read_text())
        found["provenance"] = {key: value for key, value in found["provenance"].items() if key not in TIMES}
        return found

    def entry(self, label: str) -> Path:
        """The folder of a stored result, by the name of its stage."""
        for path in self.root.glob("objects/??/*/manifest.json"):
            if json.loads(path.read_text())["label"] == label:
                return path.parent
        raise LookupError(label)

    def contents(self) -> dict[str, bytes]:
        """All stored results, byte for byte."""
        return {
            f"{path.parent.name}/{path.name}": path.read_bytes()
            for path in self.root.glob("objects/??/*/*")
            if path.name != "manifest.json"
        }

    def logs(self) -> list[list[dict[str, Any]]]:
        """The stages of each run, the latest last."""
        paths = sorted((self.root / "runs").glob("*.jsonl"))
        return [[record for record in read_log(path) if record["type"] == "stage"] for path in paths]

    def ran(self) -> list[str]:
        """The names of the stages that the last run computed."""
        return [record["label"] for record in self.logs()[-1] if record["outcome"] == "ran"]


class Said:
    """What a command said."""

    def __init__(self, out: str, err: str):
        self.out, self.err = out, err


def finish(process: subprocess.Popen[str], code: int = 0, patience: float = 120) -> Said:
    """Wait for a command; it must end with this code."""
    try:
        out, err = process.communicate(timeout=patience)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    assert process.returncode == code, f"exit code {process.returncode}, not {code}\n{out}\n{err}"
    return Said(out, err)


def workers_of(process: subprocess.Popen[str]) -> list[int]:
    """The living worker processes of a run."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            text = Path("/proc", entry, "stat").read_text()
        except OSError:
            continue
        state, parent = text.rpartition(")")[2].split()[:2]
        if int(parent) == process.pid and state != "Z":
            found.append(int(entry))
    return found


def wait_for_worker(process: subprocess.Popen[str], patience: float = 60) -> int | None:
    """The first worker of a run; None when the run is over without one."""
    end = time.monotonic() + patience
    while process.poll() is None and time.monotonic() < end:
        if workers := workers_of(process):
            return workers[0]
        time.sleep(0.01)
    return None
