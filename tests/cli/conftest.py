"""A folder with small specs that a user types commands in, without a process for each."""

from __future__ import annotations

import json

import pytest

from wmlab.cli import main

SPEC = """
wmlab: 1
name: {name}
mdp: {{kind: random, states: 3, actions: 2, seed: 0}}
goals: {{reward: {{kind: generic, count: 3, seed: 0}}, terminate: never}}
agent: {{kind: exact, discount: 0.9}}
extract: {{kind: pseudo_inverse}}
evaluate: {{model_error: {{}}}}
seeds: 2
claims:
  near: {{metric: wm.tv, at_most: {bound}, source: ours}}
profiles:
  smoke: {{seeds: 1}}
"""


class Terminal:
    """Commands in one folder, and what they say."""

    def __init__(self, folder, capsys):
        self.folder, self.capsys = folder, capsys

    def __call__(self, *words, code=0):
        """Standard output of a command, which must end with this code; `err` has the rest."""
        self.capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main([str(word) for word in words])
        self.out, self.err = self.capsys.readouterr()
        assert stop.value.code == code, f"{stop.value.code}\n{self.out}\n{self.err}"
        return self.out

    def json(self, *words):
        return json.loads(self(*words, "--format", "json"))

    def run(self, *words, code=0):
        """A run in this process; its id."""
        self("run", "--jobs", "0", *words, code=code)
        return self.err.rstrip().rpartition("run: ")[2]

    def report(self, *parts):
        return json.loads(self.folder.joinpath("reports", *parts, "results.json").read_text())


def drawn(data, draw):
    """A page as it would be drawn, without the second that drawing takes."""
    results = dict(data.results)
    page = json.dumps(results["provenance"]).encode()
    return {
        "index.html": page,
        "results.json": json.dumps(results, default=str).encode(),
        "figures/map-a.svg": b"<svg/>",
    }


@pytest.fixture
def terminal(tmp_path, monkeypatch, capsys):
    """A folder with the spec tiny.yaml."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("WMLAB_HOME", raising=False)
    monkeypatch.setattr("wmlab.app.page_makers.draw_page", drawn)
    (tmp_path / ".wmlab").mkdir()
    (tmp_path / "tiny.yaml").write_text(SPEC.format(name="tiny", bound=1))
    return Terminal(tmp_path, capsys)
