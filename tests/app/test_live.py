"""The live page: what a run writes while it goes on, what a page is told of it, and who is told anything at all."""

from __future__ import annotations

import builtins
import http.client
import json
import socket
import struct
import threading
from collections import Counter
from types import SimpleNamespace

import pytest

from tests.app.live_runs import MadeRun
from tests.browser.pages import EVIL
from wmlab.app import live, live_state
from wmlab.app.live import LiveRun, LiveServer
from wmlab.app.live_address import live_address
from wmlab.app.live_claims import LiveClaims
from wmlab.app.live_page import live_page
from wmlab.app.live_state import MOST_POINTS, LiveState, thinned
from wmlab.app.run import run_study
from wmlab.errors import UsageError
from wmlab.graph.study import open_study
from wmlab.runtime import events
from wmlab.runtime.livelog import live_file
from wmlab.runtime.run_id import pages_of
from wmlab.runtime.runlog import ClaimCounts
from wmlab.runtime.store import Store


@pytest.fixture
def made(tmp_path):
    with MadeRun(tmp_path / ".wmlab") as run:
        yield run


def stage_of(told, place):
    return next(one for one in told["stages"] if one["stage"] == place)


# --- what a page is told ------------------------------------------------------------------------------------------


def test_a_page_is_told_what_is_done_what_runs_how_far_and_why_something_failed(made):
    run = LiveRun(made.store, made.log.id)
    assert run.told(0)["counts"] == {"waiting": 4}
    made.start(0)
    made.progress(0, 25, loss=0.5)
    made.progress(0, 50, loss=0.25)
    made.start(2)
    made.finish(2, "failed", events.Failure("ValueError", "no luck", "line 1\nline 2"))
    made.finish(3, "skipped")
    told = run.told(0)
    assert told["run"] == "running" and told["counts"] == {"running": 1, "waiting": 1, "failed": 1, "skipped": 1}
    assert stage_of(told, 0)["share"] == 0.5 and stage_of(told, 0)["note"] == "50 of 100"
    assert stage_of(told, 2)["error"] == "ValueError: no luck" and stage_of(told, 2)["tail"] == "line 1\nline 2"
    (curve,) = told["curves"]
    assert curve["curves"] == {"loss": [(25.0, 0.5), (50.0, 0.25)]} and curve["label"] == "made: train seed=0"


def test_only_what_changed_is_told_again(made):
    run = LiveRun(made.store, made.log.id)
    made.start(0)
    first = run.told(0)
    assert run.told(first["version"])["stages"] == []
    made.finish(0)
    second = run.told(first["version"])
    assert [one["stage"] for one in second["stages"]] == [0] and stage_of(second, 0)["state"] == "done"


def test_a_run_that_is_over_leads_to_its_page(made):
    run = LiveRun(made.store, made.log.id)
    for place in range(4):
        made.finish(place)
    made.end(b"<p>the page</p>")
    told = run.told(0)
    assert told["over"] and told["run"] == "done" and told["page"] == "report/made/p/index.html"
    assert run.kept_file("made/p/index.html").read_bytes() == b"<p>the page</p>"
    assert run.kept_file("../../runs") is None and run.kept_file("made/p/none") is None


def test_a_line_that_is_being_written_is_read_when_it_is_whole(made):
    state = LiveState(made.log.path)
    whole = json.dumps({"type": "started", "at": 1.0, "stage": 1})
    with open(live_file(made.log.path), "a") as file:
        file.write(whole[:10])
        file.flush()
        state.refresh()
        assert state.stages[1].state == "waiting"
        file.write(whole[10:] + "\n")
    state.refresh()
    assert state.stages[1].state == "running"


@pytest.mark.parametrize(
    "line", ["no json", "[]", '{"type": "started"}', '{"type": "started", "stage": 99, "at": 1}', "1" * 5000]
)
def test_lines_that_are_no_records_are_passed_over(made, line):
    state = LiveState(made.log.path)
    with open(live_file(made.log.path), "a") as file:
        file.write(f"{line}\n" + json.dumps({"type": "started", "at": 1.0, "stage": 1}) + "\n")
    state.refresh()
    assert state.stages[1].state == "running"


