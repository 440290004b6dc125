"""Slips of the pen: a valid spec with a few random changes, and random specs of the language's own words."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
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
SCALARS = [None, True, False, *NUMBERS, *TEXTS, *WORDS]
NAMES = [*KEYS, *TEXTS, "a", "b", "agent.discount", "goals.at.first", "let.p"]
OPERATIONS = ("delete", "duplicate", "retype", "misspell", "swap", "null", "nest", "rename", "graft")
RETYPED = (None, True, 1.5, "lp", [], {})  # one of each type of data
Choose = Callable[[Sequence[Any]], Any]  # one of several: by hypothesis, or by a generator of random numbers


def value(choose: Choose, depth: int = 2) -> Any:
    """Some data: a scalar, or a small list or mapping of such."""
    form = choose(("scalar", "scalar", "list", "mapping")) if depth else "scalar"
    if form == "scalar":
        return choose(SCALARS)
    count = choose((0, 1, 1, 2, 3))
    if form == "list":
        return [value(choose, depth - 1) for _ in range(count)]
    return {choose(NAMES): value(choose, depth - 1) for _ in range(count)}


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


def mutate(choose: Choose, spec: dict[str, Any]) -> dict[str, Any]:
    """The spec after one slip."""
    data = json.loads(json.dumps(spec))
    places = list(paths(data))
    if not places:
        return data
    path = choose(places)
    above, key = at(data, path[:-1]), path[-1]
    operation = choose(OPERATIONS)
    if operation == "delete":
        del above[key]
    elif operation == "duplicate" and isinstance(key, str):
        above[Twice(f"{key}\0")] = value(choose)
    elif operation == "duplicate":
        above.insert(key, above[key])
    elif operation == "misspell" and isinstance(key, str) and key:
        where = choose(range(len(key)))
        rename(above, key, key[:where] + key[where + 1 :] + choose(["", key[where], "x"]))
    elif operation == "rename" and isinstance(key, str):
        rename(above, key, choose(NAMES))
    elif operation == "swap":
        above[key] = json.loads(json.dumps(at(spec, choose(places))))
    elif operation == "null":
        above[key] = None
    elif operation == "nest":
        above[key] = {choose(NAMES): above[key]} if choose((True, False)) else [above[key]]
    elif operation == "graft" and isinstance(above[key], dict):
        above[key][choose(NAMES)] = value(choose)
    else:
        above[key] = value(choose)
    return data


def retyped(spec: dict[str, Any]) -> Iterator[tuple[Path, Any, dict[str, Any]]]:
    """The spec with each of its values in turn replaced by data of each type."""
    for path in paths(spec):
        old = at(spec, path)
        for new in RETYPED:
            if type(new) is not type(old) or new != old:
                data = json.loads(json.dumps(spec))
                at(data, path[:-1])[path[-1]] = new
                yield path, new, data


def slipped(choose: Choose, spec: dict[str, Any]) -> dict[str, Any]:
    """The spec after one to three slips."""
    for _ in range(choose((1, 2, 3))):
        spec = mutate(choose, spec)
    return spec


def made_up(choose: Choose) -> dict[str, Any]:
    """A spec of the language's own words, which mean little together."""
    names = [*load("experiment")["properties"], "profiles"]
    return {"wmlab": 1, "name": "invented", **{choose(names): value(choose) for _ in range(choose(range(9)))}}


def rename(mapping: dict[str, Any], old: str, new: str) -> None:
    """Another key in the same place."""
    rows = [(new if key == old else key, value) for key, value in mapping.items()]
    mapping.clear()
    mapping.update(rows)


def chooser(draw: st.DrawFn) -> Choose:
    return lambda several: draw(st.sampled_from(several))


@st.composite
def mutated(draw: st.DrawFn, specs: dict[str, dict[str, Any]]) -> tuple[str, str]:
    """The name of a valid spec, and its text after a few slips."""
    name = draw(st.sampled_from(sorted(specs)))
    return name, text(slipped(chooser(draw), specs[name]))


@st.composite
def invented(draw: st.DrawFn) -> str:
    """The text of a spec of the language's own words."""
    return text(made_up(chooser(draw)))


def text(data: Any) -> str:
    """YAML in JSON's form, with a line for each key so that places are told apart."""
    return json.dumps(data, indent=1, ensure_ascii=False).replace("\\u0000", "")
