"""Several workers of one service: what they count together, and how the service stops."""

import asyncio
import json
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra server is not installed")
httpx = pytest.importorskip("httpx", reason="the extra server is not installed")

import discreet
from discreet.cli.exit_codes import INTERRUPTED, TERMINATED, WRONG_USE
from discreet.service.asking.tokens import tokens_beside
from discreet.service.http import serving
from discreet.service.http.metrics import AccessLog, RequestCounts, kept_counts
from discreet.service.http.serving import WorkerSettings
from discreet.service.queue.reader import file_digest

from .answer_times import answering
from .asking.test_connect import TEXT, write_files
from .http.test_http_client import LATER
from .killing import wait_for
from .running import STOPPED, Running, below


def test_workers_count_together(tmp_path: Path) -> None:
    workers = [RequestCounts(tmp_path / "counts") for _ in range(2)]

    def count(i: int) -> None:
        workers[i % 2].add("requests", f"GET /{i % 3} 200")
        assert workers[i % 2].write()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(count, range(60)))
    for worker in workers:
        assert worker.read("requests") == {f"GET /{i} 200": 20 for i in range(3)}
    workers[0].begin()
    assert workers[1].read("requests") == {}


def test_what_is_added_is_read_here_at_once_and_elsewhere_when_it_is_written(
    tmp_path: Path,
) -> None:
    here, other = (RequestCounts(tmp_path / "counts") for _ in range(2))
    for label in "aab":
        here.add("requests", label)
    assert other.read("requests") == {}
    assert here.write()
    assert other.read("requests") == {"a": 2, "b": 1}
    here.add("requests", "a")
    assert here.read("requests") == {"a": 3, "b": 1}


def test_requests_are_written_for_other_workers_though_no_other_one_comes(tmp_path: Path) -> None:
    here, other = (RequestCounts(tmp_path / "counts") for _ in range(2))
    scope = {"type": "http", "method": "GET"}

    async def request_and_wait() -> None:
        await AccessLog(_app, here)(scope, _ignore, _ignore)
        for _ in range(100):
            if other.read("requests"):
                return
            await asyncio.sleep(0.05)

    asyncio.run(request_and_wait())
    assert other.read("requests") == {"GET unknown 200": 1}


def test_requests_one_after_the_other_are_written_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, other = (RequestCounts(tmp_path / "counts") for _ in range(2))
    writes: list[bool] = []
    write = RequestCounts.write

    def note_and_write(self: RequestCounts) -> bool:
        writes.append(write(self))
        return writes[-1]

    monkeypatch.setattr(RequestCounts, "write", note_and_write)
    monkeypatch.setattr("discreet.service.http.metrics._LATEST", 0.3)

    async def request_often_and_wait() -> None:
        log = AccessLog(_app, here)
        for _ in range(5):
            await log({"type": "http", "method": "GET"}, _ignore, _ignore)
        await asyncio.sleep(0.8)

    asyncio.run(request_often_and_wait())
    assert writes == [True]
    assert other.read("requests") == {"GET unknown 200": 5}


async def _app(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200})


async def _ignore(*_: Any) -> Any:
    pass


def test_counts_are_readable_for_their_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "discreet.toml"
    counts = kept_counts(path)
    counts.add("requests", "a")
    assert counts.write()
    found = list(tmp_path.glob("discreet.counts*"))
    assert found
    assert {stat.S_IMODE(one.stat().st_mode) for one in found} == {0o600}


@pytest.mark.parametrize("content", [b"x" * 5000, b"SQLite format 3\0" + b"\xff" * 5000])
def test_counts_that_cannot_be_read_go_on_in_memory_and_begin_anew(
    tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "counts").write_bytes(content)
    counts = RequestCounts(tmp_path / "counts")
    counts.add("requests", "a")
    assert not counts.write()
    assert counts.read("requests") == {"a": 1}
    counts.begin()
    assert RequestCounts(tmp_path / "counts").read("requests") == {}
    assert counts.read("requests") == {"a": 1}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2] / "src"))
    write_files()
    Path("discreet.toml").write_text(answering(TEXT, "2s"))
    return tmp_path


def asked(running: Running, request: str) -> Callable[[], Any]:
    """Return what asks a question of a service."""
    token, _ = tokens_beside(Path("discreet.toml")).create("analyst", "ann", LATER)
    headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": request}
    sent = {"question": "typical-age"}
    return lambda: httpx.post(f"{running.url}/v1/answers", json=sent, headers=headers, timeout=60)


