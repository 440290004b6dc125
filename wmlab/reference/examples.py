"""Examples of the reference: one whole, valid spec for each kind and key, of which the page shows a part."""

from __future__ import annotations

import re
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "examples"
SECTION = {"mdp": "mdp", "reward": "goals", "agent": "agent", "extract": "extract", "solver": "evaluate"}


def example_of(topic: str) -> str | None:
    """The part of an example that is about this kind (mdp.gridworld) or key (claims); None where there is none."""
    path = FOLDER / f"{topic}.yaml"
    if not path.is_file():
        return None
    family = topic.partition(".")[0]
    keys = [SECTION.get(family, family)] if topic not in ALONGSIDE else ALONGSIDE[topic]
    parts = sections(path.read_text(encoding="utf-8"))
    return "\n".join(parts[key] for key in keys)


# Keys that one understands only beside another.
ALONGSIDE = {
    "extends": ["extends", "goals"],
    "let": ["let", "agent"],
    "expressions": ["let", "agent"],
    "default_profile": ["default_profile", "profiles"],
}


def sections(text: str) -> dict[str, str]:
    """The text of each top-level key, comments inside it included."""
    parts: dict[str, list[str]] = {}
    key = None
    for line in text.splitlines():
        start = re.match(r"([a-z_]+):", line)
        if start:
            key = start[1]
        elif line.startswith("#"):
            key = None
        if key is not None:
            parts.setdefault(key, []).append(line)
    return {key: "\n".join(lines).rstrip() for key, lines in parts.items()}
