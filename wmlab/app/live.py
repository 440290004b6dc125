"""The live page: a small server on this machine that shows how far a run is, and nothing but reads.

Only who knows the token in the address gets an answer, and only from this machine unless another address is asked
for: it listens on the loopback interface, and answers no page that came by another name.
"""

from __future__ import annotations

import hmac
import json
import mimetypes
import secrets
import sys
import threading
import time
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

from wmlab.app.live_address import LiveAddress, live_address
from wmlab.app.live_claims import LiveClaims
from wmlab.app.live_state import LiveState, NewLines
from wmlab.report.data import PAGE
from wmlab.report.live import LiveHead, render_live
from wmlab.runtime.run_id import find_log, pages_of
from wmlab.runtime.run_list import find_run
from wmlab.runtime.store import Store

LAST_BYTES, LAST_LINES = 8_000, 30  # of what stages printed
IDLE = 600.0  # seconds without a question after which a page of a run that is over is served no more
NEWS = (b'{"type": "end"', b'{"type": "report"')  # how those lines of a log begin that change what is known of it
OVER = ("done", "failed", "unfinished", "interrupted", "died")


class LiveRun:
    """All that the page of one run shows."""

    def __init__(self, store: Store, id: str):
        self.store = store
        self.id, path = find_log(store.root, id)
        self._log = NewLines(path)
        self._log.take()
        self.summary = find_run(store.root, self.id)
        self.state = LiveState(self.summary.path)
        self.claims = LiveClaims(self.summary, store)
        self._lock = threading.Lock()

    def refresh(self) -> None:
        """Read what the run has said since; its log as a whole only when it says that the run, or its page, is done."""
        self.state.refresh()
        with self._lock:
            news = any(line.startswith(NEWS) for line in self._log.take())
            if news or (self.summary.state == "running" and not self.summary.is_on):
                self.summary = find_run(self.store.root, self.id)

    @property
    def page(self) -> str:
        """Where its finished page is served, once it is kept."""
        place = f"{self.summary.page}/{PAGE}"
        if not self.summary.page or not (pages_of(self.store.root, self.id) / place).is_file():
            return ""
        return f"report/{quote(place)}"

    def told(self, version: int) -> dict[str, Any]:
        """What changed after a version of the state."""
        self.refresh()
        told = self.state.since(version)
        counts = told["counts"]
        self.claims.ask(counts["done"] + counts["cached"], frozenset(stage.key for stage in self.state.stages))
        over = self.summary.state in OVER
        return {
            **told,
            "now": time.time(),
            "run": self.summary.state,
            "seconds": self.summary.seconds,
            "over": over,
            "page": self.page if over else "",
            "claims": self.claims.rows,
            "claims_note": self.claims.reason,
            "printed": last_lines(self.summary.path.with_suffix(".out")),
        }

    def html(self) -> bytes:
        self.refresh()
        run = self.summary
        return render_live(LiveHead(run.id, run.spec, run.profile, run.started, run.host), self.state.plan())

    def kept_file(self, place: str) -> Path | None:
        """A file of the kept pages; None where there is none of that name, or it is no part of them."""
        root = pages_of(self.store.root, self.id).resolve()
        path = (root / place).resolve()
        return path if path.is_relative_to(root) and path.is_file() else None


def last_lines(path: Path) -> str:
    """The end of what stages printed."""
    try:
        with open(path, "rb") as file:
            file.seek(max(0, path.stat().st_size - LAST_BYTES))
            text = file.read().decode(errors="replace")
    except OSError:
        return ""
    return "\n".join(text.splitlines()[-LAST_LINES:])


class LiveServer(ThreadingHTTPServer):
    """Serves one run below a token."""

    daemon_threads = True

    def __init__(self, run: LiveRun, port: int = 0, address: LiveAddress | None = None):
        self.place = address or live_address(None)
        self.address_family = self.place.family
        super().__init__((self.place.number, port, *self.place.rest), LiveHandler)
        self.run, self.token = run, secrets.token_urlsafe(16)
        self.asked = time.monotonic()  # when somebody last wanted something

    @property
    def url(self) -> str:
        return f"http://{self.place.names[0]}:{self.server_address[1]}/{self.token}/"

    def is_asked_by(self, host: str) -> bool:
        """Whether it was asked by its own address: a page from elsewhere that gave itself ours is not answered."""
        name, _, port = host.lower().rpartition(":")
        return port == str(self.server_address[1]) and self.place.is_own(name)

    def serve_until_idle(self) -> None:
        """Serve while the run goes on, and then until nobody has asked for a while."""
        threading.Thread(target=self._close_when_idle, name="idle", daemon=True).start()
        self.serve_forever(poll_interval=0.5)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a browser that went away while it was answered."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    def _close_when_idle(self) -> None:
        while True:
            time.sleep(5.0)
            if time.monotonic() - self.asked > IDLE:
                self.run.refresh()
                if self.run.summary.state in OVER:
                    self.shutdown()
                    return


class LiveHandler(BaseHTTPRequestHandler):
    """Answers questions, and takes nothing."""

    server: LiveServer
    server_version, sys_version = "wmlab", ""
    timeout = 30

    def do_GET(self) -> None:
        """The page, what changed, or a file of the finished page."""
        parts = urlsplit(self.path)
        _, token, *rest = parts.path.split("/")
        if (
            not self.server.is_asked_by(self.headers.get("Host", ""))
            or not hmac.compare_digest(token.encode(), self.server.token.encode())
            or not rest
        ):
            self._answer(HTTPStatus.NOT_FOUND, b"not found\n", "text/plain")
            return
        self.server.asked = time.monotonic()
        place = "/".join(rest)
        if place == "":
            self._answer(HTTPStatus.OK, self.server.run.html(), "text/html")
        elif place == "state":
            version = parse_qs(parts.query).get("since", ["0"])[0]
            told = self.server.run.told(int(version) if version.isdecimal() and len(version) < 16 else 0)
            text = json.dumps(told, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
            self._answer(HTTPStatus.OK, text.encode("utf-8", "replace"), "application/json")
        else:
            self._send_kept(place)

    do_HEAD = do_GET

    def _send_kept(self, place: str) -> None:
        kept = (
            self.server.run.kept_file(unquote(place.removeprefix("report/"))) if place.startswith("report/") else None
        )
        if kept is None:
            self._answer(HTTPStatus.NOT_FOUND, b"not found\n", "text/plain")
            return
        sort = mimetypes.guess_type(kept.name)[0] or "application/octet-stream"
        self._answer(HTTPStatus.OK, kept.read_bytes(), sort)

    def _answer(self, status: HTTPStatus, content: bytes, sort: str) -> None:
        self.send_response(status)
        text = sort.startswith("text/") or sort == "application/json"
        self.send_header("Content-Type", f"{sort}; charset=utf-8" if text else sort)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("X-Frame-Options", "DENY")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Nobody needs to know who asked."""
