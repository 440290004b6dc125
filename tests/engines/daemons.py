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

# Which actors a cluster has, asked for without wmlab.
ACTORS = """\
import sys, ray
from ray.util import list_named_actors
ray.init(address=sys.argv[1], log_to_driver=False, logging_level="ERROR")
print(*(actor["name"] for actor in list_named_actors(all_namespaces=True)))
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


def end(*pids: int, seconds: float = 10.0) -> None:
    """End processes, by their ids: those that do not go are killed."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        for pid in filter(alive, pids):
            with suppress(ProcessLookupError):
                os.kill(pid, number)
        deadline = time.monotonic() + seconds
        while any(map(alive, pids)) and time.monotonic() < deadline:
            time.sleep(0.05)


def blindfolded(folder: Path, *words: str | Path) -> list[str]:
    """A command whose process sees an empty folder in the place of this one, as a machine that does not share it."""
    return ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none "$0" && exec "$@"', str(folder), *map(str, words)]


class TwoNodeSlurm:
    """slurmctld and two slurmd, on ports of this machine."""

    def __init__(self, folder: Path, port: int = 27000):
        self.folder, self.conf = folder, folder / "slurm.conf"
        self.hidden = folder / "hidden"  # from its machines
        self.own_munge = False
        for name in ("state", "spool-n1", "spool-n2", "hidden"):
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
        subprocess.run(blindfolded(self.hidden, "slurmd", "-N", node, "-f", self.conf), check=True)

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
        pids = [pid_in(self.folder / f"{daemon}.pid") for daemon in ("slurmd-n1", "slurmd-n2", "slurmctld")]
        end(*filter(None, pids))
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
    """A head and a second machine, by `ray start`, at two addresses of the loopback; in a folder of its own."""

    def __init__(self, folder: Path, port: int = 26379):
        self.folder, self.hidden = folder, folder / "hidden"  # from its machines
        self.hidden.mkdir(parents=True)
        self.head, self.second, self.port = "127.0.0.2", "127.0.0.3", port
        self.address = f"{self.head}:{port}"
        self.ray = str(Path(sys.executable).with_name("ray"))
        # Ray runs what it starts at the lowest priority but four: on a machine that is busy otherwise it hardly runs.
        own = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_TMPDIR": str(folder), "RAY_worker_niceness": "0"}
        self.env = {**os.environ, **own}
        self.started: set[tuple[int, int]] = set()  # ids of processes, and when they were born

    def start(self) -> None:
        head = ("--head", f"--port={self.port}", "--include-dashboard=false", f"--temp-dir={self.folder}/ray")
        self._start(self.head, *head)
        os.environ["RAY_ADDRESS"] = self.address
        self.start_second()

    def start_second(self) -> None:
        self._start(self.second, f"--address={self.address}")

    def raylets(self, address: str) -> list[int]:
        """The process that looks after a machine, while it is at work."""
        words = f"--node_ip_address={address} "
        return [pid for pid in self.processes() if program(pid) == "raylet" and words in command_line(pid)]

    def kill_second(self) -> None:
        """Kill what looks after the second machine, and start it again a moment later."""
        (pid,) = self.raylets(self.second)
        os.kill(pid, signal.SIGKILL)
        time.sleep(2)
        self.start_second()

    def jobs(self) -> list[str]:
        """The processes of actors that are at work on its machines."""
        return [line for line in map(command_line, self.processes()) if line.startswith("ray::JobActor")]

    def actors(self) -> list[str]:
        """The actors that Ray knows, also those that wait for a place."""
        return said(sys.executable, "-c", ACTORS, self.address, check=True).split()

    def processes(self) -> list[int]:
        """Those that name its folder, and all that these have started."""
        parents = {pid: parent(pid) for pid in processes()}
        found = {pid for pid in parents if str(self.folder) in command_line(pid)}
        while more := {pid for pid, above in parents.items() if above in found} - found:
            found |= more
        self.started |= {(pid, born(pid)) for pid in found}
        return sorted(found)

    def stop(self) -> None:
        end(*self.processes(), seconds=5)
        wait_until(lambda: not any(alive(pid) and born(pid) == at for pid, at in self.started), 20, "Ray is gone")
        shutil.rmtree(self.folder, ignore_errors=True)

    def _start(self, address: str, *words: str) -> None:
        limits = [
            f"--node-ip-address={address}",
            "--num-cpus=1",
            "--object-store-memory=80000000",
            "--disable-usage-stats",
        ]
        command = blindfolded(self.hidden, self.ray, "start", *words, *limits)
        done = subprocess.run(command, env=self.env, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stdout + done.stderr
        self.processes()


def processes() -> set[int]:
    return {int(name) for name in os.listdir("/proc") if name.isdigit() and alive(int(name))}


def command_line(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    return ""


def parent(pid: int) -> int:
    return stat_of(pid, 1)


def born(pid: int) -> int:
    """When a process was started, in ticks of the machine's clock."""
    return stat_of(pid, 19)


def stat_of(pid: int, field: int) -> int:
    with suppress(OSError, IndexError):
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[field])
    return 0


def program(pid: int) -> str:
    return os.path.basename(command_line(pid).partition(" ")[0])
