"""Whatever is in a spec, `wmlab validate` answers in little time and memory: soundly, or with a limit in words."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.spec.mutation import text
from wmlab import limits
from wmlab.spec.yaml.load import load

ROOT = Path(__file__).parents[2]
QUICKSTART = ROOT / "specs" / "quickstart.yaml"
SECONDS, MEGABYTES = 10, 300  # of one core; two seconds are the aim, and a busy machine takes its time
LIMIT = f"resource.setrlimit(resource.RLIMIT_DATA, 2 * ({MEGABYTES * 2**20},))"
CODE = f"import resource, sys; {LIMIT}; from wmlab.cli import main; main(sys.argv[1:])"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "fourrooms.yaml").write_bytes((ROOT / "specs" / "base" / "fourrooms.yaml").read_bytes())
    return tmp_path


def wmlab(folder: Path, *words: str) -> tuple[int, str]:
    """Exit code and all that a command prints; it stays within a sane time, and within its memory or it would fail."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    answer = subprocess.run(
        [sys.executable, "-c", CODE, *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "WMLAB_HOME": str(folder / "home"), "OPENBLAS_NUM_THREADS": "1"},
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert "Traceback" not in answer.stderr, answer.stderr
    assert after.ru_utime - before.ru_utime < SECONDS
    return answer.returncode, answer.stdout + answer.stderr


def quickstart(folder: Path, **changes: object) -> str:
    """A file with the quickstart under other values of its sections."""
    data = {**load(QUICKSTART).plain(), "name": "tried", **changes}
    (folder / "spec.yaml").write_text(text(data), encoding="utf-8")
    return "spec.yaml"


def on_one_line(folder: Path, claims: str) -> str:
    head = QUICKSTART.read_text(encoding="utf-8").partition("claims:")[0]
    (folder / "spec.yaml").write_text(f"{head}claims: {{{claims}}}\n", encoding="utf-8")
    return "spec.yaml"


@pytest.mark.parametrize("claim", ["{metric: wm.none, at_most: 1}", "{metric: wm.mse, at_mostt: 1, source: ours}"])
def test_fifteen_hundred_wrong_claims_on_one_line_are_told_one_by_one(folder, claim):
    code, out = wmlab(folder, "validate", on_one_line(folder, ", ".join(f"c{i}: {claim}" for i in range(1_500))))
    assert code == 2 and out.splitlines()[-1] in ("1500 mistakes", "3000 mistakes")
    assert max(map(len, out.splitlines())) < 500 and len(out) < 2_000_000


def test_a_chain_of_files_that_extend_each_other_ends(folder):
    for i in range(300):
        parent = f"extends: {i - 1}.yaml\n" if i else ""
        (folder / f"{i}.yaml").write_text(f"wmlab: 1\n{parent}", encoding="utf-8")
    code, out = wmlab(folder, "validate", "299.yaml")
    assert code == 2 and f"extends: {limits.FILES} files extend each other before this one; no more are read" in out
    assert wmlab(folder, "validate", f"{limits.FILES - 1}.yaml")[0] == 0


def test_thousands_of_names_under_let_are_refused(folder):
    names: dict[str, object] = {"n0": 1} | {f"n{i}": f"n{i - 1}" for i in range(1, 20_000)}
    code, out = wmlab(folder, "validate", quickstart(folder, let=names))
    assert code == 2 and f"let: expected at most {limits.LET_NAMES} keys, not 20000" in out


def test_as_many_names_under_let_as_are_allowed_are_worked_out(folder):
    names: dict[str, object] = {"n0": 1} | {f"n{i}": f"n{i - 1}" for i in range(1, limits.LET_NAMES)}
    assert wmlab(folder, "validate", quickstart(folder, let=names))[0] == 0


def test_more_values_than_a_spec_needs_are_refused(folder):
    code, out = wmlab(folder, "validate", quickstart(folder, let={f"n{i}": i for i in range(150_000)}))
    assert code == 2 and "more than 100 000 values" in out


@pytest.mark.slow
def test_a_suite_of_twenty_thousand_members_is_refused(folder):
    (folder / "spec.yaml").write_text(
        text({"wmlab": 1, "name": "all", "suite": [f"{i}.yaml" for i in range(20_000)]}), encoding="utf-8"
    )
    code, out = wmlab(folder, "validate", "spec.yaml")
    assert code == 2 and f"suite: expected at most {limits.SUITE_MEMBERS} items, not 20000" in out


