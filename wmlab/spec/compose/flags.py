"""Flags that change a spec: `--set path=value`, with paths as messages print them, `goals.at[0]=s1`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from wmlab.errors import Source, SpecError, SpecErrors, UsageError, one_of, suggest
from wmlab.sections.forms import PROFILE_KEYS
from wmlab.spec.compose.axes import overlap
from wmlab.spec.yaml.load import load_value
from wmlab.spec.yaml.node import Node

LABEL = "flag"  # of the one value of an axis that a flag sets, where the value is no label itself


def parse_set(flag: str, body: Node) -> tuple[list[str | int], Node]:
    """`a.b[0]=c` as a path and a value; the value is typed as YAML, and errors name the flag."""
    path, equals, text = flag.partition("=")
    source = Source(f"--set {flag}")
    if not equals or not path:
        raise UsageError(f"--set {flag}: write it as path=value, such as agent.discount=0.95")
    parts = steps_of(path)
    if parts[0] not in PROFILE_KEYS:
        first = str(parts[0])
        hint = suggest(first, PROFILE_KEYS) or f"it may change {one_of(PROFILE_KEYS)}"
        raise SpecErrors([SpecError(source, path, f"--set cannot change '{first}'", hint)])
    value = load_value(text, source)
    sweep = body.at(["sweep"])
    for name, axis in sweep.entries.items() if sweep is not None else ():
        for swept in axis.entries:
            if overlap(swept, dotted(parts)):
                message = f"the sweep over {name} sets {swept} at every point, so this flag would change nothing"
                raise SpecErrors([SpecError(source, path, message, axis_hint(name, swept, parts, value, text))])
    return parts, value


def steps_of(path: str) -> list[str | int]:
    """The steps of a path: `goals.at[0]` is goals, at, 0."""
    steps: list[str | int] = []
    for part in path.split("."):
        name, positions = re.fullmatch(r"(.*?)((?:\[\d+\])*)", part, re.S).groups()  # type: ignore[union-attr]
        steps += [name] if name or not positions else []
        steps += [int(position) for position in re.findall(r"\d+", positions)]
    return steps


def about_seeds(flags: Sequence[str]) -> list[str]:
    """Those flags that change seeds: they hold for the specs of a suite and for those that are compared with, too."""
    return [flag for flag in flags if steps_of(flag.partition("=")[0].strip())[:1] == ["seeds"]]


def dotted(steps: Sequence[str | int]) -> str:
    return ".".join(map(str, steps))


def axis_hint(name: str, swept: str, parts: Sequence[str | int], value: Node, text: str) -> str:
    """What to set in place of a path that an axis sets: the axis, with this one value."""
    axis_steps, steps = swept.split("."), [str(part) for part in parts]
    if len(steps) < len(axis_steps) or any(isinstance(part, int) for part in parts):
        return f"take the axis out first: --set sweep.{name}=null"
    inside = steps[len(axis_steps) :]
    written = "".join(f"{{{key}: " for key in inside) + text + "}" * len(inside)
    is_label = not inside and isinstance(value.value, (bool, int, float)) or re.fullmatch(r"[\w.+-]+", text)
    values = f"[{written}]" if is_label and text not in ("all", "null", "") else f"{{{LABEL}: {written}}}"
    return f"set the axis instead: --set {shlex.quote(f'sweep.{name}={{{swept}: {values}}}')}"
