"""Whatever the bytes are, they load or are refused with places; never a traceback."""

from __future__ import annotations

import math
import re

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from wmlab.errors import Source, SpecErrors
from wmlab.spec.yaml import parser as yaml_parser
from wmlab.spec.yaml.load import load_bytes, load_value

FLAG = Source("--set a.b")
PARSERS = [yaml.BaseLoader] + ([yaml.CBaseLoader] if yaml.__with_libyaml__ else [])


def try_load(data: bytes) -> None:
    """Loads, or fails with mistakes that can be shown."""
    try:
        root = load_bytes(data, "f.yaml")
    except SpecErrors as caught:
        assert caught.errors
        for error in caught.errors:
            line, column, text = error.source.line, error.source.column, error.source.text
            assert line is None or (line >= 1 and column is not None and text is not None)
            assert line is None or 1 <= (column or 0) <= len(text or "") + 1
            assert error.message and not re.search("[\n\t]", error.message) and error.excerpt() is not None
    else:
        finite(root.plain())


def finite(data: object) -> None:
    if isinstance(data, dict):
        for key, value in data.items():
            assert isinstance(key, str)
            finite(value)
    elif isinstance(data, list):
        for value in data:
            finite(value)
    else:
        assert not isinstance(data, float) or math.isfinite(data)


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_load_or_are_refused(data):
    try_load(data)


@settings(deadline=None)
@given(st.text(max_size=100) | st.text(alphabet="ab:-?[]{},#&*!|>'\"%@` \n\t\r<~.0_e+\\x85\u2028", max_size=60))
def test_any_text_loads_or_is_refused(text):
    try_load(text.encode("utf-8", errors="surrogatepass"))
    try:
        load_value(text, FLAG)
    except SpecErrors as caught:
        assert {error.source for error in caught.errors} == {FLAG}


SAMPLE = """wmlab: 1
name: maze
let: {g: 10, dt: 0.05}
mdp: &world
  kind: gridworld
  map: |
    ###
    #.#
    ###
  actions: [up, right, "down", 'left']
  teleports:
    - {from: [4, 4], to: {rows: [6, 9]}}
    - *again
claims:
  one: {metric: wm.mse, where: {goals: 20}, at_most: 1e-3, source: "App. F.4"}
""".replace("*again", "{from: &c [1, 1], to: *c}")


@pytest.mark.parametrize("parser", PARSERS)
@settings(deadline=None)
@given(
    slips=st.lists(
        st.tuples(
            st.integers(0, len(SAMPLE)), st.integers(0, 4), st.text(alphabet=" \n\t:-[]{},&*!|>'\"#%ax1?<", max_size=3)
        ),
        min_size=1,
        max_size=4,
    )
)
def test_a_spec_with_slips_of_the_pen_loads_or_is_refused(parser, slips):
    text = SAMPLE
    for at, dropped, put in slips:
        text = text[:at] + put + text[at + dropped :]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(yaml_parser, "_LOADER", parser)
        try_load(text.encode())