@pytest.mark.parametrize("workers", ["1", pytest.param("2", marks=pytest.mark.proof)])
def test_a_service_that_is_stopped_answers_what_was_begun(folder: Path, workers: str) -> None:
    running = Running(folder, "--workers", workers, "--readers", "1")
    with running, ThreadPoolExecutor(1) as pool:
        reply = pool.submit(asked(running, "begun"))
        # Then the answer is ready, and waits for its time.
        wait_for(lambda: "/v1/answers" in running.log.read_text())
        assert running.stop() in STOPPED
        assert reply.result(120).status_code == 200
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{running.url}/healthz")
    told = discreet.connect(analyst="ann").releases()
    assert [(one.request, one.is_answered) for one in told] == [("begun", True)]
    lines = running.log.read_text().splitlines()
    logged = [json.loads(line)["access"] for line in lines if line.startswith("{")]
    assert {"POST /v1/answers 200"} <= {"{method} {path} {status}".format(**one) for one in logged}


@pytest.mark.parametrize("is_alone", [True, False])
def test_one_worker_counts_in_its_memory_and_several_in_a_file(
    is_alone: bool, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path("discreet.toml").absolute()
    told = WorkerSettings(
        str(path), file_digest(path), ("here",), "none", 1, None if is_alone else 1
    )
    monkeypatch.setenv("DISCREET_SERVED", json.dumps(asdict(told)))
    for name in ("collect_no_more", "_log", "end_with"):  # they are for the life of a process
        monkeypatch.setattr(serving, name, lambda *_: None)
    app: Any = serving.make_worker_app()
    app.app.counts.add("requests", "all")
    assert app.app.counts.read("requests") == {"all": 1}
    assert Path("discreet.counts").exists() is not is_alone


@pytest.mark.proof
def test_several_workers_on_one_ledger(folder: Path) -> None:
    with Running(folder, "--workers", "2", "--readers", "1") as running:
        ask = asked(running, "same")
        with ThreadPoolExecutor(8) as pool:
            replies = [one.result(120) for one in [pool.submit(ask) for _ in range(8)]]
        assert {reply.status_code for reply in replies} == {200}
        assert len({reply.json()["value"] for reply in replies}) == 1
        assert sum(reply.headers["idempotent-replayed"] == "?0" for reply in replies) == 1
        assert {len(reply.content) for reply in replies} == {65536}
        dispatchers = [pid for pid in running.workers() if _dispatches(pid)]
        assert len(dispatchers) == 1  # for both
        readers = [pid for pid in below(dispatchers[0]) if os.getpgid(pid) == pid]
        assert len(readers) == 2  # one, and a spare
    wait_for(lambda: not any(map(_is_there, (*dispatchers, *readers))))
    token = tokens_beside(Path("discreet.toml")).create("owner", None, LATER)[0]
    assert token
    counted = kept_counts(Path("discreet.toml")).read("requests")
    assert counted["POST /v1/answers 200"] == 8


def _is_there(process: int) -> bool:
    return Path(f"/proc/{process}").exists()


def _dispatches(process: int) -> bool:
    """Return whether a process is the dispatcher of a service in this folder."""
    try:
        said = Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return False
    return b"discreet.service.queue.dispatcher_process" in said and os.fsencode(Path.cwd()) in said


def test_nobody_can_listen_where_somebody_does(folder: Path) -> None:
    """In a process of its own: uvicorn closes handlers of logs, and absl's one what pytest writes to."""
    command = [sys.executable, "-m", "discreet", "serve", "discreet.toml", "--listen"]
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        done = subprocess.run(
            [*command, address],
            cwd=folder,
            check=False,
            capture_output=True,
            text=True,
            timeout=120,
        )
    assert done.returncode == WRONG_USE
    assert f"nobody can listen at {address}" in done.stderr


@pytest.mark.parametrize("workers", ["1", pytest.param("2", marks=pytest.mark.proof)])
def test_a_service_ends_by_the_signal_that_it_was_sent(folder: Path, workers: str) -> None:
    for sent, expected in ((signal.SIGINT, INTERRUPTED), (signal.SIGTERM, TERMINATED)):
        running = Running(folder, "--workers", workers, "--readers", "1").start().wait()
        assert running.stop(sent) == expected
        assert "Traceback" not in running.log.read_text()
