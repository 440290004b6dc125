"""Templates of pages: names are text wherever they stand, and no script runs but ours."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from wmlab.report.claims import columns_of
from wmlab.report.scripts import Script, policy
from wmlab.report.text import compact, duration, plural


def draw_template(
    template: str, scripts: Sequence[Script] = (), images: str = "data:", connects: str = "", **context: Any
) -> bytes:
    """A page that runs these scripts of ours and no other."""
    page = _environment().get_template(template)
    return page_bytes(page.render(scripts=scripts, policy=policy(scripts, images, connects), **context))


@cache
def _environment() -> Environment:
    loader = FileSystemLoader(Path(__file__).parent / "templates")
    environment = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(compact=compact, duration=duration, plural=plural)
    environment.globals.update(columns_of=columns_of)
    return environment


def page_bytes(text: str) -> bytes:
    """The bytes of a file; letters that cannot be written are replaced."""
    return text.encode("utf-8", errors="replace")
