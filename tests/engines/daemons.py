"""A real Slurm and a real Ray with two machines each, on this machine: started, and stopped without a trace."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

MUNGE = Path("/run/munge/munged.pid")
CONF = """\
ClusterName=probe
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={port}
AuthType=auth/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmUser=root
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
JobRequeue=1
SlurmdTimeout=10
KillWait=5
MinJobAge=300
SchedulerParameters=batch_sched_delay=1,sched_interval=2
SlurmdSpoolDir={folder}/spool-%n
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmdLogFile={folder}/slurmd-%n.log
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
StateSaveLocation={folder}/state
NodeName=n1 NodeHostname=localhost NodeAddr=127.0.0.1 Port={first} CPUs=1 RealMemory=8000 State=UNKNOWN
NodeName=n2 NodeHostname=localhost NodeAddr=127.0.0.1 Port={second} CPUs=1 RealMemory=8000 State=UNKNOWN
PartitionName=main Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
"""


def wait_until(is_so: Callable[[], bool], seconds: float, what: str) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: not within {seconds:.0f} s")
        time.sleep(0.2)


def said(*words: str, check: bool = False) -> str:
    return subprocess.run(words, capture_output=True, text=True, check=check, timeout=60).stdout


def pid_in(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def end(pid: int, number: int = signal.SIGTERM, seconds: float = 10.0) -> None:
    """End one process, by its id."""
    with suppress(ProcessLookupError):
        os.kill(pid, number)
        deadline = time.monotonic() + seconds
        while alive(pid) and time.monotonic() < deadline:
            time.sleep(0.05)
        if alive(pid):
            os.kill(pid, signal.SIGKILL)


class TwoNodeSlurm:
    """slurmctld and two slurmd, on ports of this machine."""

    def __init__(self, folder: Path, port: int = 27000):
        self.folder, self.conf = folder, folder / "slurm.conf"
        self.own_munge = False
        for name in ("state", "spool-n1", "spool-n2"):
            (folder / name).mkdir(parents=True)
        text = CONF.format(folder=folder, port=port, first=port + 1, second=port + 2)
        self.conf.write_text(text)
        os.environ["SLURM_CONF"] = str(self.conf)

    def start(self) -> None:
        self._start_munge()
        subprocess.run(["slurmctld", "-f", self.conf], check=True)
        for node in ("n1", "n2"):
            self.start_node(node)
        wait_until(self.is_idle, 60, "both nodes idle")

    def is_idle(self) -> bool:
        return said("sinfo", "-h", "-N", "-o", "%N %T").split() == ["n1", "idle", "n2", "idle"]

    def start_node(self, node: str) -> None:
        subprocess.run(["slurmd", "-N", node, "-f", self.conf], check=True)

    def pid(self, daemon: str) -> int:
        wait_until(lambda: pid_in(self.folder / f"{daemon}.pid") is not None, 20, f"{daemon} started")
        return pid_in(self.folder / f"{daemon}.pid") or 0

    def kill_node(self, node: str) -> None:
        """Kill the daemon of a node, and start it again a moment later, as a machine that comes back does."""
        os.kill(self.pid(f"slurmd-{node}"), signal.SIGKILL)
        time.sleep(1)
        self.start_node(node)

    def jobs(self) -> list[str]:
        """The jobs that are queued or at work."""
        return said("squeue", "-h", "-o", "%A %j %T").splitlines()

    def stop(self) -> None:
        for line in self.jobs():
            said("scancel", line.split()[0])
        with suppress(TimeoutError):
            wait_until(lambda: not self.jobs(), 30, "no jobs left")
        for daemon in ("slurmd-n1", "slurmd-n2", "slurmctld"):
            pid = pid_in(self.folder / f"{daemon}.pid")
            if pid is not None:
                end(pid)
        if self.own_munge and (pid := pid_in(MUNGE)) is not None:
            end(pid)

    def _start_munge(self) -> None:
        if subprocess.run("munge -n | unmunge", shell=True, capture_output=True).returncode == 0:
            return
        for folder in ("/run/munge", "/var/log/munge", "/var/lib/munge"):
            os.makedirs(folder, exist_ok=True)
        places = ["/run/munge", "/var/log/munge", "/var/lib/munge", "/etc/munge"]
        subprocess.run(["chown", "-R", "munge:", *places], check=True)
        os.chmod("/run/munge", 0o755)
        subprocess.run(["su", "-s", "/bin/sh", "munge", "-c", "/usr/sbin/munged"], check=True)
        self.own_munge = True


class TwoNodeRay:
    """A head and a second machine, by `ray start`; in a folder of its own."""

    def __init__(self, folder: Path, port: int = 26379):
        self.folder, self.port = folder, port
        self.address = f"127.0.0.1:{port}"
        self.ray = str(Path(sys.executable).with_name("ray"))
        self.env = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0", "RAY_TMPDIR": str(folder)}
        self.started: set[int] = set()

    def start(self) -> None:
        before = processes()
        self._ray(
            "start", "--head", f"--port={self.port}", "--include-dashboard=false", f"--temp-dir={self.folder}/ray"
        )
        self.start_second()
        self.started = processes() - before
        os.environ["RAY_ADDRESS"] = self.address

    def start_second(self) -> None:
        before = processes()
        self._ray("start", f"--address={self.address}")
        self.second = processes() - before
        self.started |= self.second

    def raylets(self) -> list[int]:
        """The processes that look after each machine; the first is the head's."""
        return [pid for pid in sorted(processes() & self.started) if program(pid) == "raylet"]

    def kill_second(self) -> None:
        """Kill what looks after the second machine, and start it again a moment later."""
        (pid,) = [pid for pid in self.raylets() if pid in self.second]
        os.kill(pid, signal.SIGKILL)
        time.sleep(2)
        self.start_second()

    def stop(self) -> None:
        for pid in sorted(self.started & processes()):
            if "ray" in command_line(pid):
                end(pid, seconds=3)
        shutil.rmtree(self.folder / "ray", ignore_errors=True)

    def _ray(self, *words: str) -> None:
        limits = [
            "--node-ip-address=127.0.0.1",
            "--num-cpus=1",
            "--object-store-memory=80000000",
            "--disable-usage-stats",
        ]
        done = subprocess.run([self.ray, *words, *limits], env=self.env, capture_output=True, text=True, timeout=180)
        assert done.returncode == 0, done.stdout + done.stderr


def processes() -> set[int]:
    return {int(name) for name in os.listdir("/proc") if name.isdigit() and alive(int(name))}


def command_line(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    return ""


def program(pid: int) -> str:
    return os.path.basename(command_line(pid).partition(" ")[0])
