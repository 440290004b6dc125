"""Fingerprints change with what code means, and with nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from textwrap import dedent

import pytest

from wmlab.errors import WmlabError
from wmlab.graph import code
from wmlab.graph.code import EXCLUDED, Closure, Code, KnownFingerprints, read_fingerprint


def closure_of(folder: Path, files: dict[str, str], *modules: str) -> Closure:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
    return Code(folder).closure(modules or ("wmlab.a",))


def code_of(folder: Path, text: str) -> dict[str, str]:
    return closure_of(folder, {"wmlab/a.py": text}).code


PLAIN = """
    def half(x):
        return x / 2
    """


@pytest.mark.parametrize(
    "same",
    [
        "# why\ndef half(x):  # says\n    return x / 2\n",
        '"""A module."""\ndef half(x):\n    """Half of it."""\n    return x / 2\n',
        "def half(\n    x,\n):\n\n    return (\n        x\n        / 2\n    )\n",
    ],
)
def test_comments_docstrings_and_formatting_change_no_fingerprint(tmp_path, same):
    assert code_of(tmp_path, PLAIN) == code_of(tmp_path, same)


@pytest.mark.parametrize(
    "other",
    [
        "def half(x):\n    return x / 3\n",
        "def half(x):\n    return x / 2.0\n",
        "def half(x):\n    return x // 2\n",
        "def half(y):\n    return y / 2\n",
        "def half(x, /):\n    return x / 2\n",
        "@cache\ndef half(x):\n    return x / 2\n",
        "async def half(x):\n    return x / 2\n",
        'def half(x):\n    x = "not a docstring"\n    return x / 2\n',
    ],
)
def test_any_other_change_of_code_changes_the_fingerprint(tmp_path, other):
    assert code_of(tmp_path, PLAIN) != code_of(tmp_path, other)


def test_one_true_and_one_point_zero_are_three_constants(tmp_path):
    assert len({code_of(tmp_path, f"x = {one}")["wmlab.a"] for one in ("1", "True", "1.0", "'1'", "b'1'")}) == 5


def test_docs_of_options_are_prose_and_their_defaults_are_code(tmp_path):
    plain = code_of(tmp_path, "x = option(1, doc='how many', example=3)")
    assert code_of(tmp_path, "x = option(1, doc='the number', example=4)") == plain
    assert code_of(tmp_path, "x = option(2, doc='how many', example=3)") != plain
    assert code_of(tmp_path, "x = other(1, doc='a')") != code_of(tmp_path, "x = other(1, doc='b')")


def test_blocks_for_type_checkers_count_neither_as_code_nor_as_imports(tmp_path):
    files = {"wmlab/b.py": "x = 1"}
    bare = closure_of(tmp_path, {**files, "wmlab/a.py": "x = 1\nimport json"})
    checked = """
        x = 1
        if typing.TYPE_CHECKING:
            import wmlab.b
            import jax
        else:
            import json
        """
    assert closure_of(tmp_path, {**files, "wmlab/a.py": checked}) == bare


@pytest.mark.parametrize(
    "statement",
    [
        "import wmlab.deep.b",
        "import wmlab.deep.b as other",
        "from wmlab.deep import b",
        "from wmlab.deep.b import name",
        "from wmlab.deep.b import *",
        "from .deep import b",
        "from .deep.b import name",
        "from . import deep\nfrom .deep import b",
        "def f():\n    def g():\n        from wmlab.deep.b import name",
        "class C:\n    try:\n        import wmlab.deep.b\n    except ImportError:\n        pass",
        "import importlib\nimportlib.import_module('wmlab.deep.b')",
    ],
)
def test_every_way_to_import_extends_the_closure(tmp_path, statement):
    files = {"wmlab/deep/__init__.py": "", "wmlab/deep/b.py": "import wmlab.c", "wmlab/c.py": "", "wmlab/d.py": ""}
    found = closure_of(tmp_path, {**files, "wmlab/a.py": statement}).code
    assert list(found) == ["wmlab.a", "wmlab.c", "wmlab.deep", "wmlab.deep.b"]


def test_relative_imports_climb_from_a_module_and_from_a_package(tmp_path):
    files = {
        "wmlab/p/__init__.py": "from . import one",
        "wmlab/p/one.py": "from .. import two\nfrom ..q.three import x",
        "wmlab/two.py": "",
        "wmlab/q/three.py": "",  # no __init__: a folder is enough
    }
    found = closure_of(tmp_path, files, "wmlab.p").code
    assert list(found) == ["wmlab.p", "wmlab.p.one", "wmlab.q.three", "wmlab.two"]


def test_a_name_taken_from_a_package_brings_what_its_init_imports(tmp_path):
    files = {
        "wmlab/a.py": "from wmlab.p import thing",
        "wmlab/p/__init__.py": "from wmlab.p.inner import thing",
        "wmlab/p/inner.py": "thing = 1",
    }
    assert list(closure_of(tmp_path, files).code) == ["wmlab.a", "wmlab.p", "wmlab.p.inner"]


def test_import_cycles_are_fine(tmp_path):
    files = {"wmlab/a.py": "import wmlab.b", "wmlab/b.py": "import wmlab.c", "wmlab/c.py": "import wmlab.a"}
    assert list(closure_of(tmp_path, files).code) == ["wmlab.a", "wmlab.b", "wmlab.c"]


def test_a_change_far_down_changes_that_module_only(tmp_path):
    files = {"wmlab/a.py": "import wmlab.b", "wmlab/b.py": "import wmlab.c", "wmlab/c.py": "x = 1"}
    before, after = closure_of(tmp_path, files).code, closure_of(tmp_path, {**files, "wmlab/c.py": "x = 2"}).code
    assert [module for module in before if before[module] != after[module]] == ["wmlab.c"]


def test_language_runtime_and_facade_do_not_count_and_are_not_followed(tmp_path):
    files = {f"{root.replace('.', '/')}.py": "import wmlab.hidden\nimport yaml" for root in EXCLUDED}
    files |= {"wmlab/__init__.py": "import wmlab.hidden\n__version__ = '1'", "wmlab/hidden.py": ""}
    files["wmlab/a.py"] = "import wmlab\n" + "\n".join(f"import {root}\nimport {root}.x" for root in EXCLUDED)
    found = closure_of(tmp_path, files)
    assert list(found.code) == ["wmlab.a"] and not found.libraries


def test_libraries_are_those_that_the_closure_imports_at_any_depth(tmp_path):
    files = {
        "wmlab/a.py": "import os\nimport numpy as np\nimport wmlab.b",
        "wmlab/b.py": "def f():\n    from jax.numpy import dot\n    import scipy.optimize",
        "wmlab/c.py": "import flax",
    }
    assert closure_of(tmp_path, files).libraries == {"numpy", "jax", "scipy"}


def test_stages_of_another_package_are_followed_in_it_and_into_wmlab(tmp_path):
    files = {"toy/add.py": "import toy.rules\nimport wmlab.c", "toy/rules.py": "", "wmlab/c.py": ""}
    assert list(closure_of(tmp_path, files, "toy.add").code) == ["toy.add", "toy.rules", "wmlab.c"]


def test_a_module_without_source_and_a_file_that_is_not_python_are_errors(tmp_path):
    with pytest.raises(WmlabError, match=r"no source file for module wmlab\.missing"):
        closure_of(tmp_path, {}, "wmlab.missing")
    with pytest.raises(WmlabError, match=r"a\.py: cannot be read as Python"):
        code_of(tmp_path, "def (:")


def test_fingerprints_import_nothing_of_the_domain():
    script = (
        "import sys, wmlab.graph.code as c; before = set(sys.modules)\n"
        "found = c.source().closure(['wmlab.results.claims'])\n"
        "assert 'wmlab.results.names' in found.code and 'wmlab.errors' not in found.code, found\n"
        "assert not [m for m in set(sys.modules) - before if m.startswith(('wmlab', 'jax', 'numpy'))]"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_closure_of_forty_modules_takes_tens_of_milliseconds_once_and_none_again(tmp_path):
    body = "\n".join(f"def f{i}(x, y=1):\n    z = [x + y for y in range(x)]\n    return z[0] * {i}" for i in range(40))
    files = {f"wmlab/m{i}.py": f"import wmlab.m{i + 1}\n{body}" for i in range(40)} | {"wmlab/m40.py": ""}
    closure_of(tmp_path, files, "wmlab.m0")
    source = Code(tmp_path)
    start = time.perf_counter()
    first = source.closure(["wmlab.m0"])
    middle = time.perf_counter()
    assert source.closure(["wmlab.m0"]) is first
    assert len(first.code) == 41 and middle - start < 2.0 and time.perf_counter() - middle < 0.1


@pytest.fixture
def known(tmp_path, monkeypatch):
    """Asks for the fingerprint of one module in a new process, so to speak; says which files were read for it."""
    read: list[str] = []

    def reading(path, package):
        read.append(path.name)
        return read_fingerprint(path, package)

    monkeypatch.setattr(code, "RECENT", -1.0)  # files of a moment ago count as settled
    monkeypatch.setattr(code, "read_fingerprint", reading)

    def ask() -> tuple[str, list[str]]:
        read.clear()
        code.read_unchanged.cache_clear()
        kept = KnownFingerprints(tmp_path / "cache" / "fingerprints.json")
        found = Code(tmp_path, known=kept).closure(["wmlab.a"]).code["wmlab.a"]
        kept.keep()
        return found, list(read)

    (tmp_path / "cache").mkdir()
    (tmp_path / "wmlab").mkdir()
    (tmp_path / "wmlab" / "a.py").write_text("x = 1")
    return ask


def test_a_file_that_has_not_changed_is_not_read_again(known):
    first, read = known()
    assert read == ["a.py"] and known() == (first, [])


def test_a_changed_file_is_read_again_even_where_its_size_and_date_are_the_same(known, tmp_path):
    first, _ = known()
    path = tmp_path / "wmlab" / "a.py"
    before = path.stat()
    path.write_text("x = 2")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_mtime_ns == before.st_mtime_ns and path.stat().st_size == before.st_size
    second, read = known()
    assert read == ["a.py"] and second != first


def test_a_file_of_a_moment_ago_is_read_every_time(known, monkeypatch):
    monkeypatch.setattr(code, "RECENT", 2.0)
    assert known() == known() and known()[1] == ["a.py"]


def test_fingerprints_of_another_python_or_reader_and_damaged_ones_do_not_count(known, tmp_path, monkeypatch):
    first, _ = known()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "version", "another")
        assert known() == (first, ["a.py"])
    (tmp_path / "cache" / "fingerprints.json").write_text("{")
    assert known() == (first, ["a.py"])


def test_in_one_process_a_file_is_read_once_for_all_cache_folders(known, tmp_path, monkeypatch):
    first, _ = known()
    monkeypatch.setattr(code, "read_fingerprint", None)  # nobody is to call it
    another = KnownFingerprints(tmp_path / "other" / "fingerprints.json")
    assert Code(tmp_path, known=another).closure(["wmlab.a"]).code["wmlab.a"] == first


def test_without_a_cache_folder_nothing_is_kept(known, tmp_path):
    (tmp_path / "cache").rmdir()
    assert known()[1] == known()[1] == ["a.py"] and not (tmp_path / "cache").exists()