def test_progress_is_written_once_a_second_and_at_the_end(made):
    id = made.start(0)
    label = made.stages[id].label
    for done in range(1, 101):
        made.tell(events.StageProgress(id, label, done, 100, "", {"loss": float("nan")}))
    lines = [json.loads(line) for line in live_file(made.log.path).read_text().splitlines()]
    told = [line["done"] for line in lines if line["type"] == "progress"]
    assert told[0] == 1 and told[-1] == 100 and len(told) <= 4
    assert all(line["numbers"] == {} for line in lines if line["type"] == "progress")


def test_long_curves_are_thinned_and_keep_their_last_point():
    points = []
    for update in range(5 * MOST_POINTS):
        points = thinned([*points, (float(update), 1.0)])
    assert len(points) <= MOST_POINTS and points[-1] == (5 * MOST_POINTS - 1.0, 1.0) and points[0] == (0.0, 1.0)


def test_a_run_whose_live_file_cannot_be_written_goes_on(tmp_path, monkeypatch):
    def refused(log):
        return tmp_path / "no such folder" / "file"

    monkeypatch.setattr("wmlab.runtime.livelog.live_file", refused)
    with MadeRun(tmp_path / ".wmlab") as run:
        run.start(0)
        run.progress(0, 10)
        run.finish(0)
        run.end()
    assert not (tmp_path / "no such folder").exists() and list((tmp_path / ".wmlab" / "runs").glob("*.jsonl"))


# --- who is told --------------------------------------------------------------------------------------------------


@pytest.fixture
def served(made):
    server = LiveServer(LiveRun(made.store, made.log.id))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join(5)


def ask(server, path, method="GET", host=None):
    port = server.server_address[1]
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request(method, path, headers={"Host": host or f"127.0.0.1:{port}"})
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer, content


def test_who_has_the_address_sees_the_page_and_its_state(served, made):
    answer, content = ask(served, f"/{served.token}/")
    assert answer.status == 200 and b"made: train seed=1" in content and b"connect-src &#39;self&#39;" in content
    assert answer.headers["Cache-Control"] == "no-store" and answer.headers["Referrer-Policy"] == "no-referrer"
    answer, content = ask(served, f"/{served.token}/state?since=0")
    assert answer.status == 200 and json.loads(content)["counts"] == {"waiting": 4}
    assert served.server_address[0] == "127.0.0.1"


@pytest.mark.parametrize(
    ("path", "host"),
    [
        ("/", None),
        ("/wrong/", None),
        ("/wrong/state", None),
        ("/{token}", None),
        ("/{token}/", "attacker.example:80"),
        ("/{token}/report/../../../../etc/passwd", None),
        ("/{token}/report/%2e%2e/%2e%2e/runs", None),
        ("/{token}/report//etc/passwd", None),
        ("/{token}/etc/passwd", None),
    ],
)
def test_nobody_else_gets_an_answer_and_nothing_but_the_page_is_read(served, made, path, host):
    made.end(b"<p>the page</p>")
    answer, content = ask(served, path.replace("{token}", served.token), host=host)
    assert answer.status == 404 and content == b"not found\n"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_nothing_can_be_sent(served, method):
    assert ask(served, f"/{served.token}/", method)[0].status == 501


def test_the_finished_page_is_served_with_its_files(served, made):
    made.end(b"<p>the page</p>")
    _, content = ask(served, f"/{served.token}/state")
    answer, content = ask(served, f"/{served.token}/{json.loads(content)['page']}")
    assert (
        answer.status == 200
        and content == b"<p>the page</p>"
        and answer.headers["Content-Type"].startswith("text/html")
    )


def test_names_that_are_attacks_stay_text(tmp_path):
    with MadeRun(tmp_path / ".wmlab", name=EVIL) as run:
        page = LiveRun(run.store, run.log.id).html()
    assert b"<img src=x" not in page and page.count(b"</script>") == 2


def test_a_page_is_served_until_nobody_asks_any_more(made, monkeypatch):
    monkeypatch.setattr(live, "IDLE", 0.0)
    monkeypatch.setattr(live.time, "sleep", lambda seconds: None)
    made.end()
    server = LiveServer(LiveRun(made.store, made.log.id))
    thread = threading.Thread(target=server.serve_until_idle, daemon=True)
    thread.start()
    thread.join(10)
    server.server_close()
    assert not thread.is_alive()


# --- where it listens ---------------------------------------------------------------------------------------------


def serve(made, host):
    """A server on an address, which a thread serves until it is closed."""
    server = LiveServer(LiveRun(made.store, made.log.id), 0, live_address(host))
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    return server


