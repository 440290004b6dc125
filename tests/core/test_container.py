"""The limits of a container are read from its control groups, wherever they are mounted."""

from __future__ import annotations

import resource

import pytest

from wmlab.core import memory
from wmlab.core.container import cpu_limit, memory_limit

V2 = "30 23 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate"
V1 = "35 31 0:32 {top} /sys/fs/cgroup/{name} rw,relatime shared:15 - cgroup cgroup rw,{controllers}"
GIB = 2**30


@pytest.fixture
def machine(tmp_path):
    """Writes the files of a machine: those of the process, and those of its groups by path."""

    def write(groups: str, mounts: str, files: dict[str, object]):
        texts = {"proc/self/cgroup": groups, "proc/self/mountinfo": f"22 1 8:1 / / rw - ext4 /dev/sda1 rw\n{mounts}"}
        for name, text in {**texts, **{f"sys/fs/cgroup/{name}": text for name, text in files.items()}}.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{text}\n")
        return tmp_path

    return write


def test_the_tightest_group_from_ours_up_to_the_top_counts(machine):
    files = {"a/b/memory.max": "max", "a/memory.max": 4 * GIB, "memory.max": 9 * GIB, "other/memory.max": GIB}
    root = machine("0::/a/b", V2, {**files, "a/b/cpu.max": "max 100000", "a/cpu.max": "150000 100000"})
    assert memory_limit(root) == 4 * GIB and cpu_limit(root) == 2


def test_the_limit_at_which_a_group_is_slowed_down_counts_too(machine):
    root = machine("0::/a", V2, {"a/memory.max": 4 * GIB, "a/memory.high": 3 * GIB})
    assert memory_limit(root) == 3 * GIB


def test_a_container_that_sees_its_own_group_as_the_top_is_limited(machine):
    root = machine("0::/", V2, {"memory.max": 2 * GIB, "cpu.max": "50000 100000"})
    assert memory_limit(root) == 2 * GIB and cpu_limit(root) == 1


def test_version_1_has_a_hierarchy_for_each_controller_mounted_from_the_container_on(machine):
    mounts = [
        V1.format(top="/docker/c0", name="memory", controllers="memory"),
        V1.format(top="/docker/c0", name="cpu,cpuacct", controllers="cpu,cpuacct"),
    ]
    groups = "9:cpu,cpuacct:/docker/c0/job\n4:memory:/docker/c0/job\n0::/docker/c0"
    files = {
        "memory/job/memory.limit_in_bytes": 9223372036854771712,  # none
        "memory/memory.limit_in_bytes": 5 * GIB,
        "cpu,cpuacct/job/cpu.cfs_quota_us": 300000,
        "cpu,cpuacct/job/cpu.cfs_period_us": 100000,
        "cpu,cpuacct/cpu.cfs_quota_us": -1,
        "cpu,cpuacct/cpu.cfs_period_us": 100000,
    }
    root = machine(groups, "\n".join(mounts), files)
    assert memory_limit(root) == 5 * GIB and cpu_limit(root) == 3


def test_no_group_and_no_limit_mean_none(machine, tmp_path):
    assert memory_limit(tmp_path / "nothing") is None and cpu_limit(tmp_path / "nothing") is None
    root = machine("0::/a", V2, {"a/memory.max": "max", "a/memory.high": "max", "a/cpu.max": "max 100000"})
    assert memory_limit(root) is None and cpu_limit(root) is None


def test_what_may_be_used_is_the_least_of_machine_container_and_ulimit(machine, monkeypatch):
    root = machine("0::/a", V2, {"a/memory.max": 3 * GIB})
    monkeypatch.setattr(memory, "physical_memory", lambda: 8 * GIB)
    assert memory.usable_memory(root) == 3 * GIB
    monkeypatch.setattr(resource, "getrlimit", lambda what: (GIB, GIB))
    assert memory.usable_memory(root) == GIB
    monkeypatch.setattr(memory, "physical_memory", lambda: GIB // 2)
    assert memory.usable_memory(root) == GIB // 2
