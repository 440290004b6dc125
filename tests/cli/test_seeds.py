"""Seeds from the command line hold for every spec that a run needs: members of a suite, and specs compared with."""

from __future__ import annotations

import pytest

from tests.cli.conftest import SPEC

COMPARED = SPEC.format(name="other", bound=1) + "compare: {with_tiny: {with: tiny.yaml, distance: tv}}\n"
CHAIN = SPEC.format(name="third", bound=1) + "compare: {with_other: {with: other.yaml, distance: tv}}\n"


@pytest.fixture
def compared(terminal):
    """Worlds that each seed draws anew, and models that are compared over two specs."""
    for name, text in (("tiny", SPEC.format(name="tiny", bound=1)), ("other", COMPARED), ("third", CHAIN)):
        text = text.replace("actions: 2, seed: 0}", "actions: 2}").replace("name: other", "name: other\ntitle: same")
        (terminal.folder / f"{name}.yaml").write_text(text)
    return terminal


@pytest.mark.parametrize(
    ("flags", "seeds"),
    [(["--set", "seeds=[1001, 1002, 1003]"], [1001, 1002, 1003]), (["--seeds", "4"], [0, 1, 2, 3])],
)
def test_seeds_reach_the_specs_that_are_compared_with(compared, flags, seeds):
    compared("run", "--jobs", "0", "third.yaml", *flags)
    (results,) = (compared.folder / "reports" / "third").glob("*/results.json")
    found = compared.report("third", results.parent.name)
    assert found["seeds"] == seeds
    assert found["metrics"]["compare.with_other.tv"]["values"] == pytest.approx([0] * len(seeds), abs=1e-9)
    planned = compared.json("plan", "third.yaml", *flags)
    drawn = {stage["label"] for stage in planned["stages"] if stage["label"].startswith("tiny: extract")}
    assert drawn == {f"tiny: extract seed={seed}" for seed in seeds}


def test_without_a_flag_seeds_that_do_not_pair_are_still_a_mistake(compared):
    (compared.folder / "other.yaml").write_text(COMPARED.replace("seeds: 2", "seeds: [7, 8]"))
    compared("plan", "other.yaml", code=2)
    assert "tiny has no seeds 7, 8 to pair with" in compared.err + compared.out
    compared("plan", "other.yaml", "--set", "seeds=[7, 8, 9]")