def ask_at(server, host, named=None, path=None):
    port = server.server_address[1]
    connection = http.client.HTTPConnection(host, port, timeout=10)
    connection.request("GET", path or f"/{server.token}/", headers={"Host": named or f"{host}:{port}"})
    status = connection.getresponse().status
    connection.close()
    return status


def test_unless_another_address_is_asked_for_it_listens_on_none_but_127_0_0_1(served):
    with pytest.raises(ConnectionRefusedError):
        ask_at(served, "127.0.0.2")
    assert served.place.warning == "" and served.url.startswith("http://127.0.0.1:")


def test_an_address_that_is_asked_for_is_listened_on_and_needs_the_token(made):
    server = serve(made, "127.0.0.2")
    try:
        assert server.url.startswith("http://127.0.0.2:") and ask_at(server, "127.0.0.2") == 200
        assert ask_at(server, "127.0.0.2", path="/wrong/") == 404
        port = server.server_address[1]
        for name in (f"attacker.example:{port}", "127.0.0.2:1", "127.0.0.2", f"127.0.0.1:{port}"):
            assert ask_at(server, "127.0.0.2", named=name) == 404
        with pytest.raises(ConnectionRefusedError):
            ask_at(server, "127.0.0.1")
    finally:
        server.shutdown()
        server.server_close()


def test_on_all_addresses_it_is_called_by_the_machine_s_name_and_answers_to_numbers_and_no_other_name(made):
    server = serve(made, "0.0.0.0")
    try:
        port = server.server_address[1]
        assert server.url == f"http://{socket.gethostname().lower()}:{port}/{server.token}/"
        for name in (socket.gethostname(), "localhost", "127.0.0.2", "192.0.2.7", "[2001:db8::1]"):
            assert ask_at(server, "127.0.0.1", named=f"{name}:{port}") == 200
        assert ask_at(server, "127.0.0.1", named=f"attacker.example:{port}") == 404
        assert ask_at(server, "127.0.0.2", path="/wrong/state") == 404
        assert "everyone who can reach" in server.place.warning
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("host", ["", "192.0.2.1", "127.0.0.300", "x" * 300, "a b", "no.such.host.invalid"])
def test_an_address_that_is_none_of_this_machine_is_refused_in_words(host):
    with pytest.raises(UsageError, match=r"^--host .*cannot be listened on \(.+\); name an address of this machine"):
        live_address(host)


def test_a_run_hands_its_address_to_the_live_page_and_warns():
    page = live_page(True, "0.0.0.0")
    assert page.flags == ["--host", "0.0.0.0"] and "nothing of it is encrypted" in page.warning
    assert live_page(True, None).flags == () and live_page(False, None) is None
    with pytest.raises(UsageError, match="say --live, too"):
        live_page(False, "0.0.0.0")


# --- a real run ---------------------------------------------------------------------------------------------------

SPEC = """
wmlab: 1
name: hall
mdp: {kind: gridworld, map: "#####\\n#...#\\n#####\\n", actions: [up, right, down, left]}
goals: {reward: {kind: indicator}, at: [[1, 1], [1, 3]], terminate: on_arrival}
agent: {kind: exact, discount: 0.9}
extract: {kind: column_matching}
evaluate: {model_error: {}}
claims: {right: {metric: wm.tv, at_most: 1}}
"""


def test_a_run_is_watched_from_its_first_moment_and_its_claims_come_before_its_page(tmp_path, monkeypatch):
    (tmp_path / "hall.yaml").write_text(SPEC)
    study, store = open_study(str(tmp_path / "hall.yaml")), Store(tmp_path / ".wmlab")
    seen, at_page = [], []

    def page(data, draw):
        run = LiveRun(store, seen[0])
        at_page.append(run.told(0))
        run.claims._thread.join(30)
        at_page.append(run.told(0))
        return {"index.html": b""}

    monkeypatch.setattr("wmlab.app.page_makers.draw_page", page)
    run_study(study, store, jobs=0, reports=tmp_path / "reports", begun=seen.append)
    told, later = at_page  # claims are worked out beside the page, and may be there at once
    assert told["run"] == "done" or told["run"] == "running"
    assert told["counts"] == {"done": len(study.stages)}
    (claim,) = later["claims"]
    assert claim["id"] == "right" and claim["verdict"] == "holds" and later["claims_note"] == ""
    over = LiveRun(store, seen[0]).told(0)
    assert over["run"] == "done" and over["over"] and over["page"] == ""  # a made-up page is not kept


