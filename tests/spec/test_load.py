"""A file becomes a tree with positions, or a list of mistakes with places."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml

from wmlab.errors import Source, SpecError, SpecErrors
from wmlab.spec.yaml import parser as yaml_parser
from wmlab.spec.yaml.load import load, load_bytes, load_value
from wmlab.spec.yaml.node import from_plain, show_path

FLAG = Source("--set a.b")
PARSERS = [yaml.BaseLoader] + ([yaml.CBaseLoader] if yaml.__with_libyaml__ else [])


@pytest.fixture(params=PARSERS, ids=lambda parser: parser.__name__)
def parser(request, monkeypatch):
    """Both of PyYAML's parsers: the one in C is there on most machines, not on all."""
    monkeypatch.setattr(yaml_parser, "_LOADER", request.param)


def mistakes(text: str | bytes) -> list[SpecError]:
    with pytest.raises(SpecErrors) as caught:
        load_bytes(text if isinstance(text, bytes) else text.encode(), "f.yaml")
    return list(caught.value.errors)


# --- what is read ------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("-3", -3),
        ("+3", 3),
        ("010", 10),
        ("5_000_000", 5_000_000),
        ("0x1F", 31),
        ("0o17", 15),
        ("1e-4", 1e-4),
        ("1E5", 1e5),
        (".5", 0.5),
        ("-.5", -0.5),
        ("5.", 5.0),
        ("8_192.5", 8192.5),
        ("1e+3", 1000.0),
        ("6.7e-3", 6.7e-3),
        ("true", True),
        ("True", True),
        ("TRUE", True),
        ("false", False),
        ("null", None),
        ("Null", None),
        ("~", None),
        ("", None),
        ("'5'", "5"),
        ('"true"', "true"),
        ("''", ""),
        ("on", "on"),
        ("off", "off"),
        ("yes", "yes"),
        ("no", "no"),
        ("y", "y"),
        ("n", "n"),
        ("1:30", "1:30"),
        ("2024-01-02", "2024-01-02"),
        ("1__0", "1__0"),
        ("_1", "_1"),
        ("1_", "1_"),
        ("0b11", "0b11"),
        ("-0x1F", "-0x1F"),
        ("0o9", "0o9"),
        ("e5", "e5"),
        (".", "."),
        ("1/sqrt(2)", "1/sqrt(2)"),
        ("١", "١"),
        ("tRUE", "tRUE"),
        ("clip(a, -8, 8)", "clip(a, -8, 8)"),
        ("|\n  5\n", "5\n"),
        ("[1, a, 2.5]", [1, "a", 2.5]),
        ("{a: 1, b: {c: no}}", {"a": 1, "b": {"c": "no"}}),
        ("- 1\n- x", [1, "x"]),
    ],
)
def test_scalars_are_those_of_yaml_1_2(text, value):
    found = load_value(text, FLAG).plain()
    assert (type(found), found) == (type(value), value)


def test_every_value_and_key_knows_where_it_was_written():
    root = load_bytes("wmlab: 1\nägent:\n  kind: 'pqn'\n  steps: [1, {x: 2}]\n".encode(), "f.yaml")
    assert root.source == Source("f.yaml", 1, 1, "wmlab: 1")
    assert root.keys["ägent"] == Source("f.yaml", 2, 1, "ägent:")
    kind = root.at(["ägent", "kind"])
    assert kind is not None and (kind.value, kind.source) == ("pqn", Source("f.yaml", 3, 9, "  kind: 'pqn'"))
    inner = root.at(["ägent", "steps", 1])
    assert inner is not None and inner.source.column == 14 and inner.keys["x"].column == 15
    assert root.at(["ägent", "steps", 2]) is None
    assert root.at(["wmlab", "x"]) is None
    assert root.at([]) is root


def test_keys_are_texts_as_written():
    assert load_bytes(b"0: a\n1.50: b\ntrue: c\n~: d\n'': e\n? f\n: g", "f").plain() == {
        "0": "a",
        "1.50": "b",
        "true": "c",
        "~": "d",
        "": "e",
        "f": "g",
    }


