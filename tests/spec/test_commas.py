"""Expressions that YAML cut at their commas are found again."""

from __future__ import annotations

import pytest

from wmlab.errors import SpecErrors
from wmlab.spec.yaml.diagnose import unquoted_commas
from wmlab.spec.yaml.load import load_bytes

CUT = "  next: {speed: clip(speed + wind, -8, 8), angle: angle + dt * next(speed)}  # clip(a, b)"


def test_an_expression_that_yaml_cut_at_its_commas_is_found_again():
    root = load_bytes(CUT.encode(), "f")
    mapping = root.at(["next"])
    assert mapping is not None and list(mapping.keys) == ["speed", "-8", "8)", "angle"]
    for key in ("-8", "8)"):
        assert unquoted_commas(CUT, key, mapping.keys[key].column) == "clip(speed + wind, -8, 8)"
    assert unquoted_commas(CUT, "8)") == "clip(speed + wind, -8, 8)"
    assert unquoted_commas(CUT, "angle", mapping.keys["angle"].column) is None


@pytest.mark.parametrize(
    ("line", "key", "found"),
    [
        ("{a: max(x, min(y, 2)), b: 1}", "2))", "max(x, min(y, 2))"),
        ("[0, clip(a, 0, 1), 2]", "1)", "clip(a, 0, 1)"),
        ("{a: 'max(x, y)', b: max(x, z)}", "z)", "max(x, z)"),
        ("{a: x)}", "x)", None),
        ("{a: max(x, y", "y", None),
        ("{a: max(x, y)}", "other)", None),
        ("{a: 1, b: 2}", "b", None),
        ("", "8)", None),
    ],
)
def test_only_a_piece_of_a_cut_text_is_found(line, key, found):
    assert unquoted_commas(line, key) == found


def test_two_cut_expressions_are_no_duplicate_keys():
    with pytest.raises(SpecErrors) as caught:
        load_bytes(b"{a: clip(x, -8, 8), b: clip(y, -8, 8)}", "f.yaml")
    assert [(error.message, error.hint) for error in caught.value.errors] == [
        ("YAML cut 'clip(y, -8, 8)' at its commas", "quote it")
    ]
