"""The live page of a run that begins."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from wmlab.app.live_address import live_address
from wmlab.errors import UsageError
from wmlab.runtime.events import Listener, Notice


@dataclass(frozen=True)
class LivePage:
    """Serves the page of a run from a process of its own, so that nothing that becomes of it touches the run."""

    flags: Sequence[str] = ()  # of `wmlab watch`
    warning: str = ""

    def begin(self, tell: Listener, run: str) -> None:
        """Start it; its address is said when it is there."""
        command = [sys.executable, "-P", "-m", "wmlab", "watch", run, *self.flags]
        quiet: Any = {"stdin": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "start_new_session": True}
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **quiet)
        threading.Thread(target=self.say_address, args=(tell, process), name="live page", daemon=True).start()

    def say_address(self, tell: Listener, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        tell(Notice(f"live page: {address}" if address else "the live page could not be started; the run goes on"))
        if address and self.warning:
            tell(Notice(f"warning: {self.warning}"))


def live_page(live: bool, host: str | None) -> LivePage | None:
    """What shows a run, where that is wanted; an address that cannot be listened on is refused before it begins."""
    if host is not None and not live:
        raise UsageError("--host is for the live page; say --live, too")
    if host is None:
        return LivePage() if live else None
    return LivePage(["--host", host], live_address(host).warning)
