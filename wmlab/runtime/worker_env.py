"""The environment of a worker: its cores, threads and accelerator, and the cache of compiled programs.

The bits of a result may depend on the number of threads. So these settings follow from `Stage.cores` alone, and never
from the number of workers; and of the user's environment no setting of JAX, XLA, NumPy or its BLAS that could change a
bit reaches a stage.
"""

from __future__ import annotations

import ctypes
import fcntl
import hashlib
import os
import platform
import re
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

from wmlab.runtime.compiled import compiled_folder

# Of the user's settings of JAX, those that choose the device or only tell what happens; the others may change bits.
_KEPT = frozenset({"JAX_PLATFORMS", "JAX_LOG_COMPILES", "JAX_TRACEBACK_FILTERING", "JAX_LOGGING_LEVEL"})
# What settings of NumPy and its linear algebra begin with: those of kernels make it round as another processor would.
_OF_NUMPY = ("NPY_", "OPENBLAS_", "MKL_", "BLIS_")
GIVEN = "WMLAB_DEVICES_GIVEN"  # set where an engine has given this process its devices, which are left as they are
_BLAS = re.compile(r"\S*(?:openblas|libblas)\S*\.so\S*")
_SET_THREADS = (
    "openblas_set_num_threads",
    "scipy_openblas_set_num_threads64_",
    "scipy_openblas_set_num_threads",
    "openblas_set_num_threads64_",
)


def settings(cores: int, slot: int = 0, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The variables for a process that runs stages of so many cores; `slot` chooses its accelerator.

    A stage runs on the first of the accelerators, and sees the others: seeds that train together share all of them.
    Of those that an engine gave to this process none is left out, and none is added.
    """
    threads = str(cores)
    devices = gpus(environ)
    flags = ["--xla_cpu_multi_thread_eigen=false"] if cores == 1 else []
    values = {
        "OPENBLAS_NUM_THREADS": threads,
        "OMP_NUM_THREADS": threads,
        "MKL_NUM_THREADS": threads,
        "PJRT_NPROC": threads,  # the size of the thread pool of XLA on CPU
        "PYTHONHASHSEED": "0",
        "JAX_TRACEBACK_IN_LOCATIONS_LIMIT": "0",  # where an operation came from is looked up for each, and never read
    }
    programs, _ = compiled_folder(f"{machine()}-{cores}")
    if programs is not None:
        values["JAX_COMPILATION_CACHE_DIR"] = str(programs)
        values["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
        values["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "-1"
    if devices:
        own = slot % len(devices)
        if not environ.get(GIVEN) or (own and "CUDA_VISIBLE_DEVICES" in environ):
            values["CUDA_VISIBLE_DEVICES"] = ",".join(devices[own:] + devices[:own])
        values["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"  # workers may share a device
        flags.append("--xla_gpu_deterministic_ops=true")
    values["XLA_FLAGS"] = " ".join(flags)
    return values


def no_compiled_programs(cores: int) -> str:
    """Why compiled programs cannot be kept, in a sentence; empty where they can."""
    return compiled_folder(f"{machine()}-{cores}")[1]


def environment(cores: int, slot: int = 0, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The whole environment of a worker process."""
    kept = {name: value for name, value in environ.items() if not _may_change_bits(name)}
    path = os.pathsep.join(os.path.abspath(entry) for entry in sys.path)
    return {**kept, **settings(cores, slot, environ), "PYTHONPATH": path}


def _may_change_bits(name: str) -> bool:
    return _chooses_kernels(name) or (name.startswith("JAX_") and name not in _KEPT)


def _chooses_kernels(name: str) -> bool:
    return name.startswith(_OF_NUMPY) and not name.endswith("_NUM_THREADS")


def drop_kernel_choices() -> None:
    """Have NumPy compute with this processor's own kernels, whatever the user's settings say, once it is imported."""
    for name in filter(_chooses_kernels, list(os.environ)):
        del os.environ[name]


def gpus(environ: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """The graphics devices that stages may use, found without JAX."""
    platforms = environ.get("JAX_PLATFORMS", "")
    if platforms and not {"cuda", "gpu"} & set(platforms.split(",")):
        return ()
    if (visible := environ.get("CUDA_VISIBLE_DEVICES")) is not None:
        return tuple(name for name in visible.split(",") if name.strip() and name.strip() != "-1")
    listed = Path("/proc/driver/nvidia/gpus")
    return tuple(str(index) for index, _ in enumerate(listed.iterdir())) if listed.is_dir() else ()


@cache
def machine() -> str:
    """A short name for this sort of processor: compiled programs are not shared with other sorts."""
    features = ""
    with suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as file:
        features = next((line for line in file if line.startswith(("flags", "Features"))), "")
    return hashlib.sha256(f"{platform.machine()} {features}".encode()).hexdigest()[:8]


class CoreClaim:
    """So many cores for this process, apart from those that other workers on this machine have claimed.

    A claim is a locked file per core, so it ends with its process. Where too few cores are free, nothing is claimed:
    the system then shares cores out among all that wait for one, also when one becomes free. How many threads there
    are, `settings` says either way.
    """

    def __init__(self, cores: int):
        self._files: list[int] = []
        self._before: set[int] | None = None
        if not hasattr(os, "sched_setaffinity"):  # macOS: the thread settings are all there is
            return
        self._before = os.sched_getaffinity(0)
        chosen = self._free(cores)
        if len(chosen) == cores:
            os.sched_setaffinity(0, chosen)
        else:
            self.close()

    def close(self) -> None:
        """Give the cores back and run on all of them again."""
        for descriptor in self._files:
            os.close(descriptor)
        self._files = []
        if self._before:
            os.sched_setaffinity(0, self._before)

    def _free(self, cores: int) -> list[int]:
        folder = Path(tempfile.gettempdir()) / f"wmlab-cores-{os.getuid()}"
        free: list[int] = []
        for core in sorted(self._before or ()):
            if len(free) == cores:
                break
            with suppress(OSError):  # taken, or nobody can tell here which are
                folder.mkdir(mode=0o700, exist_ok=True)
                descriptor = os.open(folder / str(core), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    os.close(descriptor)
                    continue
                self._files.append(descriptor)
                free.append(core)
        return free


_here: int | None = None  # the cores that this process was set up for


def prepare_here(cores: int) -> bool:
    """Set this process up for stages of so many cores; False where it is set up for another number already."""
    global _here
    if _here is None:
        for name in [name for name in os.environ if _may_change_bits(name)]:
            del os.environ[name]
        os.environ.update(settings(cores))
        _here = cores
    _limit_loaded_blas(_here)
    return _here == cores


def came_first() -> str:
    """The library that was imported here with the user's settings, before the process was set up; empty for none."""
    if _here is None and "jax" in sys.modules:
        return "JAX"
    chosen = "numpy" in sys.modules and any(map(_chooses_kernels, os.environ))
    return "NumPy" if _here is None and chosen else ""


def _limit_loaded_blas(threads: int) -> None:
    # NumPy is loaded by now, and its BLAS reads the environment only when it is loaded.
    with suppress(OSError), open("/proc/self/maps", encoding="utf-8") as file:
        for path in sorted(set(_BLAS.findall(file.read()))):
            library = ctypes.CDLL(path)
            for name in _SET_THREADS:
                if hasattr(library, name):
                    getattr(library, name)(ctypes.c_int(threads))
