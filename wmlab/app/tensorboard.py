"""Curves of a run for TensorBoard: the numbers that stages report while they run, as scalars.

Each stage has a folder of its own, so that TensorBoard shows it as a run by its label.
"""

from __future__ import annotations

import time
from contextlib import AbstractContextManager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from wmlab.app.output_folder import safe_name
from wmlab.errors import UsageError
from wmlab.runtime import events, layout
from wmlab.runtime.durable import make_folders

LIBRARY = "tensorboardX"


def check_library() -> None:
    """UsageError where event files cannot be written."""
    if find_spec(LIBRARY) is None:
        raise UsageError(
            f"--log tensorboard needs {LIBRARY}, which is not installed here: pip install 'wmlab[tensorboard]'"
        )


class TensorBoardLog(AbstractContextManager["TensorBoardLog"]):
    """Listens to a run. Where it cannot write, there are no curves, and the run goes on."""

    def __init__(self, root: Path, run: str):
        self.folder = root / layout.BOARDS / run
        self._writers: dict[str, Any] = {}  # stage: its writer, or None where there can be none

    def __call__(self, event: object) -> None:
        """Write down the numbers of an event, if it has some."""
        with suppress(OSError):
            if isinstance(event, events.StageProgress) and event.numbers:
                self._write(event)
            elif isinstance(event, events.StageFinished):
                self._close(event.id)

    def _write(self, event: events.StageProgress) -> None:
        from tensorboardX.proto.event_pb2 import Event
        from tensorboardX.summary import scalar

        if event.id not in self._writers:
            self._writers[event.id] = None
            self._writers[event.id] = self._open(event.label)
        if (writer := self._writers[event.id]) is not None:
            for name, value in event.numbers.items():
                writer.write_event(Event(wall_time=time.time(), step=int(event.done), summary=scalar(name, value)))
            writer.flush()

    def _open(self, label: str) -> Any:
        from tensorboardX.event_file_writer import EventsWriter

        place = self.folder / safe_name(label)
        make_folders(place)
        return EventsWriter(str(place / "events"))

    def _close(self, id: str) -> None:
        if (writer := self._writers.pop(id, None)) is not None:
            writer.close()

    def __exit__(self, *error: object) -> None:
        for id in list(self._writers):
            with suppress(OSError):
                self._close(id)
