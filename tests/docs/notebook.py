"""docs/python.md as a notebook: its text and its cells, in the format of Jupyter."""

from __future__ import annotations

import ast
from typing import Any

from tests.docs.pages import ROOT, Block, blocks_of

PAGE = ROOT / "docs" / "python.md"
SHOWN = ("_repr_html_", "_repr_svg_")  # what a notebook asks a value for, before its repr


def cells() -> list[Block]:
    """The cells of the page, in order."""
    return [block for block in blocks_of(PAGE) if block.language == "python"]


def run_cell(block: Block, names: dict[str, Any]) -> list[str]:
    """Run a cell as a notebook does; what it would show of the value in its last line, in every form."""
    tree = ast.parse(block.text, str(block))
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, str(block), "exec"), names)
    if last is None:
        return []
    value = eval(compile(ast.Expression(last.value), str(block), "eval"), names)  # noqa: S307
    return [repr(value), *(getattr(value, form)() for form in SHOWN if hasattr(value, form))]


def notebook() -> dict[str, Any]:
    """The cells as the content of an .ipynb file."""
    code = [
        {
            "id": f"cell-{number}",
            "cell_type": "code",
            "metadata": {},
            "source": block.text,
            "outputs": [],
            "execution_count": None,
        }
        for number, block in enumerate(cells())
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": kernel}, "cells": code}
