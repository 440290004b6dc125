"""What a run notices beside its numbers."""

from __future__ import annotations

import pytest

import wmlab

SPEC = """
wmlab: 1
name: wrong_support
mdp: {{kind: tabular, states: [a, b, c], actions: [go], transitions: {{a: {{go: b}}, b: {{go: c}}, c: {{go: a}}}}}}
goals: {{reward: {{kind: indicator}}, at: all, terminate: never}}
agent: {{kind: exact, discount: 0.9}}
extract: {{kind: lp, prior: {{support: {{kind: table, of: {{a: {support}}}}}}}}}
evaluate: {{fit: {{}}}}
"""


@pytest.fixture
def findings(tmp_path, monkeypatch):
    monkeypatch.setenv("WMLAB_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)

    def run(support):
        (tmp_path / "spec.yaml").write_text(SPEC.format(support=support))
        found = wmlab.load("spec.yaml").run(jobs=0, progress=False)
        return found.results["findings"], found.report.read_text()

    return run


def test_a_support_that_excludes_every_fitting_kernel_is_said_and_where(findings):
    (finding,), page = findings("[a, c]")
    assert finding.startswith("seed 0: extract.prior.support rules out every kernel that explains the values at 1 of 3")
    assert "the worst is a, go (residual" in finding
    assert "rules out every kernel" in page


def test_a_support_that_holds_the_truth_is_no_finding(findings):
    found, page = findings("[a, b]")
    assert found == []
    assert "rules out" not in page
