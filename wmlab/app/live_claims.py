"""Claims of a run that is on, from what its stages have stored: taken anew when more is stored, and never for long."""

from __future__ import annotations

import threading
import time
from typing import Any

from wmlab.errors import WmlabError
from wmlab.graph.study import Study, open_study
from wmlab.report.claims import claim_rows
from wmlab.results.assemble import assemble
from wmlab.runtime.run_list import RunSummary
from wmlab.runtime.store import CorruptEntry, MissingEntry, Store

SHARE = 0.02  # of a core: after a look that took a second, the next one comes fifty seconds later


class LiveClaims:
    """What the claims of a run come to by now. Looks in a thread of its own; a page gets the last answer."""

    def __init__(self, run: RunSummary, store: Store):
        self.run, self.store = run, store
        self.rows: list[dict[str, Any]] = []
        self.reason = ""  # why there are none
        self.version = 0
        self._study: Study | None = None
        self._seen = -1  # stages that were done at the last look
        self._next = 0.0
        self._thread: threading.Thread | None = None

    def ask(self, done: int, keys: frozenset[str]) -> None:
        """Look again where more stages are done than at the last look, and enough time has passed."""
        busy = self._thread is not None and self._thread.is_alive()
        if busy or self.reason or done == self._seen or time.monotonic() < self._next:
            return
        self._seen = done
        self._thread = threading.Thread(target=self._look, args=(keys,), name="claims", daemon=True)
        self._thread.start()

    def _look(self, keys: frozenset[str]) -> None:
        began = time.thread_time()
        try:
            if self._study is None:
                study = open_study(self.run.file, self.run.profile or None, self.run.sets)
                if not keys <= {key.hash for key in study.keys.values()}:
                    self.reason = "The spec, or the code, has changed since the run began: claims come with its page."
                    return
                self._study = study
            resolved = [self._study.resolved, *(plan.resolved for plan in self._study.plans)]
            if not any(each.claims for each in resolved):
                self.reason = "The spec makes no claims."
                return
            self.rows = [row for plan in self._study.plans for row in self._rows(plan)]
        except (WmlabError, CorruptEntry, MissingEntry, OSError) as error:
            self.reason = f"Claims come with the page: {error}"
        finally:
            self.version += 1
            self._next = time.monotonic() + (time.thread_time() - began) / SHARE

    def _rows(self, plan: Any) -> list[dict[str, Any]]:
        assert self._study is not None
        results = assemble(plan, self._study.keys, self.store, {}, {})
        columns = ("id", "words", "measured", "verdict", "mark")
        return [{name: getattr(row, name) for name in columns} for row in claim_rows(results)]