def test_a_byte_order_mark_and_windows_line_ends_are_tolerated():
    root = load_bytes(b"\xef\xbb\xbfa: 1\r\nb: 2\r\n", "f")
    assert root.plain() == {"a": 1, "b": 2}
    assert root.keys["a"] == Source("f", 1, 1, "a: 1") and root.keys["b"] == Source("f", 2, 1, "b: 2")


def test_an_alias_is_the_value_of_its_anchor():
    assert load_bytes(b"a: &x {k: 1}\nb: [*x, *x]", "f").plain() == {"a": {"k": 1}, "b": [{"k": 1}, {"k": 1}]}


def test_a_value_from_a_flag_comes_from_that_flag_throughout():
    root = load_value("{a: [1, x]}", FLAG)
    assert repr(root) == repr(from_plain({"a": [1, "x"]}, FLAG))
    assert root.keys == {"a": FLAG}


def test_paths_are_shown_as_a_user_would_say_them():
    assert show_path(["claims", "one_unsafe", "where"]) == "claims.one_unsafe.where"
    assert show_path(["goals", "at", 2]) == "goals.at[2]"
    assert show_path([]) == ""


# --- what is refused ---------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a: 1\na: 2", "2:1: a: duplicate key 'a'; it stands on line 1 already"),
        ("m: {x: 1,\n  x: 2}", "2:3: m.x: duplicate key 'x'; it stands on line 1 already"),
        ("a: !!str 5", "1:4: a: a tag ('!…') is not part of the language"),
        ("a: !!python/object/apply:os.system [x]", "1:4: a: a tag ('!…') is not part of the language"),
        ("a: !e!x 5", "1:4: a tag ('!…') is not part of the language"),
        ("!x a: 5", "1:1: a: a tag ('!…') is not part of the language"),
        ("a:\n\tb: 1", "2:1: a tab indents this line, which YAML does not allow"),
        ("a: |\n\tb", "2:1: a tab indents this line, which YAML does not allow"),
        ("<<: {a: 1}", "1:1: <<: YAML 1.2 has no merge key '<<'"),
        ("? [a]\n: b", "1:3: a key must be a plain word"),
        ("a: &x [1]\n*x : 2", "2:1: a key must be a plain word"),
        ("a: 1\n---\nb: 2", "2:1: a second document starts here"),
        ("a: *x", "1:4: a: '*x' has no '&x' before it"),
        ("a: &x [1, *x]", "1:11: a[1]: '*x' stands inside its own '&x'"),
        ("a: .inf", "1:4: a: .inf is not a finite number"),
        ("a: [-.INF]", "1:5: a[0]: -.INF is not a finite number"),
        ("a: .nan", "1:4: a: .nan is not a finite number"),
        ("a: 1e999", "1:4: a: this number is too large to be finite"),
        ("a: 1" + "0" * 400, "1:4: a: this number is too large to be finite"),
        ("a: " + "1" * 5000, "1:4: a: a number of 5000 characters is too long"),
        ("a: [1, 2", "1:4: '[' is never closed"),
        ("a: {b: c\n", "1:4: '{' is never closed"),
        ("a: 'x\nb: 1", "1:4: this quote is never closed"),
        ("a: [1 2: 3]]", "1:12: ']' closes nothing"),
        ('a: "x" y', "1:8: nothing more is expected on this line"),
        ("a: @x", "1:4: a value cannot start with '@'"),
        ("a: b: c", "1:5: ':' is not expected here"),
        ("a: - b", "1:4: '- ' is not expected here"),
        ("a: 1\nfoo\nb: 1", "2:1: expected 'key: value'"),
        ("- a\nb: c", "2:1: expected '- ' in line with the list from line 1 on"),
        ("  a: 1\n b: 2", "2:2: this does not belong to what stands before it"),
        ("a: {,}", "1:5: a value is missing here"),
        ("a: *", "1:5: '&' and '*' start the name of an anchor"),
        ("%YAML 2.0\n---\na: 1", "1:1: a line that starts with '%' is not part of the language"),
        ("- 1", "1:1: a spec is a mapping of keys to values, not a list"),
        ("text", "1:1: a spec is a mapping of keys to values, not a single value"),
        ("a: 1\nb: \x07", "2:4: the character U+0007 may not stand in a spec"),
    ],
)
def test_a_mistake_is_one_plain_sentence_at_its_place(text, shown):
    errors = mistakes(text)
    assert [str(error) for error in errors] == [f"f.yaml:{shown}"]
    assert errors[0].source.text is not None


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n", "---\n", "~"])
def test_an_empty_file_is_said_to_be_empty(text):
    assert [str(error) for error in mistakes(text)] == ["f.yaml: the file is empty"]


