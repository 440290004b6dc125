"""What a long stage keeps and tells on its way, as the domain asks for it."""

from __future__ import annotations

from typing import Any

from wmlab.runtime.result import Result


def hooks_of(context: Any) -> dict[str, Any]:
    """The hooks of a training or a fit: what `wmlab.core.training.Hooks` takes."""
    partial = context.partial.load()
    return {
        "resume": None if partial is None else partial.arrays,
        "save": lambda arrays: context.partial.save(Result(arrays, {})),
        "progress": context.progress,
    }