@pytest.mark.slow
def test_a_suite_of_as_many_members_as_are_allowed_is_read(folder):
    members = [f"{i}.yaml" for i in range(limits.SUITE_MEMBERS)]
    spec = QUICKSTART.read_text(encoding="utf-8")
    for i, member in enumerate(members):
        (folder / member).write_text(spec.replace("name: quickstart", f"name: q{i}"), encoding="utf-8")
    claims = {"all": {"metric": "wm.mse", "where": {"spec": "all"}, "equals": 0, "source": "ours"}}
    (folder / "spec.yaml").write_text(
        text({"wmlab": 1, "name": "all", "suite": members, "claims": claims}), encoding="utf-8"
    )
    assert wmlab(folder, "validate", "spec.yaml")[0] == 0


@pytest.mark.slow
def test_a_sweep_of_as_many_points_as_are_allowed_is_read(folder):
    sweep = {"shuffle": {"goals.at.shuffle": list(range(limits.POINTS))}}
    claims = {"all": {"metric": "wm.mse", "where": {"shuffle": "all"}, "at_most": 1, "source": "ours"}}
    assert wmlab(folder, "validate", quickstart(folder, sweep=sweep, claims=claims))[0] == 0


@pytest.mark.parametrize("count", [5_000_000, 2**40, 1e300])
@pytest.mark.parametrize("name", ["continuous_gaussian_stochastic", "continuous_indicator_deterministic"])
def test_goals_on_a_grid_are_counted_before_they_are_laid_out(folder, name, count):
    data = load(ROOT / "specs" / "theory" / f"{name}.yaml").plain()
    data["goals"]["at"]["row"] = {"linspace": [0, 1.5, count]}
    (folder / "spec.yaml").write_text(text(data), encoding="utf-8")
    code, out = wmlab(folder, "validate", "spec.yaml")
    assert code == 2 and " goals; 10 000 are allowed" in out


@pytest.mark.parametrize(
    ("spec", "old", "new", "message"),
    [
        ("inventory", "{capacity: 12}", "{capacity: 5_000_000}", "mdp.state: 5 000 001 states; 2 000 000 are allowed"),
        ("inventory", "[0, 3, 6]", str([*range(20_000)]), "mdp.actions: 20 000 actions; 10 000 are allowed"),
        ("inventory", "[0, 3, 6]", f"{[*range(200)]}, more: {[*range(200)]}", "mdp.actions: 40 000 actions"),
        (
            "inventory",
            "{kind: categorical",
            "{kind: uniform, low: 0, high: 5_000_000_000} #",
            "outcomes of chance need",
        ),
        (
            "audit_q_table",
            "grid: [6, 8]",
            "grid: [1_000_000, 8]",
            "mdp.states.grid: 8 000 000 cells; 2 000 000 are allowed",
        ),
        ("noisy_pendulum", "grid: {angle: 96, speed: 97}", "grid: 1.0e+300", "must be at most 1 000 000, not 1e+300"),
    ],
)
def test_worlds_are_counted_before_they_are_laid_out(folder, spec, old, new, message):
    written = (ROOT / "specs" / "examples" / f"{spec}.yaml").read_text(encoding="utf-8")
    assert old in written
    (folder / "spec.yaml").write_text(written.replace(old, new), encoding="utf-8")
    code, out = wmlab(folder, "validate", "spec.yaml")
    assert code == 2 and message in out


def test_profiles_are_few(folder):
    code, out = wmlab(folder, "validate", quickstart(folder, profiles={f"p{i}": {"seeds": 2} for i in range(1_000)}))
    assert code == 2 and f"profiles: expected at most {limits.PROFILES} keys, not 1000" in out


def test_every_limit_is_on_the_page_of_the_language():
    page = (ROOT / "docs" / "language.md").read_text(encoding="utf-8").partition("## Limits")[2]
    for name in ("NAMED", "LET_NAMES", "POINTS", "STATES", "GOALS", "SUITE_MEMBERS", "FILES", "PROFILES", "VALUES"):
        assert f"{limits.grouped(getattr(limits, name))} " in page, name