def test_every_mistake_of_a_file_comes_at_once():
    errors = mistakes("a: 1\na: 2\nb: {c: 1, c: !x 2}\nd: .nan\ne: *no\n<<: 1\nf: [")
    assert [error.source.line for error in errors] == [2, 3, 3, 4, 5, 6, 7]


def test_bytes_that_are_not_utf_8_are_shown_with_their_line():
    (error,) = mistakes("é: 1\nü: ".encode() + b"\xff\nc: 2")
    assert str(error) == "f.yaml:2:4: the byte 0xFF is not UTF-8"
    assert error.source.text == "ü: \ufffd"


def test_a_bomb_of_aliases_is_refused_before_it_grows():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]
    (error,) = mistakes("\n".join(lines))
    assert error.message == "more than 100 000 values, aliases written out"


def test_deep_nesting_is_refused_also_through_aliases():
    assert load_bytes(b"a: " + b"[" * 98 + b"]" * 98, "f")
    for text in ["a: " + "[" * 5_000, "a: &x " + "[" * 60 + "]" * 60 + "\nb: " + "[" * 60 + "*x" + "]" * 60]:
        (error,) = mistakes(text)
        assert error.message == "nested more than 100 deep"


# --- files -------------------------------------------------------------------------------------------------------


def refused(path: Path) -> tuple[str, str | None]:
    with pytest.raises(SpecErrors) as caught:
        load(path)
    (error,) = caught.value.errors
    assert error.source == Source(str(path))
    return error.message, error.hint


def test_a_file_is_loaded_with_its_path_as_given(tmp_path):
    (tmp_path / "maze.yaml").write_text("wmlab: 1\n")
    assert load(tmp_path / "maze.yaml").keys["wmlab"].file == str(tmp_path / "maze.yaml")
    assert load(str(tmp_path / "maze.yaml")).plain() == {"wmlab": 1}


def test_a_file_that_cannot_be_read_is_told_with_what_next(tmp_path, monkeypatch):
    assert refused(tmp_path) == ("this is a folder, not a file", None)
    (tmp_path / "maze.yaml").write_text("wmlab: 1\n")
    assert refused(tmp_path) == ("this is a folder, not a file", f"name a file in it, such as {tmp_path / 'maze.yaml'}")
    assert refused(tmp_path / "mase.yaml") == ("no such file", "did you mean 'maze.yaml'?")
    assert refused(tmp_path / "maze") == ("no such file", "did you mean 'maze.yaml'?")
    assert refused(tmp_path / "quite_another.yaml") == ("no such file", None)
    assert refused(tmp_path / "no" / "maze.yaml") == ("no such file", f"there is no folder {tmp_path / 'no'}")
    assert refused(tmp_path / ("x" * 5_000))[0].startswith("this file cannot be read: ")
    assert refused(Path("/dev/zero"))[0] == "this file cannot be read: this is a pipe, a device or a socket, not a file"
    (tmp_path / "big.yaml").write_bytes(b"# " + b"x" * 5_000_000)
    assert refused(tmp_path / "big.yaml")[0] == "a file of more than 5 MB is no spec"

    def locked(*_args):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", locked)  # a test may run as root, whom no permission stops
    assert refused(tmp_path / "maze.yaml") == ("no permission to read this file", None)
