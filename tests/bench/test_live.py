"""The benchmark of the live page watches a run that is real but for its stages."""

from __future__ import annotations

import threading

from wmlab.app.live import LiveRun, LiveServer
from wmlab.bench import live as bench
from wmlab.runtime.store import Store


def test_a_client_sees_every_stage_of_the_run_begin(tmp_path, monkeypatch):
    monkeypatch.setattr(bench, "BEFORE", 0.0)
    monkeypatch.setattr(bench, "EVERY", 0.01)
    writer = threading.Thread(target=bench.make_run, args=(tmp_path, 40, 0.5), daemon=True)
    writer.start()
    run = bench.first_run(tmp_path)
    with LiveServer(LiveRun(Store(tmp_path), run)) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        writer.join(60)
        late = bench.ask_again_and_again(server.url, 0.01)
        server.shutdown()
    assert len(late) == 40 and min(late) >= 0
