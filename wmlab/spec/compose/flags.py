"""Flags that change a spec: `--set path=value`."""

from __future__ import annotations

from wmlab.errors import Source, SpecError, SpecErrors, UsageError, one_of, suggest
from wmlab.sections.forms import PROFILE_KEYS
from wmlab.spec.compose.axes import overlap
from wmlab.spec.yaml.load import load_value
from wmlab.spec.yaml.node import Node


def parse_set(flag: str, body: Node) -> tuple[list[str], Node]:
    """`a.b=c` as a path and a value; the value is typed as YAML, and errors name the flag."""
    path, equals, text = flag.partition("=")
    source = Source(f"--set {flag}")
    if not equals or not path:
        raise UsageError(f"--set {flag}: write it as path=value, such as agent.discount=0.95")
    parts = path.split(".")
    if parts[0] not in PROFILE_KEYS:
        hint = suggest(parts[0], PROFILE_KEYS) or f"it may change {one_of(PROFILE_KEYS)}"
        raise SpecErrors([SpecError(source, path, f"--set cannot change '{parts[0]}'", hint)])
    sweep = body.at(["sweep"])
    for name, axis in sweep.entries.items() if sweep is not None else ():
        for swept in axis.entries:
            if overlap(swept, path):
                message = f"the sweep over {name} sets {swept} at every point, so this flag would change nothing"
                hint = f"set the axis instead: --set 'sweep.{name}={{{swept}: [{text}]}}'"
                raise SpecErrors([SpecError(source, path, message, hint)])
    return parts, load_value(text, source)
