"""What all tests share."""

from __future__ import annotations

import gc
import os
import signal
import sys
from pathlib import Path

import hypothesis
import pytest

from wmlab.runtime.worker_env import drop_kernel_choices

# Most of the time goes into compiling small programs: each is compiled once, also across processes and sessions.
COMPILED = Path(__file__).resolve().parent.parent / ".pytest_cache" / "compiled"
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(COMPILED))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")
os.environ.setdefault("MPLCONFIGDIR", str(COMPILED.with_name("matplotlib")))  # its list of fonts takes seconds
# Tests run beside each other, one to a core: threads of their own would only wait for one another.
os.environ.setdefault("PJRT_NPROC", "1")
# Without fusion emitters, small programs compile in about two thirds of the time.
os.environ.setdefault("JAX_TRACEBACK_IN_LOCATIONS_LIMIT", "0")  # no program here is read by a person
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false --xla_cpu_use_fusion_emitters=false")

# As commands do: what is computed here has the bits of what workers compute.
drop_kernel_choices()

# Tracing makes many small objects that live on; looking through them all the time takes a seventh of it.
gc.set_threshold(200_000, 20, 100)

# A shell that starts tests in the background ignores Ctrl-C for them and all that they start; some tests send it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes says more of the machine than of the code.
hypothesis.settings.register_profile("wmlab", deadline=None, max_examples=40)
hypothesis.settings.register_profile("thorough", deadline=None, max_examples=200)
hypothesis.settings.load_profile("wmlab")

# What takes longest starts first, so that no worker is left alone with it in the end.
LONGEST = (
    "tests/system/",
    "tests/stages/test_continuous.py",
    "tests/agents/pqn/",
    "tests/test_theory.py",
    "tests/test_examples.py",
    "tests/extraction/continuous/",
    "tests/extraction/test_contract.py",
    "tests/runtime/",
    "tests/spec/test_mutated.py",
)
# Files whose tests begin with the same run of a study.
SHARING = tuple(
    f"tests/system/test_{name}.py" for name in ("commands", "damage", "pages", "reports", "same_bytes", "show")
)


def pytest_collection_modifyitems(items):
    """The longest first; otherwise in their order."""
    items.sort(key=lambda item: next((i for i, start in enumerate(LONGEST) if item.nodeid.startswith(start)), 99))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """A file is run by one worker: its fixtures are made once, and its programs traced once."""
    from xdist.scheduler import LoadFileScheduling

    class ByFile(LoadFileScheduling):
        def _split_scope(self, nodeid):
            file = nodeid.partition("::")[0]
            return "sharing" if file in SHARING else file

    config.option.loadscopereorder = False  # the order is ours
    return ByFile(config, log)


@pytest.fixture(scope="session", autouse=True)
def quick_compilation():
    """Programs here are small and many: compiling them well takes longer than running them badly.

    Commands that tests start compile as they do for a user.
    """
    if "jax" in sys.modules:
        import jax

        jax.config.update("jax_disable_most_optimizations", True)
        jax.devices()  # reads the flags, before a run in this process sets those of its stages


@pytest.fixture(autouse=True)
def cache_of_each_test():
    """`--trust` names a cache for the rest of a process, which is a command's life and not that of these tests."""
    before = os.environ.get("WMLAB_HOME")
    yield
    if before is None:
        os.environ.pop("WMLAB_HOME", None)
    else:
        os.environ["WMLAB_HOME"] = before


@pytest.fixture(scope="session", autouse=True)
def compiled(tmp_path_factory):
    """One folder of the user's own for all workers and commands: each program is compiled once, and not at home."""
    here = tmp_path_factory.getbasetemp()
    folder = (here.parent if "PYTEST_XDIST_WORKER" in os.environ else here) / "compiled"
    folder.mkdir(exist_ok=True)
    os.environ["XDG_CACHE_HOME"] = str(folder)
    return folder


@pytest.fixture(scope="session", autouse=True)
def users_fonts():
    """The sort of fonts that a user's PDFs have. Cutting them down to a figure's letters takes most of the time of
    drawing, so figures are drawn with another sort here, but for a test that asks."""
    if "wmlab.report.figures.style" not in sys.modules:
        return None
    from wmlab.report.figures.style import STYLE

    users, STYLE["pdf.fonttype"] = STYLE["pdf.fonttype"], 3
    return users