def test_a_spec_without_claims_is_said_to_make_none(tmp_path):
    (tmp_path / "hall.yaml").write_text(SPEC.partition("claims:")[0])
    study = open_study(str(tmp_path / "hall.yaml"))
    with MadeRun(tmp_path / ".wmlab") as run:
        claims = LiveClaims(SimpleNamespace(file=str(tmp_path / "hall.yaml"), profile="", sets=()), run.store)
        claims.ask(0, frozenset(key.hash for key in study.keys.values()))
        claims._thread.join(30)
    assert (claims.rows, claims.reason) == ([], "The spec makes no claims.")


def test_claims_of_a_spec_that_changed_since_are_left_to_the_page(tmp_path):
    (tmp_path / "hall.yaml").write_text(SPEC)
    with MadeRun(tmp_path / ".wmlab") as run:
        claims = LiveClaims(SimpleNamespace(file=str(tmp_path / "hall.yaml"), profile="", sets=()), run.store)
        claims.ask(1, frozenset({"another key"}))
        claims._thread.join(30)
    assert claims.rows == [] and "has changed since the run began" in claims.reason


# --- many stages --------------------------------------------------------------------------------------------------


@pytest.fixture
def bytes_read(monkeypatch):
    """How many bytes the page has read of the files of a run, by their endings."""
    counts = Counter()

    class Counted:
        def __init__(self, path, mode):
            self.file, self.ending = builtins.open(path, mode), path.suffix  # noqa: SIM115

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.file.close()

        def seek(self, place):
            self.file.seek(place)

        def read(self):
            data = self.file.read()
            counts[self.ending] += len(data)
            return data

    monkeypatch.setattr(live_state, "open", Counted, raising=False)
    return counts


def test_an_update_reads_and_tells_what_is_new_however_long_the_log_is(tmp_path, bytes_read, monkeypatch):
    with MadeRun(tmp_path / ".wmlab", seeds=200) as run:
        page = LiveRun(run.store, run.log.id)
        monkeypatch.setattr(live, "find_run", lambda root, id: pytest.fail("the whole log is read again"))
        version, costs = page.told(0)["version"], []
        for place in range(400):
            run.start(place)
            run.progress(place, 50, loss=1.0)
            run.finish(place)
            bytes_read.clear()
            told = page.told(version)
            version = told["version"]
            assert [one["stage"] for one in told["stages"]] == [place]
            told["claims_note"] = ""  # it comes when it comes
            costs.append((bytes_read[".live"], bytes_read[".jsonl"], len(json.dumps(told))))
    first, last = costs[0], costs[-1]
    assert all(late <= early + 40 for early, late in zip(first, last, strict=True))  # longer numbers, no more lines
    assert sum(cost[0] for cost in costs) <= live_file(run.log.path).stat().st_size


def test_a_page_that_is_looked_at_between_the_end_of_a_run_and_its_report_still_leads_there(made):
    run = LiveRun(made.store, made.log.id)
    made.tell(events.RunFinished({"ran": 4, "failed": 0, "skipped": 0}, 3.0))
    between = run.told(0)
    assert between["over"] and between["page"] == ""  # the report is being written
    folder = pages_of(made.store.root, made.log.id) / "made" / "p"
    folder.mkdir(parents=True)
    (folder / "index.html").write_bytes(b"<p>the page</p>")
    made.log.reported("made/p", ClaimCounts(1, 0, 0))
    assert run.told(0)["page"] == "report/made/p/index.html"


def test_a_run_whose_process_is_gone_has_died(made, monkeypatch):
    run = LiveRun(made.store, made.log.id)
    assert run.told(0)["run"] == "running"
    monkeypatch.setattr("wmlab.runtime.run_list.is_alive", lambda pid, mark: False)
    assert run.told(0)["run"] == "died"


def test_a_browser_that_goes_away_is_not_noticed_and_a_run_writes_the_same(served, made, capfd):
    made.start(0)
    before = {path.name: path.read_bytes() for path in made.log.path.parent.iterdir() if path.is_file()}
    port = served.server_address[1]
    for request in (b"GET /", f"GET /{served.token}/ HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()):
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # ends with a reset
            connection.sendall(request)
    answer, content = ask(served, f"/{served.token}/state")
    assert answer.status == 200 and json.loads(content)["counts"] == {"running": 1, "waiting": 3}
    assert {path.name: path.read_bytes() for path in made.log.path.parent.iterdir() if path.is_file()} == before
    assert capfd.readouterr().err == ""
