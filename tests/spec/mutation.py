"""Slips of the pen: a valid spec with a few random changes, and random specs of the language's own words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

from wmlab.spec.schema.generate import load

Path = tuple[str | int, ...]


def vocabulary() -> tuple[list[str], list[Any]]:
    """Every key and every word or default that the schema knows."""
    keys: set[str] = set()
    words: set[str] = set()
    todo: list[Any] = [load("experiment")]
    while todo:
        item = todo.pop()
        if isinstance(item, dict):
            keys |= set(item.get("properties", {}))
            words |= {word for word in (*item.get("enum", ()), *item.get("x-words", ())) if isinstance(word, str)}
            todo += item.values()
        elif isinstance(item, list):
            todo += item
    return sorted(keys), sorted(words)


KEYS, WORDS = vocabulary()
NUMBERS = [0, 1, -1, 2, 4, 0.5, 1.0, 1.5, -0.25, 0.99, 3.0, 1e-9, 7, 100, 5_000_000, 1e300, 2**40]
TEXTS = ["", " ", "x", "a/b", "all", "1/3", "1 - p", "sqrt(2)", "1/0", "max(1", "[", "mean", "é", "s0", "wm.tv"]
SCALARS = st.sampled_from([None, True, False, *NUMBERS, *TEXTS, *WORDS])
NAMES = st.sampled_from([*KEYS, *TEXTS, "a", "b", "agent.discount", "goals.at.first", "let.p"])
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=6
)
OPERATIONS = ("delete", "duplicate", "retype", "misspell", "swap", "null", "nest", "rename", "graft")


def paths(data: Any, path: Path = ()) -> Iterator[Path]:
    """Every place in a tree but its root."""
    rows = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, item in rows:
        yield (*path, key)
        yield from paths(item, (*path, key))


def at(data: Any, path: Path) -> Any:
    for key in path:
        data = data[key]
    return data


class Twice(str):
    """A key that is written a second time."""


def mutate(draw: st.DrawFn, spec: dict[str, Any]) -> dict[str, Any]:
    """The spec after one slip."""
    data = json.loads(json.dumps(spec))
    places = list(paths(data))
    if not places:
        return data
    path = draw(st.sampled_from(places))
    above, key = at(data, path[:-1]), path[-1]
    operation = draw(st.sampled_from(OPERATIONS))
    if operation == "delete":
        del above[key]
    elif operation == "duplicate" and isinstance(key, str):
        above[Twice(f"{key}\0")] = draw(VALUES)
    elif operation == "duplicate":
        above.insert(key, above[key])
    elif operation == "misspell" and isinstance(key, str) and key:
        where = draw(st.integers(0, len(key) - 1))
        rename(above, key, key[:where] + key[where + 1 :] + draw(st.sampled_from(["", key[where], "x"])))
    elif operation == "rename" and isinstance(key, str):
        rename(above, key, draw(NAMES))
    elif operation == "swap":
        other = draw(st.sampled_from(places))
        above[key] = json.loads(json.dumps(at(spec, other)))
    elif operation == "null":
        above[key] = None
    elif operation == "nest":
        above[key] = {draw(NAMES): above[key]} if draw(st.booleans()) else [above[key]]
    elif operation == "graft" and isinstance(above[key], dict):
        above[key][draw(NAMES)] = draw(VALUES)
    else:
        above[key] = draw(VALUES)
    return data


def rename(mapping: dict[str, Any], old: str, new: str) -> None:
    """Another key in the same place."""
    rows = [(new if key == old else key, value) for key, value in mapping.items()]
    mapping.clear()
    mapping.update(rows)


@st.composite
def mutated(draw: st.DrawFn, specs: dict[str, dict[str, Any]]) -> tuple[str, str]:
    """The name of a valid spec, and its text after a few slips."""
    name = draw(st.sampled_from(sorted(specs)))
    data = specs[name]
    for _ in range(draw(st.integers(1, 3))):
        data = mutate(draw, data)
    return name, text(data)


@st.composite
def invented(draw: st.DrawFn) -> str:
    """A spec of the language's own words, which mean little together."""
    names = st.sampled_from([*load("experiment")["properties"], "profiles"])
    sections = draw(st.dictionaries(names, VALUES, max_size=8))
    return text({"wmlab": 1, "name": "invented", **sections})


def text(data: Any) -> str:
    """YAML in JSON's form, with a line for each key so that places are told apart."""
    return json.dumps(data, indent=1, ensure_ascii=False).replace("\\u0000", "")
