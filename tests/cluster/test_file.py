"""Cluster files: what may stand in them, and every mistake at its line before anything is submitted."""

from __future__ import annotations

import pytest

from wmlab.cli import completion
from wmlab.cluster.file import DEFAULT, ENGINES, open_cluster
from wmlab.errors import SpecErrors, UsageError
from wmlab.sections.cluster import ClusterFile
from wmlab.spec.check.formats import as_text

WHOLE = """\
engine: slurm
partition: gpu
account: vision
accelerators: 1
cores: 2
memory: 16G
time: 2h
at_once: 50
setup: [module load cuda/12.4]
retries: 2
"""


@pytest.fixture
def said(tmp_path, monkeypatch):
    """What is said of a cluster file that is wrong."""
    monkeypatch.chdir(tmp_path)

    def complaint(text: str) -> str:
        (tmp_path / "c.yaml").write_text(text)
        with pytest.raises(SpecErrors) as mistakes:
            open_cluster("c.yaml")
        return as_text(mistakes.value.errors)

    return complaint


def test_a_whole_file_is_read(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text(WHOLE)
    cluster = open_cluster(str(path))
    assert (cluster.time, cluster.memory) == (7200.0, 16 * 2**30)
    assert cluster.options == ClusterFile(
        "slurm", None, "gpu", "vision", 1.0, 2, "16G", "2h", 50, ("module load cuda/12.4",), 2
    )
    assert cluster.line("memory") == f"`memory` in {path}:6:9"
    assert cluster.change("memory") == f"change `memory` in {path}:6:9"


def test_a_line_that_is_not_there_is_to_be_added(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text("engine: ray\n")
    assert open_cluster(str(path)).change("memory") == f"add `memory` to {path}"
    assert open_cluster("ray").change("memory") == "change `memory` in a file for --on"


def test_a_name_is_an_engine_with_its_defaults_and_a_variable_sets_one(monkeypatch):
    assert open_cluster("ray").options == ClusterFile("ray")
    assert open_cluster(None) is None
    monkeypatch.setenv(DEFAULT, "slurm")
    assert open_cluster(None).engine == "slurm" and open_cluster("local").is_local


def test_a_name_that_is_neither_says_what_it_may_be():
    with pytest.raises(UsageError, match="--on slrm: there is no such file, .* did you mean 'slurm'?"):
        open_cluster("slrm")


def test_an_unknown_engine_and_an_unknown_key_are_told_at_their_lines(said):
    assert said("engine: slrm\ntiem: 2h\ncores: two\nretries: -1\n") == (
        "c.yaml:1:9: engine: expected slurm, ray or local, not 'slrm'\n"
        "    1 | engine: slrm\n"
        "      |         ^ did you mean 'slurm'?\n"
        "c.yaml:2:1: unknown key 'tiem'\n"
        "    2 | tiem: 2h\n"
        "      | ^ did you mean 'time'?\n"
        "c.yaml:3:8: cores: expected a whole number, not 'two'\n"
        "    3 | cores: two\n"
        "      |        ^\n"
        "c.yaml:4:10: retries: must be at least 0, not -1\n"
        "    4 | retries: -1\n"
        "      |          ^\n"
        "4 mistakes"
    )


def test_a_time_or_a_size_without_a_unit_is_refused(said):
    assert "c.yaml:2:7: time: 120 has no unit\n    2 | time: 120\n      |       ^ say 120s" in said(
        "engine: ray\ntime: 120\n"
    )
    assert "c.yaml:2:9: memory: 16 has no unit" in said("engine: ray\nmemory: 16\n")
    assert "time: '2 weeks' is no time; say a number and its unit" in said("engine: ray\ntime: 2 weeks\n")
    assert "16M is less than a worker takes" in said("engine: ray\nmemory: 16M\n")


def test_a_time_so_short_that_slurm_warns_at_once_is_refused(said, tmp_path):
    assert said("engine: slurm\ntime: 90s\n").startswith(
        "c.yaml:2:7: time: 90s is over before a job has begun: Slurm warns it a minute or more before the end of its "
        "time\n    2 | time: 90s\n      |       ^ say 2m or more"
    )
    for text in ("engine: slurm\ntime: 2m\n", "engine: ray\ntime: 90s\n"):
        (tmp_path / "c.yaml").write_text(text)
        assert open_cluster("c.yaml").time


def test_what_means_nothing_to_an_engine_is_refused_there(said):
    assert "c.yaml:2:1: partition: means nothing to engine: ray" in said("engine: ray\npartition: gpu\n")
    assert "c.yaml:2:1: address: means nothing to engine: slurm" in said("engine: slurm\naddress: auto\n")
    assert "it is for slurm and ray; leave it out" in said("engine: local\naccelerators: 1\n")
    assert "Slurm gives whole accelerators, not 0.25" in said("engine: slurm\naccelerators: 0.25\n")
    assert "c.yaml:2:15: accelerators: Ray gives a part of one accelerator, or whole ones, not 1.5" in said(
        "engine: ray\naccelerators: 1.5\n"
    )
    assert "setup[1]: a line of shell has no line breaks" in said('engine: slurm\nsetup: [a, "b\\nc"]\n')


def test_an_empty_file_or_a_list_says_how_a_cluster_file_begins(said):
    assert "the file is empty\n   a cluster file says at least `engine: slurm`" in said("")
    assert "a cluster file is a mapping of keys to values, not a list" in said("- engine: ray\n")
    assert "missing key 'engine'" in said("cores: 2\n")


def test_the_shell_completes_engines_and_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "slow.yaml").write_text("engine: ray\n")
    assert completion.clusters("") == [*ENGINES, "slow.yaml"]
    assert completion.clusters("sl") == ["slurm", "slow.yaml"]
