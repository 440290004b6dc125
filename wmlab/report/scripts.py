"""Scripts of pages: text of our own, allowed by its hash alone, so that no other script runs on the page."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from markupsafe import Markup

FOLDER = Path(__file__).parent / "templates"
# What would end a script's element, begin a comment in it, or a line that JavaScript counts and JSON does not.
UNSAFE = str.maketrans({character: f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"})


@dataclass(frozen=True)
class Script:
    """A script as it stands in a page."""

    text: Markup

    @property
    def source(self) -> str:
        """What allows it in a content-security policy: its hash."""
        digest = hashlib.sha256(str(self.text).encode()).digest()
        return f"'sha256-{base64.b64encode(digest).decode()}'"


@cache
def script(name: str) -> Script:
    """One of our scripts."""
    text = (FOLDER / f"{name}.js").read_text(encoding="utf-8")
    if "</" in text or "<!--" in text:
        raise ValueError(f"{name}.js would end its own element")
    return Script(Markup(f"\n{text}"))


def policy(scripts: Sequence[Script] = (), images: str = "data:", connects: str = "") -> str:
    """The content-security policy of a page: nothing from elsewhere, and no script but these.

    `connects` says whom its scripts may ask; a page from a file asks nobody.
    """
    allowed = f" script-src {' '.join(one.source for one in scripts)};" if scripts else ""
    allowed += f" connect-src {connects};" if connects else ""
    return (
        f"default-src 'none';{allowed} style-src 'unsafe-inline'; img-src {images}; base-uri 'none'; form-action 'none'"
    )


def embedded(data: Any) -> Markup:
    """Data for a script, as JSON that is text wherever it stands, whatever names it holds."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(text.translate(UNSAFE))
